#include "case_report.h"

#include "assay/stats/diagnostics.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cmath>

namespace assay::verdict {
namespace {

constexpr double kDiagnosticP = 0.01;
// A gap between runs that differs by more than this, absolutely and relatively, between the sides.
constexpr double kGapNs = 1e6;
constexpr double kGapShare = 0.25;
constexpr double kStealShare = 0.02;
constexpr double kHighPriorityOutlierShare = 0.05;

class Reporter {
 public:
  Reporter(std::string case_name, std::vector<Diagnostic>& out)
      : case_name_(std::move(case_name)), out_(out) {}
  void operator()(const char* code, const Json& value, const char* detail) {
    out_.push_back({code, case_name_, value, detail});
  }

 private:
  std::string case_name_;
  std::vector<Diagnostic>& out_;
};

double percent(double log_ratio) {
  return (stats::exp(log_ratio) - 1) * 100;
}

// Values per batch, in batch order.
std::vector<double> batch_values(const stats::Pairs& pairs) {
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(pairs.batches));
  for (std::size_t i = 0; i < pairs.size(); ++i)
    groups[static_cast<std::size_t>(pairs.batch[i])].push_back(pairs.x[i]);
  std::vector<double> out;
  for (auto& group : groups)
    out.push_back(stats::hodges_lehmann(std::move(group)));
  return out;
}

Json lag1_json(const std::vector<double>& values, std::uint64_t seed, bool& drifts) {
  const auto lag = stats::lag1(values, seed);
  if (!lag)
    return nullptr;
  drifts = drifts || lag->p <= kDiagnosticP;
  return {{"r", lag->r}, {"p", lag->p}};
}

void order_diagnostics(const Figures& f, const stats::Pairs& pairs, Json& json, Reporter& report) {
  const auto candidate_first = std::count(f.candidate_first.begin(), f.candidate_first.end(), true);
  const auto reference_first =
      static_cast<std::ptrdiff_t>(f.candidate_first.size()) - candidate_first;
  if (std::abs(candidate_first - reference_first) > 2)
    report("order_unbalanced", candidate_first - reference_first,
           "one side ran first more often: a penalty of the second run would look like a change");
  const auto effect =
      pairs.batches >= 2 ? stats::order_effect(pairs, f.candidate_first) : std::nullopt;
  json["order_effect"] = nullptr;
  if (!effect)
    return;
  json["order_effect"] = {{"effect_percent", percent(effect->effect)},
                          {"p", effect->p},
                          {"candidate_first", effect->candidate_first},
                          {"reference_first", effect->reference_first}};
  if (effect->p <= kDiagnosticP)
    report("order_effect", percent(effect->effect),
           "percent: the second run of a pair differs from the first; balanced order cancels it");
}

void outlier_diagnostics(const Figures& f, Json& json, Reporter& report) {
  const stats::Outliers sides[] = {stats::outliers(f.reference), stats::outliers(f.candidate)};
  const int high = sides[0].high + sides[1].high;
  const int low = sides[0].low + sides[1].low;
  json["outliers"] = {{"high", high}, {"low", low}};
  if (high + low > 0 && static_cast<double>(high + low) >
                            kHighPriorityOutlierShare * 2 * static_cast<double>(f.reference.size()))
    report(
        "outliers", high + low,
        "runs beyond ten robust standard deviations, in more than 5 % of the runs; none removed");
}

void drift_diagnostics(const stats::Pairs& pairs, std::uint64_t seed, Json& json,
                       Reporter& report) {
  bool drifts = false;
  json["lag1_pairs"] = lag1_json(pairs.x, seed, drifts);
  json["lag1_batches"] = lag1_json(batch_values(pairs), seed, drifts);
  if (drifts)
    report("ratio_drift", nullptr,
           "neighbouring ratios resemble each other: drift in the ratio defeats every interval");
  const auto trend = pairs.batches >= 3 ? stats::trend(pairs) : std::nullopt;
  json["trend_percent_per_batch"] = trend ? Json(percent(trend->per_batch)) : Json(nullptr);
  json["trend_p"] = trend ? Json(trend->p) : Json(nullptr);
  if (trend && trend->p <= kDiagnosticP)
    report("trend", percent(trend->per_batch), "percent per batch: the ratio moves with time");
}

// Time between the end of the run before and the start of this run, per side.
void gap_diagnostics(const Campaign& campaign, std::size_t index, Json& json, Reporter& report) {
  std::vector<double> gaps[2];
  const Sample* previous = nullptr;
  for (std::size_t seq = 0; seq < campaign.by_seq.size(); ++seq) {
    const Sample* s = campaign.by_seq[seq];
    const PlannedRun& run = campaign.inputs->plan.runs[seq];
    if (s != nullptr && previous != nullptr && run.phase == Phase::measurement &&
        static_cast<std::size_t>(run.case_index) == index && s->start_monotonic_ns &&
        previous->start_monotonic_ns && previous->elapsed_ns)
      gaps[static_cast<std::size_t>(s->side)].push_back(
          static_cast<double>(*s->start_monotonic_ns - *previous->start_monotonic_ns) -
          static_cast<double>(*previous->elapsed_ns));
    previous = s;
  }
  json["gap_ns"] = {{"reference", nullptr}, {"candidate", nullptr}};
  if (gaps[0].empty() || gaps[1].empty())
    return;
  const double medians[] = {stats::median(gaps[0]), stats::median(gaps[1])};
  json["gap_ns"] = {{"reference", medians[0]}, {"candidate", medians[1]}};
  const double difference = std::fabs(medians[0] - medians[1]);
  if (difference > kGapNs && difference > kGapShare * std::max(medians[0], medians[1]))
    report("gaps_differ", medians[1] - medians[0],
           "ns: the idle time before a run differs between the sides (cold caches, clock "
           "frequency); --idle-gap makes them equal");
}

void count_diagnostics(const Campaign& campaign, const CaseData& data, Reporter& report) {
  std::int64_t left = 0;
  double steal = 0;
  for (const CompletePair& pair : data.pairs) {
    for (const Sample* s : {pair.reference, pair.candidate}) {
      left += s->descendants_left > 0 ? 1 : 0;
      steal = std::max(steal, s->steal_share.value_or(0));
    }
  }
  if (left > 0)
    report("descendants_left", left,
           "runs whose main process ended before its children; they were killed");
  if (steal > kStealShare)
    report("host_steal", steal, "largest share of CPU time that the hypervisor took during a pair");
  if (data.pairs_rejected > 0)
    report("pairs_rejected", data.pairs_rejected,
           "pairs with an unusable run; they stay in the archive and outside the figures");
  if (campaign.inputs->plan.options.blocks_order)
    report("blocks_order", nullptr, "all runs of a side in a row: load drift decides the ratio");
}

}  // namespace

Json diagnostics_json(const Campaign& campaign, std::size_t index, std::vector<Diagnostic>& out) {
  const CaseData& data = campaign.cases[index];
  Reporter report(data.policy->name, out);
  Json json = {{"order_effect", nullptr},    {"lag1_pairs", nullptr},
               {"lag1_batches", nullptr},    {"outliers", {{"high", 0}, {"low", 0}}},
               {"pair_sd_percent", nullptr}, {"batch_sd_percent", nullptr},
               {"batch_share", nullptr},     {"trend_percent_per_batch", nullptr},
               {"trend_p", nullptr}};
  gap_diagnostics(campaign, index, json, report);
  count_diagnostics(campaign, data, report);
  const Figures f = figures_of(data, Kind::wall);
  if (f.reference.empty())
    return json;
  const stats::Pairs pairs = stats::make_pairs(f.reference, f.candidate, f.batch);
  order_diagnostics(f, pairs, json, report);
  outlier_diagnostics(f, json, report);
  drift_diagnostics(pairs, static_cast<std::uint64_t>(campaign.inputs->plan.options.seed), json,
                    report);
  if (const stats::Variance variance = stats::variance(pairs); variance.known) {
    json["pair_sd_percent"] = variance.pair_sd * 100;
    json["batch_sd_percent"] = variance.batch_sd * 100;
    json["batch_share"] = variance.batch_share;
  }
  return json;
}

}  // namespace assay::verdict
