// Reads a JSON list of requests on stdin and prints the product's answers, for check_oracle.py.
#include "assay/base/json.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/prediction.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/tail.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using assay::Json;
using namespace assay::stats;

// JSON has no infinity.
Json number(double value) {
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

Json test_json(const CapTest& test) {
  return {{"t", test.t},
          {"t_up", test.p_t_up},
          {"t_down", test.p_t_down},
          {"flip_up", test.p_flip_up},
          {"flip_down", test.p_flip_down}};
}

Json gate_json(const GateResult& gate) {
  return {{"verdict", std::string(verdict_name(gate.verdict))},
          {"reasons", gate.reasons},
          {"p_fail", gate.p_fail},
          {"tests", test_json(gate.test)}};
}

std::vector<double> doubles(const Json& json) {
  return json.get<std::vector<double>>();
}
std::vector<int> integers(const Json& json) {
  return json.get<std::vector<int>>();
}

Json answer_pairs(const Json& request) {
  const std::vector<double> reference = doubles(request["reference"]);
  const std::vector<double> candidate = doubles(request["candidate"]);
  const Pairs pairs = make_pairs(reference, candidate, integers(request["batch"]));
  const auto level = request["level"].get<double>();
  GateOptions options;
  options.cap = request["cap"].get<double>();
  options.one_sided_alpha = request["alpha"].get<double>();
  Json answer{{"x", pairs.x}, {"batch", pairs.batch}};
  answer["sums"] = signed_rank_sums(pairs, assay::stats::log(options.cap));
  answer["gate_up"] = gate_json(judge_gate(pairs, options));
  options.direction = Direction::down;
  answer["gate_down"] = gate_json(judge_gate(pairs, options));
  const SignedRankInterval interval = signed_rank_interval(pairs, level);
  answer["interval"] = {interval.estimate, number(interval.lower), number(interval.upper)};
  const TailResult tail = judge_tail({reference, candidate, pairs.batch, pairs.batches});
  answer["tail"] = {{"verdict", std::string(verdict_name(tail.verdict))},
                    {"reasons", tail.reasons},
                    {"p", tail.p_fail},
                    {"excess", tail.excess},
                    {"slow_share", tail.slow_share},
                    {"candidate_slow", tail.candidate_slow},
                    {"reference_slow", tail.reference_slow},
                    {"statistic", tail.pass_statistic},
                    {"limit", tail.pass_limit}};
  return answer;
}

Json answer_bootstrap(const Json& request) {
  std::vector<BootstrapCase> cases;
  for (const auto& [name, batches] : request["cases"].items())
    cases.push_back({name, batches.get<std::vector<std::vector<double>>>()});
  BootstrapOptions options;
  options.draws = request["draws"].get<std::int64_t>();
  options.seed = request["seed"].get<std::uint64_t>();
  options.level = request["level"].get<double>();
  const BootstrapResult result = hierarchical_bootstrap(cases, options);
  Json answer{{"cases", Json::object()}};
  for (const BootstrapInterval& i : result.cases)
    answer["cases"][i.name] = {i.estimate, i.lower, i.upper};
  answer["geomean"] = {result.geomean.estimate, result.geomean.lower, result.geomean.upper};
  return answer;
}

Json answer_geomean(const Json& request) {
  std::vector<GeomeanCase> cases;
  const auto batches = request["batches"].get<int>();
  for (const Json& c : request["cases"])
    cases.push_back({{doubles(c["x"]), integers(c["batch"]), batches}, c["weight"].get<double>()});
  GateOptions options;
  options.cap = request["cap"].get<double>();
  const auto result = geometric_mean(cases, batches, request["level"].get<double>(), options);
  if (!result)
    return nullptr;
  return {{"estimate", result->estimate},
          {"lower", result->lower},
          {"upper", result->upper},
          {"used", result->batches_used},
          {"gate", gate_json(result->gate)}};
}

Json answer_prediction(const Json& request) {
  const auto r = request["r"].get<double>();
  const auto b0 = request["b0"].get<int>();
  const auto b = request["b"].get<int>();
  Json answer{{"probability", decision_probability(r, b0, b)},
              {"half_width", predicted_half_width(0.01, b0, b)}};
  const auto b80 = batches_for_probability(r, b0, 0.8, 2000);
  const auto halved = batches_for_half_width(0.01, b0, 0.005);
  answer["b80"] = b80 ? Json(*b80) : Json();
  answer["halved"] = halved ? Json(*halved) : Json();
  return answer;
}

Json answer(const Json& request) {
  const auto kind = request["kind"].get<std::string>();
  if (kind == "pairs")
    return answer_pairs(request);
  if (kind == "bootstrap")
    return answer_bootstrap(request);
  if (kind == "geomean")
    return answer_geomean(request);
  if (kind == "prediction")
    return answer_prediction(request);
  if (kind == "flip") {
    const FlipResult flip = sign_flip(request["sums"].get<std::vector<std::int64_t>>());
    return {{"greater", flip.greater}, {"equal", flip.equal}};
  }
  if (kind == "family") {
    const std::vector<double> p = doubles(request["p"]);
    return {{"holm", holm(p)}, {"bh", benjamini_hochberg(p)}};
  }
  return nullptr;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json requests = Json::parse(text, nullptr, false);
  if (!requests.is_array()) {
    std::fputs("stats_driver: stdin is not a JSON list\n", stderr);
    return 2;
  }
  Json answers = Json::array();
  for (const Json& request : requests)
    answers.push_back(answer(request));
  std::puts(answers.dump().c_str());
  return 0;
}
