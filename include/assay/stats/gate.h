// From two tests to one word. docs/reference/statistics.md holds the rule and its error rates.
#pragma once

#include "assay/stats/pairs.h"
#include "assay/stats/signed_rank.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::stats {

enum class Verdict { pass, fail, inconclusive, incomplete };
std::string_view verdict_name(Verdict verdict);  // "PASS", "FAIL", "INCONCLUSIVE", "INCOMPLETE"

inline constexpr int kMinGateBatches = 8;
inline constexpr double kOneSidedAlpha = 0.025;
// Pocock's nominal two-sided p for looks at 8, 12, 16 and 20 batches.
inline constexpr double kPocockNominalP = 0.0182;
inline constexpr int kAdaptiveLooks[] = {8, 12, 16, 20};

struct GateOptions {
  double cap = 1.0;  // ratio
  Direction direction = Direction::up;
  double one_sided_alpha = kOneSidedAlpha;  // kPocockNominalP / 2 at adaptive looks
};
struct GateResult {
  Verdict verdict = Verdict::inconclusive;
  CapTest test;                      // at log(cap)
  std::vector<std::string> reasons;  // too_few_batches, tests_disagree, one_batch_decides
  double p_fail = 1;                 // max(t p, flip p) in the failing direction: Holm's p
};
// FAIL needs both tests to reject beyond the cap, PASS both the other way, else INCONCLUSIVE.
GateResult judge_gate(const Pairs& pairs, const GateOptions& options);

// Step-down adjusted p-values, in input order.
std::vector<double> holm(const std::vector<double>& p);
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

// Whether a FAIL is possible at all: 2^-B against alpha / family.
bool fail_possible(int batches, int family, double one_sided_alpha);

// Geometric mean of a category: t on z_b plus the flip.
struct GeomeanCase {
  Pairs pairs;  // batch labels refer to the shared batches 0..batches-1 and may miss some
  double weight = 1;
};
struct GeomeanResult {
  double estimate = 0, lower = 0, upper = 0;  // ratios
  int batches_used = 0;
  int batches_dropped = 0;  // reason incomplete_batch
  GateResult gate;          // at cap
};
// `batches` is the planned number of batches; a batch in which some case has no pair is dropped.
std::optional<GeomeanResult> geometric_mean(const std::vector<GeomeanCase>& cases, int batches,
                                            double level, const GateOptions& gate);

}  // namespace assay::stats
