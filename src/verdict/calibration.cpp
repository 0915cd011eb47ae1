#include "assay/verdict/calibration.h"

#include "host_state.h"

#include "assay/stats/calibration.h"
#include "assay/stats/math.h"
#include "assay/stats/pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace assay::verdict {
namespace {

enum class Metric { wall, cpu };

std::optional<double> value_of(const Sample& sample, Metric metric) {
  if (metric == Metric::wall)
    return sample.elapsed_ns && *sample.elapsed_ns > 0
               ? std::optional<double>(static_cast<double>(*sample.elapsed_ns))
               : std::nullopt;
  if (!sample.user_ns || !sample.system_ns || *sample.user_ns + *sample.system_ns <= 0)
    return std::nullopt;
  return static_cast<double>(*sample.user_ns + *sample.system_ns);
}

struct Pool {
  stats::CalibrationPool data;
  int below_resolution = 0;  // pairs with a zero or missing figure
  int rejected = 0;          // pairs of which a run failed, printed something else, or is missing
};

// The output that a run must have printed, where the probe runs agreed on one.
Expectation expectation_of_run(const Json& policy, const Sample& sample) {
  const bool injected = sample.case_name == kInjectedCase && sample.side == Side::candidate;
  const auto digest = policy.find(injected ? "injected_oracle_sha256" : "oracle_sha256");
  Expectation expectation;
  if (digest != policy.end() && digest->is_string())
    expectation.stdout_sha256 = digest->get<std::string>();
  return expectation;
}

// Complete accepted pairs of one case, batches renumbered without gaps.
Pool pool_of(const CalibrationInputs& inputs, const std::string& case_name, Metric metric) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<const Sample*, const Sample*>> pairs;
  for (const Sample& s : inputs.samples) {
    if (s.case_name != case_name || s.phase != Phase::measurement ||
        !rejection(s, expectation_of_run(inputs.policy, s)).empty())
      continue;
    auto& pair = pairs[{s.batch, s.pair}];
    (s.side == Side::reference ? pair.first : pair.second) = &s;
  }
  Pool pool;
  std::int64_t last_batch = -1;
  for (const auto& [key, pair] : pairs) {
    if (pair.first == nullptr || pair.second == nullptr) {
      ++pool.rejected;
      continue;
    }
    const auto a = value_of(*pair.first, metric);
    const auto b = value_of(*pair.second, metric);
    if (!a || !b) {
      ++pool.below_resolution;
      continue;
    }
    if (key.first != last_batch) {
      last_batch = key.first;
      ++pool.data.batches;
    }
    pool.data.a.push_back(*a);
    pool.data.b.push_back(*b);
    pool.data.batch.push_back(pool.data.batches - 1);
    pool.data.b_first.push_back(pair.second->position == 0);
  }
  return pool;
}

Json rate_json(const stats::AlarmRate& rate) {
  return {{"alarms", rate.alarms},
          {"campaigns", rate.campaigns},
          {"rate", rate.rate()},
          {"upper95", rate.upper},
          {"lower95", rate.lower}};
}

double percent(double log_change) {
  return (stats::exp(log_change) - 1) * 100;
}

Json calibration_json(const Pool& pool, std::uint64_t seed) {
  const stats::CalibrationResult r = stats::calibrate(pool.data, seed);
  Json out = {{"state", stats::calibration_state_name(r.state)},
              {"reasons", r.reasons},
              {"batches", r.batches},
              {"pairs", r.pairs},
              {"pairs_below_resolution", pool.below_resolution},
              {"pairs_rejected", pool.rejected},
              {"batches_still_needed", stats::batches_still_needed(r)}};
  if (r.batches < stats::kMinPoolBatches)
    return out;
  out["direct"] = rate_json(r.direct);
  out["direct"]["slower"] = r.direct_up;
  out["direct"]["faster"] = r.direct.alarms - r.direct_up;
  out["relabelled_pairs"] = rate_json(r.relabel_pairs);
  out["relabelled_batches"] = rate_json(r.relabel_batches);
  out["label_t"] = r.label_t;
  out["label_limit"] = r.label_limit;
  out["drift"] = r.drift ? Json{{"r", r.drift->r}, {"p", r.drift->p}} : Json(nullptr);
  out["tail_p"] = {{"up", r.tail_p_up}, {"down", r.tail_p_down}};
  const bool spread = r.spread.known;
  out["pair_sd_percent"] = spread ? Json(r.spread.pair_sd * 100) : Json(nullptr);
  out["batch_sd_percent"] = spread ? Json(r.spread.batch_sd * 100) : Json(nullptr);
  out["order_effect_percent"] = r.order ? Json(percent(r.order->effect)) : Json(nullptr);
  out["detectable_percent"] = percent(r.detectable);
  return out;
}

// How often campaigns find an injected slow-down.
Json power_json(const Pool& pool, double inject_percent) {
  const stats::CampaignCount count =
      stats::count_campaigns(stats::make_pairs(pool.data.a, pool.data.b, pool.data.batch));
  Json out = {{"inject_percent", inject_percent},
              {"campaigns", count.campaigns},
              {"found", count.up},
              {"wrong_direction", count.down}};
  out["share_found"] =
      count.campaigns > 0 ? Json(static_cast<double>(count.up) / count.campaigns) : Json(nullptr);
  return out;
}

Result<void> refuse_unplanned(const Plan& plan, const std::vector<Sample>& samples) {
  for (const Sample& s : samples) {
    if (s.seq < 0 || static_cast<std::size_t>(s.seq) >= plan.runs.size())
      return fail(ErrorCode::invalid_format, "a sample that the plan does not hold",
                  "samples.jsonl seq " + std::to_string(s.seq));
  }
  return {};
}

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v)
    sum += x;
  return sum / static_cast<double>(v.size());
}

double variance_of(const std::vector<double>& v, double mean) {
  double sum = 0;
  for (const double x : v)
    sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(v.size() - 1);
}

bool welch_alarm(const std::vector<double>& a, const std::vector<double>& b) {
  const double ma = mean_of(a);
  const double mb = mean_of(b);
  const double va = variance_of(a, ma) / static_cast<double>(a.size());
  const double vb = variance_of(b, mb) / static_cast<double>(b.size());
  if (va + vb <= 0)
    return ma < mb || mb < ma;
  const double t = (mb - ma) / std::sqrt(va + vb);
  const double df =
      (va + vb) * (va + vb) /
      (va * va / static_cast<double>(a.size() - 1) + vb * vb / static_cast<double>(b.size() - 1));
  return 2 * (1 - stats::t_cdf(std::fabs(t), std::max(1.0, df))) < 0.05;
}

bool mann_whitney_alarm(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, int>> all;
  for (const double x : a)
    all.emplace_back(x, 0);
  for (const double x : b)
    all.emplace_back(x, 1);
  std::sort(all.begin(), all.end());
  double rank_sum = 0;
  double ties = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t j = i;
    while (j < all.size() && all[j].first <= all[i].first)
      ++j;
    const double rank = static_cast<double>(i + j + 1) / 2;
    const double count = static_cast<double>(j - i);
    ties += count * count * count - count;
    for (; i < j; ++i)
      rank_sum += all[i].second == 1 ? rank : 0;
  }
  const double na = static_cast<double>(a.size());
  const double nb = static_cast<double>(b.size());
  const double n = na + nb;
  const double u = rank_sum - nb * (nb + 1) / 2;
  const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0)
    return false;
  const double z = (std::fabs(u - na * nb / 2) - 0.5) / std::sqrt(variance);
  return 2 * (1 - stats::normal_cdf(z)) < 0.05;
}

}  // namespace

BlocksAlarms blocks_alarms(const std::vector<Sample>& samples, bool cpu_time) {
  std::map<std::int64_t, std::pair<std::vector<double>, std::vector<double>>> batches;
  for (const Sample& s : samples) {
    const auto value = value_of(s, cpu_time ? Metric::cpu : Metric::wall);
    if (s.phase != Phase::measurement || s.status != "ok" || !value)
      continue;
    auto& sides = batches[s.batch];
    (s.side == Side::reference ? sides.first : sides.second).push_back(*value);
  }
  BlocksAlarms alarms;
  for (const auto& [batch, sides] : batches) {
    if (sides.first.size() < 4 || sides.second.size() < 4)
      continue;
    ++alarms.campaigns;
    alarms.welch += welch_alarm(sides.first, sides.second) ? 1 : 0;
    alarms.mann_whitney += mann_whitney_alarm(sides.first, sides.second) ? 1 : 0;
  }
  return alarms;
}

Result<Json> derive_calibration_report(const CalibrationInputs& inputs) {
  ASSAY_TRY_VOID(refuse_unplanned(inputs.plan, inputs.samples));
  const auto seed = static_cast<std::uint64_t>(inputs.plan.options.seed);
  ASSAY_TRY(const auto bounds, parse_host_bounds(inputs.policy, "policy.json"));
  std::set<std::string> limits = host_disturbances(bounds, inputs.host, inputs.samples);
  limits.insert({"other_workload_not_excluded", "ratio_drift_needs_many_batches"});
  Json report = {{"schema", {{"name", "assay.report.calibration"}, {"major", 1}, {"minor", 0}}},
                 {"kind", "calibration"},
                 {"status", inputs.ending.type == "finished" ? "measured" : inputs.ending.type},
                 {"limits", limits}};
  for (const char* key : {"archive_id", "created_utc", "tool_version"})
    report[key] = inputs.header.contains(key) ? inputs.header.at(key) : Json(nullptr);
  report["policy"] = inputs.policy;
  if (inputs.plan.options.blocks_order) {
    report["plan_order"] = "blocks";
    for (const bool cpu : {false, true}) {
      const BlocksAlarms alarms = blocks_alarms(inputs.samples, cpu);
      report["blocks"][cpu ? "cpu" : "wall"] = {{"campaigns", alarms.campaigns},
                                                {"welch", alarms.welch},
                                                {"mann_whitney", alarms.mann_whitney}};
    }
    return report;
  }
  report["plan_order"] = "interleaved";
  for (const Metric metric : {Metric::wall, Metric::cpu}) {
    const char* name = metric == Metric::wall ? "wall" : "cpu";
    report["calibration"][name] = calibration_json(pool_of(inputs, kAaCase, metric), seed);
    const Pool injected = pool_of(inputs, kInjectedCase, metric);
    if (injected.data.batches > 0)
      report["power"][name] = power_json(injected, inputs.policy.value("inject_percent", 0.0));
  }
  return report;
}

}  // namespace assay::verdict
