// Named verdicts of a comparison: wall, CPU time, tail and peak RSS, side by side, never averaged.
#pragma once

#include "case_data.h"

#include "assay/base/json.h"
#include "assay/stats/pairs.h"
#include "assay/stats/tail.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::verdict {

enum class Kind { wall, cpu, tail, rss };
inline constexpr std::array<Kind, 4> kKinds = {Kind::wall, Kind::cpu, Kind::tail, Kind::rss};
std::string_view kind_name(Kind kind);
// The declared cap of a ratio gate; nullopt for tail or when the kind is not gated.
std::optional<double> cap_of(const Gates& gates, Kind kind);
bool is_gated(const Gates& gates, Kind kind);
bool any_gate(const Gates& gates);

inline constexpr const char* kSignedRankMethod = "clustered-signed-rank-v1";
inline constexpr const char* kBootstrapMethod = "hierarchical-percentile-v1";
inline constexpr const char* kTailMethod = "batch-mean-over-median-v1";

struct VerdictValue {
  std::string status = "NOT_GATED";
  std::string method = kSignedRankMethod;
  double level = 0.95;
  int n_pairs = 0, n_batches = 0;
  std::optional<double> estimate, lower, upper, cap, p_t, p_flip, p_holm, ruled_out_above_percent;
  std::string finding;  // "" = null
  std::set<std::string> reasons;
  Json prediction = nullptr;

  // Not printed.
  bool gated = false;
  double p_family = 1;                    // what Holm sees
  std::string subset_status;              // the status before blockers made it INCOMPLETE
  std::optional<stats::TailResult> tail;  // kind tail only
  std::optional<double> log_lower, log_upper;
};

// The figures of one kind: complete pairs whose two figures are present and positive.
struct Figures {
  std::vector<double> reference, candidate;
  std::vector<int> batch;
  std::vector<bool> candidate_first;
  int missing = 0, zero = 0;
  std::set<std::string> codes;  // why figures are missing, as the samples say
};
Figures figures_of(const CaseData& data, Kind kind);

// Everything but Holm and blockers.
VerdictValue judge(const Campaign& campaign, const CaseData& data, Kind kind);
// Holm over the cases of one kind; a FAIL that does not survive is INCONCLUSIVE.
void apply_holm(std::vector<VerdictValue*>& family, double alpha);
// Rejected runs, missing scope, differing outputs: a gated verdict becomes INCOMPLETE.
void apply_blockers(const Campaign& campaign, const CaseData& data, VerdictValue& verdict);

Json verdict_json(const VerdictValue& verdict);

// [case][kind], Holm and blockers applied.
using CaseVerdicts = std::array<VerdictValue, kKinds.size()>;
std::vector<CaseVerdicts> judge_all(const Campaign& campaign);

// The sentence pieces shared with `assay analyze`: finding, interval and their reasons at ratio 1.
struct Finding {
  std::optional<double> estimate, lower, upper;  // log scale
  std::string finding;                           // up, down, no_difference or ""
  std::optional<double> ruled_out_above_percent;
  std::set<std::string> reasons;
};
Finding find_difference(const stats::Pairs& pairs, double level);
// One side ran first more than two pairs more often, which no seeded plan does.
bool order_unbalanced(const std::vector<bool>& candidate_first);

// FAIL, INCOMPLETE, INCONCLUSIVE, PASS, NOT_GATED: smaller is worse.
int badness_rank(std::string_view status);

}  // namespace assay::verdict
