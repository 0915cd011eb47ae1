// What this host's own false-alarm rate is, from an A/A pool of short batches.
//
// The rule is docs/reference/statistics.md, "Calibration". Pure: the pool and the seed decide every
// bit.
#pragma once

#include "assay/stats/diagnostics.h"
#include "assay/stats/pairs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::stats {

inline constexpr int kCampaignBatches = 10;
inline constexpr int kMinPoolBatches = 20;    // below: INCOMPLETE
inline constexpr int kFullPoolBatches = 100;  // BY DESIGN without "provisional"
inline constexpr double kAlarmBound = 0.08;   // the certified false-alarm rate
inline constexpr int kRelabelCampaigns = 4000;

// Durations > 0 of two physical copies of one program, in plan order; batches dense from 0, in time
// order.
struct CalibrationPool {
  std::vector<double> a, b;
  std::vector<int> batch;
  std::vector<bool> b_first;
  int batches = 0;
};

// Campaigns of kCampaignBatches batches in time order, none sharing a batch with another (batches
// left over at the end are not used), and in how many of them both tests say that the second side
// is slower (`up`) or faster (`down`). Batches dense from 0.
struct CampaignCount {
  int campaigns = 0, up = 0, down = 0;
};
CampaignCount count_campaigns(const Pairs& pairs);

// k alarms in n trials, with exact one-sided 95 % binomial limits.
struct AlarmRate {
  int alarms = 0, campaigns = 0;
  double upper = 1, lower = 0;
  double rate() const { return campaigns == 0 ? 0 : static_cast<double>(alarms) / campaigns; }
};
AlarmRate alarm_rate(int alarms, int campaigns);

enum class CalibrationState { direct, by_design, by_design_provisional, failed, incomplete };
std::string_view calibration_state_name(CalibrationState state);

struct CalibrationResult {
  CalibrationState state = CalibrationState::incomplete;
  std::vector<std::string>
      reasons;  // pool_too_small, label_effect, ratio_drift, tail, alarms_above_bound
  int batches = 0, pairs = 0;
  AlarmRate direct;         // disjoint campaigns of 10 batches, both tests agreeing
  int direct_up = 0;        // alarms that said "slower": symmetric in sign when nothing is wrong
  AlarmRate relabel_pairs;  // coin per pair, the t test alone (the looser rule)
  AlarmRate relabel_batches;
  double label_t = 0, label_limit = 0;
  std::optional<Lag1> drift;  // of batch Hodges-Lehmann values, which lag1 clips
  double tail_p_up = 1, tail_p_down = 1;
  Variance spread;
  std::optional<OrderEffect> order;
  // 80 % power at 10 x 6: the smallest change (log) that such a campaign finds here.
  double detectable = 0;
};
CalibrationResult calibrate(const CalibrationPool& pool, std::uint64_t seed);

// Batches still needed for the next state; 0 when nothing more would help.
int batches_still_needed(const CalibrationResult& result);

}  // namespace assay::stats
