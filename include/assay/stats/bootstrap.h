// hierarchical-percentile-v1: the paired evaluator's original interval, to the letter.
//
// Estimate: median over all pairs of candidate/reference. One generator per category group; per
// draw B batch ids with replacement, once for all cases, then per case the pairs inside each chosen
// batch; type-7 percentiles. Known weakness: it cannot cover more than 1 - 2^(1-B). Pure, thread
// safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::stats {

struct BootstrapCase {
  std::string name;  // cases are processed in sorted name order
  std::vector<std::vector<double>>
      batches;  // candidate/reference ratios > 0 per batch, same B in all cases
};
enum class BootstrapGenerator { python_mt19937, splitmix64 };
struct BootstrapOptions {
  std::int64_t draws = 2000;
  std::uint64_t seed = 0;
  double level = 0.95;
  BootstrapGenerator generator = BootstrapGenerator::python_mt19937;
  std::function<void(std::int64_t)> drawn = {};  // called with the number of draws done
};
struct BootstrapInterval {
  std::string name;
  double estimate = 0;  // ratio
  double lower = 0;
  double upper = 0;
};
struct BootstrapResult {
  std::vector<BootstrapInterval> cases;  // in sorted name order
  BootstrapInterval geomean;             // percentiles of exp(mean(log)) over cases
};
// Rank counting: ratios sorted once, ranks counted per draw, a walk to the middle. A draw of n
// pairs costs O(n).
BootstrapResult hierarchical_bootstrap(std::vector<BootstrapCase> cases,
                                       const BootstrapOptions& options);

// The original's execution order: per batch a shuffled case list, per case and phase a shuffled
// pair of sides; candidate first in the unshuffled list. Used to replay schema-1 plans.
struct ReplayedPair {
  int batch;
  std::string case_name;
  bool warmup;
  int pair;
  bool candidate_first;
};
std::vector<ReplayedPair> replay_evaluator_order(const std::vector<std::string>& cases, int batches,
                                                 int warmups, int pairs, std::uint64_t seed);

}  // namespace assay::stats
