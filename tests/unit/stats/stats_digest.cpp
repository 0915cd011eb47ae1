// Prints every rule's result on fixed synthetic data in hexadecimal floating point.
//
// The golden text beside this file must come out byte for byte with every compiler and CPU:
// tools/check_determinism.sh builds and runs it natively and on an emulated CPU without FMA.
#include "assay/base/random.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/diagnostics.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/prediction.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/simulate.h"
#include "assay/stats/tail.h"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace assay::stats;

// Optional parts come as nullopt: printed as a word, never as a number.
void line(const std::string& name, const std::vector<double>& values) {
  std::printf("%s", name.c_str());
  for (const double v : values)
    std::printf(" %a", v);
  std::printf("\n");
}

struct Data {
  std::vector<double> reference, candidate;
  std::vector<int> batch;
  std::vector<bool> candidate_first;
};

// Kinds: smooth, tied (whole numbers), with a tail, unequal batches.
Data make_data(int kind, int batches) {
  assay::Xoshiro256 random(static_cast<std::uint64_t>(1000 * kind + batches));
  Data data;
  for (int b = 0; b < batches; ++b) {
    const double effect = 1 + 0.01 * random.uniform();
    const int size = kind == 3 ? 1 + static_cast<int>(random.below(8)) : 6;
    for (int i = 0; i < size; ++i) {
      double r = 1e6 * (1 + 0.02 * random.uniform());
      double c = 1.01e6 * effect * (1 + 0.02 * random.uniform());
      if (kind == 1) {
        r = 10 + static_cast<double>(random.below(4));
        c = 10 + static_cast<double>(random.below(4));
      }
      if (kind == 2 && random.below(12) == 0)
        c *= 2;
      data.reference.push_back(r);
      data.candidate.push_back(c);
      data.batch.push_back(b);
      data.candidate_first.push_back(random.below(2) == 1);
    }
  }
  return data;
}

void print_functions() {
  assay::Xoshiro256 random(7);
  for (int i = 0; i < 40; ++i) {
    const double x = 3 * random.uniform() + 1e-9;
    const double large = assay::stats::exp(600 * (random.uniform() - 0.5));
    line("functions",
         {assay::stats::log(x), assay::stats::log(large), assay::stats::exp(x - 1.5),
          assay::stats::exp(-740 * random.uniform()), normal_cdf(4 * x - 6),
          t_cdf(5 * x - 8, 1 + i), t_quantile(random.uniform(), 1 + i),
          beta_cdf(random.uniform(), 0.5 + i, 3 + x), beta_quantile(x / 4, i + 1, 20)});
  }
}

void print_test(const std::string& name, const CapTest& test) {
  line(name, {test.t, test.p_t_up, test.p_t_down, test.p_flip_up, test.p_flip_down});
}

void print_rules(const std::string& name, const Data& data) {
  const Pairs pairs = make_pairs(data.reference, data.candidate, data.batch);
  for (const double level : {0.95, 0.9818}) {
    const SignedRankInterval i = signed_rank_interval(pairs, level);
    line(name + " interval", {i.estimate, i.lower, i.upper});
  }
  for (const double cap : {1.0, 1.01, 1.02}) {
    const GateResult gate = judge_gate(pairs, {.cap = cap});
    std::printf("%s %s", name.c_str(), std::string(verdict_name(gate.verdict)).c_str());
    for (const std::string& reason : gate.reasons)
      std::printf(" %s", reason.c_str());
    std::printf("\n");
    print_test(name + " test", gate.test);
  }
  const TailResult tail = judge_tail({data.reference, data.candidate, data.batch, pairs.batches});
  line(name + " tail",
       {tail.p_fail, tail.excess, tail.slow_share, tail.pass_statistic, tail.pass_limit});
  const auto geomean = geometric_mean({{pairs, 1}, {pairs, 2}}, pairs.batches, 0.95, {.cap = 1.01});
  if (geomean) {
    line(name + " geomean", {geomean->estimate, geomean->lower, geomean->upper});
    print_test(name + " geomean", geomean->gate.test);
  }
  const Outliers odd = outliers(data.candidate);
  const Variance spread = variance(pairs);
  line(name + " spread", {odd.threshold, spread.pair_sd, spread.batch_sd, spread.batch_share});
  if (const auto l = lag1(pairs.x, 3))
    line(name + " lag1", {l->r, l->p});
  if (const auto order = order_effect(pairs, data.candidate_first))
    line(name + " order", {order->effect, order->t, order->p});
  if (const auto drift = trend(pairs))
    line(name + " trend", {drift->per_batch, drift->p});
}

void print_bootstrap(const std::string& name, const Data& data, int batches) {
  BootstrapCase input;
  input.batches.resize(static_cast<std::size_t>(batches));
  for (std::size_t i = 0; i < data.batch.size(); ++i)
    input.batches[static_cast<std::size_t>(data.batch[i])].push_back(data.candidate[i] /
                                                                     data.reference[i]);
  BootstrapCase twice = input;
  twice.name = "twice";
  for (const auto generator :
       {BootstrapGenerator::python_mt19937, BootstrapGenerator::splitmix64}) {
    BootstrapOptions options;
    options.draws = 400;
    options.seed = 20260906;
    options.generator = generator;
    const BootstrapResult result = hierarchical_bootstrap({input, twice}, options);
    for (const BootstrapInterval& i : {result.cases[0], result.cases[1], result.geomean})
      line(name + " bootstrap", {i.estimate, i.lower, i.upper});
  }
}

void print_predictions() {
  for (const double r : {0.2, 0.9, 1.7, 2.2})
    line("prediction", {decision_probability(r, 10, 40), predicted_half_width(0.01 * r, 10, 25),
                        static_cast<double>(batches_for_probability(r, 10, 0.8).value_or(-1)),
                        static_cast<double>(batches_for_half_width(r, 10, 0.5).value_or(-1))});
  for (const int pairs : {24, 60, 90, 120, 700})
    line("tail power",
         {tail_power(pairs).five_percent_doubled, tail_power(pairs).one_percent_tripled});
}

void print_simulation() {
  CoveragePlan plan;
  plan.bootstrap_draws = 50;
  for (const CoverageCell& c : simulate_coverage({5, 40, 1}, plan))
    line(std::string("simulated ") + std::string(noise_name(c.noise)),
         {c.coverage, c.power, c.bootstrap_coverage.value_or(-1)});
}

}  // namespace

int main() {
  print_functions();
  for (const int kind : {0, 1, 2, 3})
    for (const int batches : {1, 3, 8, 10, 20, 60}) {
      const Data data = make_data(kind, batches);
      const std::string name = "kind" + std::to_string(kind) + " b" + std::to_string(batches);
      print_rules(name, data);
      print_bootstrap(name, data, batches);
    }
  print_predictions();
  print_simulation();
  return 0;
}
