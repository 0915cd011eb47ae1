// The noise grid behind the published error rates: seeded simulations of every rule.
//
// Pure and deterministic: each replication's generator is seeded by (seed, experiment, cell,
// replication) and results are counts, so the number of threads changes nothing but the time. All
// results are shares of replications in [0, 1]; the sampling error of a share p is
// sqrt(p (1 - p) / replications).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::stats {

struct SimulationOptions {
  std::uint64_t seed = 20261130;
  int replications = 1000;  // per cell, >= 1
  int threads = 1;          // >= 1
  // Asked every few replications, from all threads; once true the rest is left out and the result
  // is meaningless. Empty = never.
  std::function<bool()> stop = {};
};

struct SimulatedLayout {
  int batches = 10;
  int pairs = 6;  // per batch
};

// Noise of the log times. Within-pair log-ratio sd 1 % unless said.
enum class Noise {
  lognormal,
  outliers,      // 5 % of single runs +20 %
  bimodal,       // 30 % of runs +3 %
  t3,            // t with 3 degrees of freedom scaled to the same sd
  shared_drift,  // AR(1) drift common to the pair, sd 3 %, rho 0.9
  order_effect,  // the second run of a pair +0.3 %, order by coin
  ratio_drift,   // AR(1) drift of the ratio, sd 1 %, rho 0.9: defeats every interval, kept apart
  wide,          // lognormal, ratio sd 10 %
  bimodal_wide,  // 30 % of runs +10 %, right at the tail gate's threshold
};
std::string_view noise_name(Noise noise);  // stable snake_case, as above

inline constexpr double kGridBatchSds[] = {0, 0.002, 0.005, 0.01, 0.02};
inline constexpr Noise kGridNoises[] = {Noise::lognormal, Noise::outliers,     Noise::bimodal,
                                        Noise::t3,        Noise::shared_drift, Noise::order_effect};

// ---- Coverage and power: the truth sits exactly at the cap.
struct CoveragePlan {
  SimulatedLayout layout;
  double effect = 0.0052;             // true slowdown for `power`, as a ratio minus 1
  int bootstrap_draws = 500;          // 0: method 1 is not simulated
  int bootstrap_replications = 1000;  // at most this many of the replications run method 1
  bool ratio_drift = false;           // the five ratio_drift cells instead of the grid's 30
};
struct CoverageCell {
  Noise noise = Noise::lognormal;
  double batch_sd = 0;
  double coverage = 0;  // clustered-signed-rank-v1: |T(truth)| <= t(B-1, .975)
  double error_up = 0;  // its one-sided errors, nominal 2.5 % each
  double error_down = 0;
  double both_agree_coverage = 0;  // the gate says neither FAIL nor PASS at the truth
  double false_fail = 0;           // the gate's one-sided errors
  double false_pass = 0;
  double power = 0;  // the gate FAILs a candidate that is `effect` beyond the cap
  std::optional<double> bootstrap_coverage;  // hierarchical-percentile-v1, 95 %
};
std::vector<CoverageCell> simulate_coverage(const SimulationOptions& options,
                                            const CoveragePlan& plan);

// ---- A suite of 11 cases with 5 % outliers, every case exactly at its cap (and 3 % below it).
struct SuiteCell {
  double batch_sd = 0;
  bool shared_batches = false;   // one batch effect for all cases instead of one each
  double any_case_fail_raw = 0;  // some case FAILs, no correction
  double any_case_fail = 0;      // some case FAILs after Holm at one-sided 2.5 %
  double mean_fail = 0;          // the geometric mean FAILs
  double mean_pass = 0;          // the geometric mean PASSes (a false PASS at the cap)
  double any_tail_fail = 0;      // some tail FAILs after Holm at 5 %
  double any_fail = 0;           // the whole decision: case, mean or tail
  double suite_pass_below = 0;   // every case and the mean PASS when all are 3 % under the cap
};
std::vector<SuiteCell> simulate_suite(const SimulationOptions& options,
                                      const SimulatedLayout& layout);

// ---- Adaptive stopping at 8/12/16/20 batches of 6, nominal two-sided p 0.0182 each.
struct AdaptiveCell {
  Noise noise = Noise::lognormal;
  double batch_sd = 0;
  double effect = 0;      // true ratio minus 1
  double fail = 0;        // stopped as slower
  double pass = 0;        // stopped as faster
  double mean_pairs = 0;  // of at most max_pairs
  int max_pairs = 0;
};
// effect 0 (fail + pass are false alarms) and +1 %, for lognormal noise and outliers.
std::vector<AdaptiveCell> simulate_adaptive(const SimulationOptions& options);

// ---- Tail gate.
enum class TailShape {
  none,
  doubled_5,       // 5 % of runs x 2
  slow_10,         // 10 % of runs +20 %
  tripled_1,       // 1 % of runs x 3
  burst_doubled,   // 5 % x 2, its share drawn per batch and common to both sides
  set_up_doubled,  // 5 % x 2, its share drawn per batch and side
};
std::string_view tail_shape_name(TailShape shape);
struct TailCell {
  SimulatedLayout layout;
  Noise noise = Noise::lognormal;
  TailShape candidate = TailShape::none;
  TailShape reference = TailShape::none;
  double batch_sd = 0;
  double fail = 0;  // a false alarm where both shapes are equal
  double pass = 0;
};
// Equal tails on both sides: 6 noises x 6 shapes x batch sd 0, 0.5, 1, 2 %, per layout (>= 4
// pairs).
std::vector<TailCell> simulate_tail_alarms(const SimulationOptions& options,
                                           const std::vector<SimulatedLayout>& layouts);
// The cells that are given, simulated anew under the options' seed and replications.
std::vector<TailCell> repeat_tail_alarms(const SimulationOptions& options,
                                         std::vector<TailCell> cells);
// The candidate alone has the tail (5 % x 2, 10 % +20 %, 1 % x 3), lognormal noise, batch sd 0.
std::vector<TailCell> simulate_tail_power(const SimulationOptions& options,
                                          const std::vector<SimulatedLayout>& layouts);

// ---- Decision probabilities: INCONCLUSIVE runs of 10 x 6 really extended to their B80.
struct PredictionCell {
  Noise noise = Noise::lognormal;
  double batch_sd = 0;
  int inconclusive = 0;        // replications that ended INCONCLUSIVE at 10 batches
  int beyond_limit = 0;        // of these, B80 above 640 batches: not extended
  double decided = 0;          // share of the extended ones that the t test decides at B80
  double wrong = 0;            // share decided against the truth
  double predicted_at_40 = 0;  // mean predicted probability of a decision at 40 batches
  double decided_at_40 = 0;    // the share that really decided there
};
// True distance to the cap uniform in +-3 standard errors of the estimate.
std::vector<PredictionCell> simulate_prediction(const SimulationOptions& options);

}  // namespace assay::stats
