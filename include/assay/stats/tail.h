// The tail gate: the part of a change of the mean that a median-type gate cannot see.
#pragma once

#include "assay/stats/gate.h"

#include <string>
#include <vector>

namespace assay::stats {

// Durations (> 0) of the complete pairs, in plan order; same length each; batch dense from 0.
struct TailData {
  std::vector<double> reference;
  std::vector<double> candidate;
  std::vector<int> batch;
  int batches = 0;
};
struct TailResult {
  Verdict verdict = Verdict::inconclusive;
  std::vector<std::string> reasons;  // tail_needs_more_pairs, tail_not_resolvable, too_few_batches
  double p_fail = 1;                 // mid-p, one-sided
  double excess = 0;      // exp(mean z) - 1: growth of mean over typical beyond the reference's
  double slow_share = 0;  // s: share of all runs above 1.1x their own side's median
  int candidate_slow = 0, reference_slow = 0;  // runs above 1.1x own median
  double pass_statistic = 0;                   // Z / sqrt(deff)
  double pass_limit = 0;                       // -t(B-1, .95)
};
// Needs >= 4 complete pairs in every batch and B >= 6, else INCONCLUSIVE with the reason.
TailResult judge_tail(const TailData& data);
// The rule's power at a layout, from the published simulation: P(find a 5 % tail of doubled runs)
// and P(find 1 %). Interpolated over pairs at 6 pairs per batch: logit of the power linear in
// log(pairs). 0 below 24 pairs, where the rule gives no FAIL.
struct TailPower {
  double five_percent_doubled;
  double one_percent_tripled;
};
TailPower tail_power(int pairs);

}  // namespace assay::stats
