#include "assay/stats/calibration.h"

#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/pairs.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/tail.h"

#include <cmath>
#include <utility>

namespace assay::stats {
namespace {

constexpr double kAssumptionP = 0.01;

// Where each batch's pairs lie in the pool's arrays (pairs of a batch are adjacent in plan order).
std::vector<std::vector<std::size_t>> members_of(const Pairs& pairs) {
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(pairs.batches));
  for (std::size_t i = 0; i < pairs.size(); ++i)
    members[static_cast<std::size_t>(pairs.batch[i])].push_back(i);
  return members;
}

enum class Coin { per_pair, per_batch };

// Re-draws the coins inside measured pairs: the label is the only random thing in an A/A run, so
// this gives the design's false-alarm rate for these times, whatever the drift of the machine.
int count_relabelled(const Pairs& pairs, std::uint64_t seed, Coin coin) {
  const auto members = members_of(pairs);
  const double limit = t_quantile(0.975, kCampaignBatches - 1);
  int alarms = 0;
  std::vector<std::size_t> ids(members.size());
  for (int campaign = 0; campaign < kRelabelCampaigns; ++campaign) {
    // One generator per campaign, keyed by its number: the result does not depend on the order of
    // work.
    Xoshiro256 random(SplitMix64(seed ^ (static_cast<std::uint64_t>(campaign) << 20)).next());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = i;
    Pairs drawn;
    drawn.batches = kCampaignBatches;
    for (int b = 0; b < kCampaignBatches; ++b) {
      const auto at = static_cast<std::size_t>(b);
      std::swap(ids[at], ids[at + static_cast<std::size_t>(random.below(ids.size() - at))]);
      bool flip = random.below(2) == 1;
      for (const std::size_t i : members[ids[at]]) {
        if (coin == Coin::per_pair)
          flip = random.below(2) == 1;
        drawn.x.push_back(flip ? -pairs.x[i] : pairs.x[i]);
        drawn.batch.push_back(b);
      }
    }
    alarms += std::fabs(batch_t(signed_rank_sums(drawn, 0.0))) > limit ? 1 : 0;
  }
  return alarms;
}

std::vector<double> batch_values(const Pairs& pairs) {
  std::vector<double> values;
  for (const auto& batch : members_of(pairs)) {
    std::vector<double> x;
    for (const std::size_t i : batch)
      x.push_back(pairs.x[i]);
    values.push_back(hodges_lehmann(std::move(x)));
  }
  return values;
}

void check_assumptions(const CalibrationPool& pool, const Pairs& pairs, std::uint64_t seed,
                       CalibrationResult& result) {
  result.label_t = batch_t(signed_rank_sums(pairs, 0.0));
  result.label_limit = t_quantile(0.995, pairs.batches - 1);
  if (std::fabs(result.label_t) > result.label_limit)
    result.reasons.emplace_back("label_effect");
  result.drift = lag1(batch_values(pairs), seed);
  if (result.drift && result.drift->p <= kAssumptionP)
    result.reasons.emplace_back("ratio_drift");
  result.tail_p_up = judge_tail({pool.a, pool.b, pool.batch, pool.batches}).p_fail;
  result.tail_p_down = judge_tail({pool.b, pool.a, pool.batch, pool.batches}).p_fail;
  if (result.tail_p_up <= kAssumptionP || result.tail_p_down <= kAssumptionP)
    result.reasons.emplace_back("tail");
  result.spread = variance(pairs);
  result.order = order_effect(pairs, pool.b_first);
}

CalibrationState decide(CalibrationResult& result) {
  if (result.direct.lower > kAlarmBound)
    result.reasons.emplace_back("alarms_above_bound");
  if (!result.reasons.empty())
    return CalibrationState::failed;
  if (result.direct.upper <= kAlarmBound)
    return CalibrationState::direct;
  if (result.relabel_pairs.upper <= kAlarmBound && result.relabel_batches.upper <= kAlarmBound) {
    return result.batches >= kFullPoolBatches ? CalibrationState::by_design
                                              : CalibrationState::by_design_provisional;
  }
  return CalibrationState::incomplete;
}

}  // namespace

CampaignCount count_campaigns(const Pairs& pairs) {
  const auto members = members_of(pairs);
  CampaignCount count;
  for (int first = 0; first + kCampaignBatches <= pairs.batches; first += kCampaignBatches) {
    Pairs campaign;
    campaign.batches = kCampaignBatches;
    for (int b = 0; b < kCampaignBatches; ++b) {
      for (const std::size_t i :
           members[static_cast<std::size_t>(first) + static_cast<std::size_t>(b)]) {
        campaign.x.push_back(pairs.x[i]);
        campaign.batch.push_back(b);
      }
    }
    const CapTest test = test_at(campaign, 0.0);
    ++count.campaigns;
    count.up += test.p_t_up <= kOneSidedAlpha && test.p_flip_up <= kOneSidedAlpha ? 1 : 0;
    count.down += test.p_t_down <= kOneSidedAlpha && test.p_flip_down <= kOneSidedAlpha ? 1 : 0;
  }
  return count;
}

AlarmRate alarm_rate(int alarms, int campaigns) {
  ASSAY_CHECK(alarms >= 0 && alarms <= campaigns, "alarms are counted among campaigns");
  AlarmRate rate;
  rate.alarms = alarms;
  rate.campaigns = campaigns;
  if (alarms < campaigns)
    rate.upper = beta_quantile(0.95, alarms + 1, campaigns - alarms);
  if (alarms > 0)
    rate.lower = beta_quantile(0.05, alarms, campaigns - alarms + 1);
  return rate;
}

std::string_view calibration_state_name(CalibrationState state) {
  switch (state) {
    case CalibrationState::direct:
      return "DIRECT";
    case CalibrationState::by_design:
      return "BY DESIGN";
    case CalibrationState::by_design_provisional:
      return "BY DESIGN (provisional)";
    case CalibrationState::failed:
      return "FAILED";
    case CalibrationState::incomplete:
      return "INCOMPLETE";
  }
  return "INCOMPLETE";
}

CalibrationResult calibrate(const CalibrationPool& pool, std::uint64_t seed) {
  CalibrationResult result;
  result.batches = pool.batches;
  result.pairs = static_cast<int>(pool.a.size());
  if (pool.batches < kMinPoolBatches) {
    result.reasons.emplace_back("pool_too_small");
    return result;
  }
  const Pairs pairs = make_pairs(pool.a, pool.b, pool.batch);
  const CampaignCount direct = count_campaigns(pairs);
  result.direct = alarm_rate(direct.up + direct.down, direct.campaigns);
  result.direct_up = direct.up;
  result.relabel_pairs =
      alarm_rate(count_relabelled(pairs, seed, Coin::per_pair), kRelabelCampaigns);
  result.relabel_batches =
      alarm_rate(count_relabelled(pairs, seed + 1, Coin::per_batch), kRelabelCampaigns);
  check_assumptions(pool, pairs, seed, result);
  // Width of a 10 x 6 campaign from the pool's own interval: both shrink with the square root of B.
  const SignedRankInterval whole = signed_rank_interval(pairs, 0.95);
  const double width = (whole.upper - whole.lower) *
                       std::sqrt(static_cast<double>(pool.batches) / kCampaignBatches) *
                       t_quantile(0.975, kCampaignBatches - 1) /
                       t_quantile(0.975, pool.batches - 1);
  // 0.695 x interval width is the change found in 80 % of campaigns (docs/reference/statistics.md).
  result.detectable = 0.695 * width;
  result.state = decide(result);
  return result;
}

int batches_still_needed(const CalibrationResult& result) {
  if (result.batches < kMinPoolBatches)
    return kMinPoolBatches - result.batches;
  if (result.batches < kFullPoolBatches)
    return kFullPoolBatches - result.batches;
  if (result.state != CalibrationState::incomplete && result.state != CalibrationState::by_design)
    return 0;
  // Campaigns at which the alarms seen so far, growing in proportion, would be certified.
  for (int campaigns = result.direct.campaigns + 1; campaigns <= 100000; ++campaigns) {
    const int alarms = static_cast<int>(std::ceil(result.direct.rate() * campaigns));
    if (alarms < campaigns && alarm_rate(alarms, campaigns).upper <= kAlarmBound)
      return campaigns * kCampaignBatches - result.batches;
  }
  return 0;
}

}  // namespace assay::stats
