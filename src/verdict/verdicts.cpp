#include "verdicts.h"

#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/prediction.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cmath>

namespace assay::verdict {
namespace {

constexpr double kTailFamilyAlpha = 0.05;
// An INCONCLUSIVE verdict is told what this many times the batches would do.
constexpr int kPredictedFactor = 4;
// Seeded side orders are balanced to within one pair per case and phase.
constexpr int kOrderImbalanceAllowed = 2;

double percent(double log_ratio) {
  return (stats::exp(log_ratio) - 1) * 100;
}

void set_interval(VerdictValue& v, const Finding& f, Kind kind) {
  const auto ratio = [](const std::optional<double>& x) {
    return x ? std::optional<double>(stats::exp(*x)) : std::nullopt;
  };
  v.estimate = ratio(f.estimate);
  v.lower = ratio(f.lower);
  v.upper = ratio(f.upper);
  v.log_lower = f.lower;
  v.log_upper = f.upper;
  v.ruled_out_above_percent = f.ruled_out_above_percent;
  v.reasons.insert(f.reasons.begin(), f.reasons.end());
  if (f.finding == "up")
    v.finding = kind == Kind::rss ? "bigger" : "slower";
  else if (f.finding == "down")
    v.finding = kind == Kind::rss ? "smaller" : "faster";
  else
    v.finding = f.finding;
}

// What more batches would do, and whether this host can get there at all.
void predict(VerdictValue& v, double t_at_cap, const std::optional<double>& smallest_difference) {
  if (!v.log_lower || !v.log_upper || v.n_batches < stats::kMinGateBatches)
    return;
  const int b0 = v.n_batches;
  const int more = kPredictedFactor * b0;
  const double r = std::fabs(t_at_cap);
  const double half_width = (*v.log_upper - *v.log_lower) / 2;
  const double probability = stats::decision_probability(r, b0, more);
  const auto nullable = [](const std::optional<int>& n) { return n ? Json(*n) : Json(nullptr); };
  v.prediction = {{"b50", nullable(stats::batches_for_probability(r, b0, 0.5))},
                  {"b80", nullable(stats::batches_for_probability(r, b0, 0.8))},
                  {"half_width_percent", percent(half_width)},
                  {"at_batches", more},
                  {"probability", probability},
                  {"half_width_at_percent",
                   percent(stats::predicted_half_width(half_width, b0, more, v.level))}};
  if (probability < 0.5)
    v.reasons.insert("unlikely_within_budget");
  if (smallest_difference && *smallest_difference > 0 &&
      stats::host_cannot_resolve(half_width, b0, stats::log(1 + *smallest_difference), more))
    v.reasons.insert("host_cannot_resolve");
}

// What the host's calibration says of this kind, "" where nothing.
std::string calibration_state(const CompareInputs& in, Kind kind) {
  if (!in.calibration || !in.calibration->is_object() || !in.calibration->contains("calibration"))
    return "";
  const Json& table = in.calibration->at("calibration");
  const std::string name(kind_name(kind));
  if (!table.is_object() || !table.contains(name) || !table.at(name).is_object())
    return "";
  return table.at(name).value("state", "");
}

// Only wall and CPU time have a rate of their own; a calibration that measured too little of one
// leaves the host uncalibrated for it.
bool is_calibrated(const CompareInputs& in, Kind kind) {
  if (kind != Kind::wall && kind != Kind::cpu)
    return in.calibration.has_value();
  const std::string state = calibration_state(in, kind);
  return !state.empty() && state != "INCOMPLETE";
}

// Facts that forbid PASS and FAIL although both tests could be computed.
void withhold(const Campaign& campaign, const Figures& f, Kind kind, VerdictValue& v) {
  const auto inconclusive = [&](const char* reason) {
    v.reasons.insert(reason);
    v.status = "INCONCLUSIVE";
    v.p_family = 1;
  };
  if (order_unbalanced(f.candidate_first))
    inconclusive("order_unbalanced");
  if (calibration_state(*campaign.inputs, kind) == "FAILED")
    inconclusive("host_calibration_failed");
}

void judge_ratio_gate(const Campaign& campaign, const stats::Pairs& pairs, VerdictValue& v) {
  const CompareInputs& in = *campaign.inputs;
  const stats::GateResult gate = stats::judge_gate(
      pairs, {.cap = *v.cap, .direction = stats::Direction::up, .one_sided_alpha = campaign.alpha});
  v.status = stats::verdict_name(gate.verdict);
  v.reasons.insert(gate.reasons.begin(), gate.reasons.end());
  v.p_t = gate.test.p_t_up;
  v.p_flip = gate.test.p_flip_up;
  v.p_family = gate.p_fail;
  if (!stats::fail_possible(v.n_batches, static_cast<int>(campaign.cases.size()), campaign.alpha))
    v.reasons.insert("fail_impossible_at_this_layout");
  if (v.status == "INCONCLUSIVE")
    predict(v, gate.test.t, in.policy.smallest_difference);
}

// Ungated: a difference that the user declared interesting and that this interval cannot show.
void check_resolution(const ComparePolicy& policy, VerdictValue& v) {
  if (v.gated || v.finding != "no_difference" || !policy.smallest_difference ||
      *policy.smallest_difference <= 0 || !v.log_lower || !v.log_upper || v.n_batches < 2)
    return;
  if (stats::host_cannot_resolve((*v.log_upper - *v.log_lower) / 2, v.n_batches,
                                 stats::log(1 + *policy.smallest_difference),
                                 kPredictedFactor * v.n_batches))
    v.reasons.insert("host_cannot_resolve");
}

// True when the figures allow no statistics at all; the verdict then holds the reason.
bool not_observed(const Figures& f, VerdictValue& v) {
  v.reasons.insert(f.codes.begin(), f.codes.end());
  if (f.missing > 0) {
    v.reasons.insert("figures_missing");
    if (v.gated)
      v.status = "INCOMPLETE";
  }
  if (f.zero > 0) {
    v.reasons.insert("below_resolution");
    if (v.gated && v.status != "INCOMPLETE")
      v.status = "INCONCLUSIVE";
    return true;
  }
  if (f.reference.empty()) {
    if (f.missing == 0)
      v.reasons.insert("no_complete_pairs");
    if (v.gated)
      v.status = "INCOMPLETE";
    return true;
  }
  return false;
}

VerdictValue judge_ratio(const Campaign& campaign, const CaseData& data, Kind kind) {
  const ComparePolicy& policy = campaign.inputs->policy;
  VerdictValue v;
  v.level = campaign.level;
  v.cap = cap_of(policy.gates, kind);
  v.gated = v.cap.has_value();
  const Figures f = figures_of(data, kind);
  v.n_pairs = static_cast<int>(f.reference.size());
  v.n_batches = static_cast<int>(std::set<int>(f.batch.begin(), f.batch.end()).size());
  if (not_observed(f, v))
    return v;
  const stats::Pairs pairs = stats::make_pairs(f.reference, f.candidate, f.batch);
  set_interval(v, find_difference(pairs, v.level), kind);
  check_resolution(policy, v);
  if (!v.gated)
    return v;
  v.reasons.erase("one_batch_decides");  // of the finding; the gate asks it again at its cap
  const bool incomplete = v.status == "INCOMPLETE";
  if (v.n_batches >= 2)
    judge_ratio_gate(campaign, pairs, v);
  else
    v.status = "INCONCLUSIVE";
  withhold(campaign, f, kind, v);
  if (incomplete)
    v.status = "INCOMPLETE";
  return v;
}

VerdictValue judge_tail_kind(const Campaign& campaign, const CaseData& data) {
  VerdictValue v;
  v.method = kTailMethod;
  v.level = 1 - kTailFamilyAlpha;
  v.gated = campaign.inputs->policy.gates.tail;
  if (!v.gated)
    v.reasons.insert("tail_not_asked");
  const Figures f = figures_of(data, Kind::tail);
  v.n_pairs = static_cast<int>(f.reference.size());
  const std::set<int> ids(f.batch.begin(), f.batch.end());
  v.n_batches = static_cast<int>(ids.size());
  if (not_observed(f, v))
    return v;
  stats::TailData tail{f.reference, f.candidate, f.batch, v.n_batches};
  for (int& b : tail.batch)
    b = static_cast<int>(std::distance(ids.begin(), ids.find(b)));
  v.tail = stats::judge_tail(tail);
  v.estimate = 1 + v.tail->excess;
  v.p_flip = v.tail->p_fail;
  v.p_family = v.tail->p_fail;
  if (!v.gated)
    return v;
  v.reasons.insert("interval_not_defined");
  const bool incomplete = v.status == "INCOMPLETE";
  v.status = stats::verdict_name(v.tail->verdict);
  v.reasons.insert(v.tail->reasons.begin(), v.tail->reasons.end());
  withhold(campaign, f, Kind::tail, v);
  if (incomplete)
    v.status = "INCOMPLETE";
  return v;
}

}  // namespace

bool order_unbalanced(const std::vector<bool>& candidate_first) {
  const auto first = std::count(candidate_first.begin(), candidate_first.end(), true);
  const auto second = static_cast<std::ptrdiff_t>(candidate_first.size()) - first;
  return std::abs(first - second) > kOrderImbalanceAllowed;
}

std::string_view kind_name(Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"wall", "cpu", "tail", "rss"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::optional<double> cap_of(const Gates& gates, Kind kind) {
  switch (kind) {
    case Kind::wall:
      return gates.wall_cap;
    case Kind::cpu:
      return gates.cpu_cap;
    case Kind::rss:
      return gates.rss_cap;
    case Kind::tail:
      break;
  }
  return std::nullopt;
}

bool is_gated(const Gates& gates, Kind kind) {
  return kind == Kind::tail ? gates.tail : cap_of(gates, kind).has_value();
}

bool any_gate(const Gates& gates) {
  return std::any_of(kKinds.begin(), kKinds.end(), [&](Kind k) { return is_gated(gates, k); });
}

VerdictValue judge(const Campaign& campaign, const CaseData& data, Kind kind) {
  VerdictValue v =
      kind == Kind::tail ? judge_tail_kind(campaign, data) : judge_ratio(campaign, data, kind);
  if (v.gated && !is_calibrated(*campaign.inputs, kind))
    v.reasons.insert("host_not_calibrated");
  return v;
}

void apply_holm(std::vector<VerdictValue*>& family, double alpha) {
  std::vector<double> p;
  for (const VerdictValue* v : family)
    p.push_back(v->p_family);
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    VerdictValue& v = *family[i];
    if (!v.gated || !v.p_flip)
      continue;
    v.p_holm = adjusted[i];
    if (v.status == "FAIL" && adjusted[i] > alpha) {
      v.status = "INCONCLUSIVE";
      v.reasons.insert("not_significant_after_holm");
    }
  }
}

void apply_blockers(const Campaign& campaign, const CaseData& data, VerdictValue& v) {
  v.subset_status = v.status;
  std::set<std::string> blockers = data.blockers;
  if (campaign.interrupted())
    blockers.insert("interrupted");
  else if (campaign.inputs->ending.type == "failed")
    blockers.insert("campaign_failed");
  if (!campaign.interrupted() &&
      static_cast<std::int64_t>(data.pairs.size()) + data.pairs_rejected < data.pairs_planned)
    blockers.insert("planned_runs_missing");
  const bool oracle = data.policy->oracle_sha256.has_value();
  if (!oracle && !data.outputs.reason.empty()) {
    if (data.outputs.equal)
      blockers.insert(data.outputs.reason);
    else
      v.reasons.insert(data.outputs.reason);
  }
  if (data.exits_differ)
    v.reasons.insert("exits_differ");
  // Who lists codes has said that they are as good as 0; who ignores every failure has not.
  if (data.exits_differ && campaign.inputs->policy.ignore_all_failures)
    blockers.insert("exits_differ");
  v.reasons.insert(blockers.begin(), blockers.end());
  if (v.gated && !blockers.empty())
    v.status = "INCOMPLETE";
  // Runs that failed, or of files that changed, are no sample of what was meant.
  if (!data.blockers.empty() || campaign.inputs->ending.type == "failed") {
    v.finding.clear();
    v.ruled_out_above_percent.reset();
  }
}

std::vector<CaseVerdicts> judge_all(const Campaign& campaign) {
  std::vector<CaseVerdicts> all(campaign.cases.size());
  for (const Kind kind : kKinds) {
    const auto k = static_cast<std::size_t>(kind);
    std::vector<VerdictValue*> family;
    for (std::size_t i = 0; i < campaign.cases.size(); ++i) {
      all[i][k] = judge(campaign, campaign.cases[i], kind);
      family.push_back(&all[i][k]);
    }
    apply_holm(family, kind == Kind::tail ? kTailFamilyAlpha : campaign.alpha);
    for (std::size_t i = 0; i < campaign.cases.size(); ++i)
      apply_blockers(campaign, campaign.cases[i], all[i][k]);
  }
  return all;
}

int badness_rank(std::string_view status) {
  constexpr std::array<std::string_view, 4> kOrder = {"FAIL", "INCOMPLETE", "INCONCLUSIVE", "PASS"};
  const auto it = std::find(kOrder.begin(), kOrder.end(), status);
  return static_cast<int>(it - kOrder.begin());
}

Json verdict_json(const VerdictValue& v) {
  const auto nullable = [](const std::optional<double>& x) {
    return x && std::isfinite(*x) ? Json(*x) : Json(nullptr);
  };
  return {{"status", v.status},
          {"method", v.method},
          {"level", v.level},
          {"n_pairs", v.n_pairs},
          {"n_batches", v.n_batches},
          {"estimate", nullable(v.estimate)},
          {"lower", nullable(v.lower)},
          {"upper", nullable(v.upper)},
          {"cap", nullable(v.cap)},
          {"p_t", nullable(v.p_t)},
          {"p_flip", nullable(v.p_flip)},
          {"p_holm", nullable(v.p_holm)},
          {"finding", v.finding.empty() ? Json(nullptr) : Json(v.finding)},
          {"ruled_out_above_percent", nullable(v.ruled_out_above_percent)},
          {"reasons", v.reasons},
          {"prediction", v.prediction}};
}

}  // namespace assay::verdict
