#include "verdicts.h"

#include "assay/base/random.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay::verdict {
namespace {

constexpr const char* kUnpairedMethod = "unpaired-percentile-v1";

Json interval_json(double level) {
  return {{"estimate", nullptr}, {"lower", nullptr}, {"upper", nullptr}, {"level", level}};
}

using Drawn = std::function<void(std::int64_t)>;

bool is_asked_for(const char* method, const AnalyzeOptions& options) {
  return options.method.empty() || options.method == method;
}

// Seeded percentile bootstrap of the ratio of medians: each side resampled on its own.
Json unpaired_interval(const AnalyzeData& data, const AnalyzeOptions& options, const Drawn& drawn) {
  Json json = interval_json(options.level);
  if (data.reference.empty() || data.candidate.empty())
    return json;
  json["estimate"] = stats::median(data.candidate) / stats::median(data.reference);
  if (data.reference.size() < 2 || data.candidate.size() < 2)
    return json;
  Xoshiro256 random(static_cast<std::uint64_t>(options.seed));
  const auto resampled_median = [&](const std::vector<double>& values) {
    std::vector<double> draw(values.size());
    for (double& x : draw)
      x = values[static_cast<std::size_t>(random.below(values.size()))];
    return stats::median(std::move(draw));
  };
  std::vector<double> ratios;
  ratios.reserve(static_cast<std::size_t>(options.draws));
  for (std::int64_t i = 0; i < options.draws; ++i) {
    const double reference = resampled_median(data.reference);
    ratios.push_back(resampled_median(data.candidate) / reference);
    if (drawn)
      drawn(i + 1);
  }
  json["lower"] = stats::percentile(ratios, (1 - options.level) / 2);
  json["upper"] = stats::percentile(std::move(ratios), (1 + options.level) / 2);
  return json;
}

Json hierarchical_interval(const AnalyzeData& data, const std::vector<int>& batch,
                           const AnalyzeOptions& options, const Drawn& drawn) {
  std::map<int, std::vector<double>> batches;
  for (std::size_t i = 0; i < data.reference.size(); ++i)
    batches[batch[i]].push_back(data.candidate[i] / data.reference[i]);
  stats::BootstrapCase one{data.name, {}};
  for (auto& [id, ratios] : batches)
    one.batches.push_back(std::move(ratios));
  const stats::BootstrapResult result = stats::hierarchical_bootstrap(
      {std::move(one)}, {.draws = options.draws,
                         .seed = static_cast<std::uint64_t>(options.seed),
                         .level = options.level,
                         .drawn = drawn});
  Json json = interval_json(options.level);
  json["estimate"] = result.cases.at(0).estimate;
  json["lower"] = result.cases.at(0).lower;
  json["upper"] = result.cases.at(0).upper;
  return json;
}

Json signed_rank_json(const Finding& finding, double level) {
  const auto ratio = [](const std::optional<double>& x) {
    return x ? Json(stats::exp(*x)) : Json(nullptr);
  };
  Json json = interval_json(level);
  json["estimate"] = ratio(finding.estimate);
  json["lower"] = ratio(finding.lower);
  json["upper"] = ratio(finding.upper);
  return json;
}

Json side_json(const std::vector<double>& values) {
  return {{"n", values.size()},
          {"median", values.empty() ? Json(nullptr) : Json(stats::median(values))},
          {"p95", values.empty() ? Json(nullptr) : Json(stats::percentile(values, 0.95))}};
}

Json refused_gate(double cap, const char* reason) {
  return {{"cap", cap},
          {"verdict", "INCONCLUSIVE"},
          {"reasons", Json::array({reason})},
          {"p_t", nullptr},
          {"p_flip", nullptr}};
}

Json gate_json(const stats::Pairs& pairs, double cap) {
  if (pairs.batches < 2)
    return refused_gate(cap, "too_few_batches");
  const stats::GateResult gate = stats::judge_gate(pairs, {.cap = cap});
  return {{"cap", cap},
          {"verdict", stats::verdict_name(gate.verdict)},
          {"reasons", std::set<std::string>(gate.reasons.begin(), gate.reasons.end())},
          {"p_t", gate.test.p_t_up},
          {"p_flip", gate.test.p_flip_up}};
}

// The gate of paired data, or why there is none.
Json paired_gate(const AnalyzeData& data, const stats::Pairs& pairs, double cap) {
  if (!data.batched)
    return refused_gate(cap, "unbatched_data");
  if (data.pairs_rejected > 0)
    return refused_gate(cap, "pairs_rejected");
  if (order_unbalanced(data.candidate_first))
    return refused_gate(cap, "order_unbalanced");
  return gate_json(pairs, cap);
}

// Paired data. Without batches every pair stands for a batch of its own in method 2, and for one
// common batch in method 1: both assume that pairs are independent, which nobody has checked.
void analyze_pairs(const AnalyzeData& data, const AnalyzeOptions& options, const Drawn& drawn,
                   Json& json, std::set<std::string>& reasons) {
  std::vector<int> own(data.reference.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = static_cast<int>(i);
  const std::vector<int> one(data.reference.size(), 0);
  const std::vector<int>& clustered = data.batched ? data.batch : own;
  const stats::Pairs pairs = stats::make_pairs(data.reference, data.candidate, clustered);
  const Finding finding = find_difference(pairs, options.level);
  reasons.insert(finding.reasons.begin(), finding.reasons.end());
  if (data.candidate_first.empty())
    reasons.insert("order_not_recorded");
  else if (order_unbalanced(data.candidate_first))
    reasons.insert("order_unbalanced");
  if (data.pairs_rejected > 0)
    reasons.insert("pairs_rejected");
  if (!data.batched) {
    reasons.insert("unbatched_data");
    reasons.erase("one_batch_decides");
  }
  json["batches"] = data.batched ? pairs.batches : 0;
  if (is_asked_for(kBootstrapMethod, options))
    json["intervals"][kBootstrapMethod] =
        hierarchical_interval(data, data.batched ? data.batch : one, options, drawn);
  if (is_asked_for(kSignedRankMethod, options))
    json["intervals"][kSignedRankMethod] = signed_rank_json(finding, options.level);
  json["finding"] = finding.finding == "up"     ? Json("slower")
                    : finding.finding == "down" ? Json("faster")
                    : finding.finding.empty()   ? Json(nullptr)
                                                : Json(finding.finding);
  if (finding.ruled_out_above_percent)
    json["ruled_out_above_percent"] = *finding.ruled_out_above_percent;
  if (options.cap)
    json["gate"] = paired_gate(data, pairs, *options.cap);
}

void analyze_unpaired(const AnalyzeData& data, const AnalyzeOptions& options, const Drawn& drawn,
                      Json& json, std::set<std::string>& reasons) {
  reasons.insert("unpaired_data");
  if (data.reference.size() < 2 || data.candidate.size() < 2)
    reasons.insert("too_few_values");
  if (is_asked_for(kUnpairedMethod, options))
    json["intervals"][kUnpairedMethod] = unpaired_interval(data, options, drawn);
  if (options.cap)
    json["gate"] = refused_gate(*options.cap, "unpaired_data");
}

Json analyze_case(const AnalyzeData& data, const AnalyzeOptions& options, const Drawn& drawn) {
  Json json = {{"name", data.name},
               {"source", data.source},
               {"unit", data.unit.empty() ? Json(nullptr) : Json(data.unit)},
               {"paired", data.paired},
               {"batched", data.batched},
               {"pairs", data.paired ? data.reference.size() : 0},
               {"batches", 0},
               {"reference", side_json(data.reference)},
               {"candidate", side_json(data.candidate)},
               {"intervals", Json::object()},
               {"finding", nullptr},
               {"ruled_out_above_percent", nullptr},
               {"gate", nullptr}};
  std::set<std::string> reasons;
  if (data.paired && !data.reference.empty())
    analyze_pairs(data, options, drawn, json, reasons);
  else if (data.paired)
    reasons.insert("no_complete_pairs");
  else
    analyze_unpaired(data, options, drawn, json, reasons);
  if (!options.method.empty() && json["intervals"].empty())
    reasons.insert("method_not_applicable");
  reasons.insert(data.warnings.begin(), data.warnings.end());
  if (data.no_claim) {
    json["finding"] = nullptr;
    json["ruled_out_above_percent"] = nullptr;
  }
  json["reasons"] = reasons;
  return json;
}

}  // namespace

std::vector<std::string> analysis_methods() {
  return {kBootstrapMethod, kSignedRankMethod, kUnpairedMethod};
}

Json derive_analysis(const std::vector<AnalyzeData>& data, const AnalyzeOptions& options) {
  Json cases = Json::array();
  for (const AnalyzeData& one : data) {
    ASSAY_CHECK(!one.paired || one.reference.size() == one.candidate.size(),
                "paired data need as many candidates as references");
    ASSAY_CHECK(!one.batched || one.batch.size() == one.reference.size(),
                "batched data need one batch per pair");
    const auto before = static_cast<std::int64_t>(cases.size()) * options.draws;
    const auto drawn = [&](std::int64_t done) {
      options.drawn(before + done, static_cast<std::int64_t>(data.size()) * options.draws);
    };
    cases.push_back(analyze_case(one, options, options.drawn ? Drawn(drawn) : Drawn()));
  }
  Json json = {{"schema", {{"name", "assay.analysis"}, {"major", 1}, {"minor", 0}}},
               {"kind", "analysis"},
               {"seed", options.seed},
               {"draws", options.draws},
               {"unmatched", options.unmatched}};
  if (cases.size() == 1)
    json.update(cases[0]);
  json["cases"] = std::move(cases);
  return json;
}

}  // namespace assay::verdict
