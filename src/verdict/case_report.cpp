#include "case_report.h"

#include "assay/stats/bootstrap.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>

namespace assay::verdict {
namespace {

constexpr double kShortRunNs = 200e6;

std::vector<double> values_of(
    const CaseData& data, Side side,
    const std::function<std::optional<std::int64_t>(const Sample&)>& get) {
  std::vector<double> out;
  for (const CompletePair& pair : data.pairs) {
    const auto value = get(side == Side::reference ? *pair.reference : *pair.candidate);
    if (value)
      out.push_back(static_cast<double>(*value));
  }
  return out;
}

Json median_json(const std::vector<double>& v) {
  return v.empty() ? Json(nullptr) : Json(stats::median(v));
}

std::optional<std::int64_t> cpu_ns(const Sample& s) {
  if (!s.user_ns || !s.system_ns)
    return std::nullopt;
  return *s.user_ns + *s.system_ns;
}

void add_elapsed(Json& json, const std::vector<double>& v) {
  for (const char* key : {"median_ns", "p95_ns", "mean_ns", "sd_ns", "min_ns", "max_ns"})
    json[key] = nullptr;
  if (v.empty())
    return;
  double mean = 0;
  for (const double x : v)
    mean += x / static_cast<double>(v.size());
  double squares = 0;
  for (const double x : v)
    squares += (x - mean) * (x - mean);
  json["median_ns"] = stats::median(v);
  json["p95_ns"] = stats::percentile(v, 0.95);
  json["mean_ns"] = mean;
  if (v.size() > 1)
    json["sd_ns"] = std::sqrt(squares / static_cast<double>(v.size() - 1));
  json["min_ns"] = *std::min_element(v.begin(), v.end());
  json["max_ns"] = *std::max_element(v.begin(), v.end());
}

// Method 1, beside the gate of record: one generator per case, the plan's seed.
Json bootstrap_json(const Campaign& campaign, const CaseData& data) {
  const CompareInputs& in = *campaign.inputs;
  Json json = {{"method", kBootstrapMethod},
               {"estimate", nullptr},
               {"lower", nullptr},
               {"upper", nullptr},
               {"level", in.policy.level},
               {"draws", in.policy.bootstrap_draws},
               {"seed", in.plan.options.seed},
               {"calibrated", false}};
  const Figures f = figures_of(data, Kind::wall);
  if (f.reference.empty() || f.zero > 0)
    return json;
  std::map<int, std::vector<double>> batches;
  for (std::size_t i = 0; i < f.reference.size(); ++i)
    batches[f.batch[i]].push_back(f.candidate[i] / f.reference[i]);
  stats::BootstrapCase one{data.policy->name, {}};
  for (auto& [id, ratios] : batches)
    one.batches.push_back(std::move(ratios));
  const stats::BootstrapResult result = stats::hierarchical_bootstrap(
      {std::move(one)}, {.draws = in.policy.bootstrap_draws,
                         .seed = static_cast<std::uint64_t>(in.plan.options.seed),
                         .level = in.policy.level});
  json["estimate"] = result.cases.at(0).estimate;
  json["lower"] = result.cases.at(0).lower;
  json["upper"] = result.cases.at(0).upper;
  return json;
}

// -1 below, +1 above, 0 when the interval holds `at`.
int side_of(double lower, double upper, double at) {
  if (lower > at)
    return 1;
  return upper < at ? -1 : 0;
}

bool methods_disagree(const VerdictValue& wall, const Json& bootstrap) {
  if (!wall.lower || !wall.upper || bootstrap.at("lower").is_null())
    return false;
  const double at = wall.cap.value_or(1.0);
  return side_of(*wall.lower, *wall.upper, at) !=
         side_of(bootstrap.at("lower").get<double>(), bootstrap.at("upper").get<double>(), at);
}

Json tail_json(const VerdictValue& v) {
  if (!v.tail)
    return nullptr;
  const stats::TailPower power = stats::tail_power(v.n_pairs);
  return {{"p_fail", v.tail->p_fail},
          {"excess_percent", v.tail->excess * 100},
          {"slow_share", v.tail->slow_share},
          {"candidate_slow", v.tail->candidate_slow},
          {"reference_slow", v.tail->reference_slow},
          {"find_5_percent_doubled", power.five_percent_doubled},
          {"find_1_percent_tripled", power.one_percent_tripled}};
}

void flag_short_runs(const CaseReport& report, const std::string& name,
                     std::vector<Diagnostic>& out) {
  double shortest = -1;
  for (const char* side : {"reference", "candidate"}) {
    const Json& median = report.json.at(side).at("median_ns");
    if (median.is_number() && (shortest < 0 || median.get<double>() < shortest))
      shortest = median.get<double>();
  }
  if (shortest >= 0 && shortest < kShortRunNs)
    out.push_back({"short_run", name, shortest,
                   "a side's median run is under 200 ms: start-up and scheduling weigh on it; "
                   "repeat the work inside the program"});
}

}  // namespace

// Of what ran: a hook may have built another program than the campaign found at its start.
std::string program_of(const Campaign& campaign, std::size_t index, Side side) {
  for (const Ending::BuiltProgram& built : campaign.inputs->ending.built)
    if (built.case_index == static_cast<std::int64_t>(index) && built.side == side)
      return built.sha256;
  const CasePolicy& policy = *campaign.cases[index].policy;
  return side == Side::reference ? policy.reference.program_sha256
                                 : policy.candidate.program_sha256;
}

Json side_json(const Campaign& campaign, std::size_t index, Side side) {
  const CaseData& data = campaign.cases[index];
  const CommandRecord& command =
      side == Side::reference ? data.policy->reference : data.policy->candidate;
  const std::string program = program_of(campaign, index, side);
  const std::vector<double> elapsed =
      values_of(data, side, [](const Sample& s) { return s.elapsed_ns; });
  const std::vector<double> rss =
      values_of(data, side, [](const Sample& s) { return s.peak_rss_bytes; });
  std::int64_t left = 0;
  for (const CompletePair& pair : data.pairs)
    left += (side == Side::reference ? pair.reference : pair.candidate)->descendants_left > 0;
  Json json = {
      {"name", command.name},
      {"argv", command.argv},
      {"program_sha256", program.empty() ? Json(nullptr) : Json(program)},
      {"runs", data.pairs.size()},
      {"median_user_ns",
       median_json(values_of(data, side, [](const Sample& s) { return s.user_ns; }))},
      {"median_system_ns",
       median_json(values_of(data, side, [](const Sample& s) { return s.system_ns; }))},
      {"median_cpu_ns", median_json(values_of(data, side, cpu_ns))},
      {"median_peak_rss_bytes", median_json(rss)},
      {"max_peak_rss_bytes",
       rss.empty() ? Json(nullptr)
                   : Json(static_cast<std::int64_t>(*std::max_element(rss.begin(), rss.end())))},
      {"descendants_left_runs", left}};
  add_elapsed(json, elapsed);
  return json;
}

// Which batch it is whose absence changes a verdict, and what its ratio was.
void name_deciding_batches(const CaseData& data, const CaseVerdicts& verdicts,
                           std::vector<Diagnostic>& out) {
  constexpr std::pair<Kind, const char*> kTitles[] = {
      {Kind::wall, "wall time"}, {Kind::cpu, "CPU time"}, {Kind::rss, "peak RSS"}};
  for (const auto& [kind, title] : kTitles) {
    const VerdictValue& v = verdicts[static_cast<std::size_t>(kind)];
    if (v.reasons.count("one_batch_decides") == 0)
      continue;
    const Figures f = figures_of(data, kind);
    const stats::Pairs pairs = stats::make_pairs(f.reference, f.candidate, f.batch);
    const auto sums = stats::signed_rank_sums(pairs, v.cap ? stats::log(*v.cap) : 0.0);
    const auto heaviest =
        std::max_element(sums.begin(), sums.end(),
                         [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); });
    const auto index = static_cast<int>(heaviest - sums.begin());
    const std::set<int> labels(f.batch.begin(), f.batch.end());
    std::vector<double> inside;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs.batch[i] == index)
        inside.push_back(pairs.x[i]);
    const double ratio = stats::exp(stats::hodges_lehmann(std::move(inside)));
    out.push_back(
        {"one_batch_decides", data.policy->name, ratio,
         fmt::format("{}: batch {}, where the ratio is {:.4f} (all batches: {:.4f})", title,
                     *std::next(labels.begin(), index), ratio, v.estimate.value_or(ratio))});
  }
}

CaseReport case_report(const Campaign& campaign, std::size_t index, const CaseVerdicts& verdicts) {
  const CaseData& data = campaign.cases[index];
  const VerdictValue& wall = verdicts[static_cast<std::size_t>(Kind::wall)];
  const VerdictValue& tail = verdicts[static_cast<std::size_t>(Kind::tail)];
  CaseReport report;
  report.json = {{"name", data.policy->name},
                 {"parameters", data.policy->parameters},
                 {"reference", side_json(campaign, index, Side::reference)},
                 {"candidate", side_json(campaign, index, Side::candidate)},
                 {"pairs_planned", data.pairs_planned},
                 {"pairs_complete", data.pairs.size()},
                 {"pairs_rejected", data.pairs_rejected},
                 {"bootstrap", bootstrap_json(campaign, data)},
                 {"tail_detail", tail_json(tail)},
                 {"outputs_equal", data.outputs.equal ? Json(*data.outputs.equal) : Json(nullptr)}};
  for (const Kind kind : kKinds)
    report.json["verdicts"][std::string(kind_name(kind))] =
        verdict_json(verdicts[static_cast<std::size_t>(kind)]);
  const bool disagree = methods_disagree(wall, report.json["bootstrap"]);
  report.json["methods_disagree"] = disagree;
  report.json["diagnostics"] = diagnostics_json(campaign, index, report.diagnostics);
  flag_short_runs(report, data.policy->name, report.diagnostics);
  name_deciding_batches(data, verdicts, report.diagnostics);
  if (disagree)
    report.diagnostics.push_back({"methods_disagree", data.policy->name, nullptr,
                                  "the two interval methods lie on different sides of the cap, or "
                                  "of ratio 1 without one; clustered-signed-rank-v1 decides"});
  return report;
}

}  // namespace assay::verdict
