// bench_stats [NUMPY_MS]: the interval rules against a plain nth_element loop and, where its time
// is given (bench_numpy.py prints it), against numpy.
#include "figure.h"

#include "assay/base/random.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/math.h"
#include "assay/stats/pairs.h"
#include "assay/stats/signed_rank.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using assay::benchmarks::kNoGoal;
using assay::benchmarks::print_figure;
using assay::stats::BootstrapCase;
using assay::stats::BootstrapGenerator;

constexpr int kCases = 11, kBatches = 10, kPairs = 6, kDraws = 10000;

std::vector<BootstrapCase> synthetic_cases() {
  assay::Xoshiro256 random(7);
  std::vector<BootstrapCase> cases;
  for (int k = 0; k < kCases; ++k) {
    BootstrapCase c{fmt::format("case{:02}", k), {}};
    for (int b = 0; b < kBatches; ++b) {
      std::vector<double> ratios;
      for (int i = 0; i < kPairs; ++i)
        ratios.push_back(1 + 0.02 * (random.uniform() + random.uniform() - 1));
      c.batches.push_back(ratios);
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

template <typename F>
double best_ms(int repeats, F&& work) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// The same choices that the library makes from SplitMix64, two per output, and inlined as there.
struct SplitMix {
  std::uint64_t state = 7, output = 0;
  bool second = false;
  std::size_t operator()(std::size_t n) {
    if (second) {
      second = false;
      return ((output & 0xffffffffU) * n) >> 32;
    }
    second = true;
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    output = z ^ (z >> 31);
    return ((output >> 32) * n) >> 32;
  }
};
struct Python {
  assay::PythonRandom g{7};
  std::size_t operator()(std::size_t n) { return g.choice_index(n); }
};

// The straightforward loop: gather, nth_element, logarithms of libm.
template <typename Draw>
double nth_element_loop(const std::vector<BootstrapCase>& cases, Draw draw) {
  double sink = 0;
  std::vector<std::size_t> ids(kBatches);
  std::vector<double> values;
  for (int d = 0; d < kDraws; ++d) {
    for (auto& id : ids)
      id = draw(kBatches);
    double logs = 0;
    for (const auto& c : cases) {
      values.clear();
      for (const std::size_t id : ids) {
        for (int i = 0; i < kPairs; ++i)
          values.push_back(c.batches[id][draw(kPairs)]);
      }
      const auto mid = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), mid, values.end());
      logs += std::log((*mid + *std::max_element(values.begin(), mid)) / 2);
    }
    sink += std::exp(logs / kCases);
  }
  return sink;
}

template <typename Draw>
double generator_only(Draw draw) {
  double sink = 0;
  for (int d = 0; d < kDraws * (kBatches + kCases * kBatches * kPairs); ++d)
    sink += static_cast<double>(draw(kPairs));
  return sink;
}

struct Times {
  double library, loop, generator;  // ms
};

template <typename Draw>
Times times_of(BootstrapGenerator generator, const std::vector<BootstrapCase>& cases,
               double& sink) {
  assay::stats::BootstrapOptions options;
  options.draws = kDraws;
  options.seed = 7;
  options.generator = generator;
  return {best_ms(7, [&] { sink += hierarchical_bootstrap(cases, options).geomean.upper; }),
          best_ms(7, [&] { sink += nth_element_loop(cases, Draw{}); }),
          best_ms(7, [&] { sink += generator_only(Draw{}); })};
}

std::string ms(double value) {
  return fmt::format("{:.2f} ms", value);
}
std::string times(double ratio) {
  return fmt::format("{:.1f} x", ratio);
}

void print_numpy(const std::optional<double>& numpy, double ours, std::string_view goal) {
  print_figure("faster than vectorised numpy", numpy ? times(*numpy / ours) : "not measured", goal);
}

// The goals of 5 and 10 are those of SplitMix64. The stream that equals CPython's has a goal of its
// own, because drawing its numbers is most of the time and the same for every loop around it.
void print_bootstrap(const std::vector<BootstrapCase>& cases, const std::optional<double>& numpy,
                     double& sink) {
  const Times sm = times_of<SplitMix>(BootstrapGenerator::splitmix64, cases, sink);
  const Times mt = times_of<Python>(BootstrapGenerator::python_mt19937, cases, sink);
  fmt::print("method 1, {} cases x {} pairs x {} draws, one thread, best of 7\n", kCases,
             kBatches * kPairs, kDraws);
  print_figure("numpy, vectorised", numpy ? ms(*numpy) : "not measured", kNoGoal);
  fmt::print(" SplitMix64 (the simulations' generator): the goals are for this one\n");
  print_figure("nth_element loop", ms(sm.loop), kNoGoal);
  print_figure("rank counting", ms(sm.library), kNoGoal);
  print_figure("faster than the nth_element loop", times(sm.loop / sm.library), ">= 5 x");
  print_numpy(numpy, sm.library, ">= 10 x");
  fmt::print(" MT19937 (the reports' generator, equal to CPython's)\n");
  print_figure("nth_element loop", ms(mt.loop), kNoGoal);
  print_figure("rank counting", ms(mt.library), kNoGoal);
  print_figure("its generator alone", ms(mt.generator), kNoGoal);
  print_figure("the generator's share of rank counting",
               fmt::format("{:.0f} %", 100 * mt.generator / mt.library), kNoGoal);
  print_figure("faster than the nth_element loop", times(mt.loop / mt.library), ">= 2 x");
  print_figure("what no rule could exceed: the loop over the generator alone",
               times(mt.loop / mt.generator), kNoGoal);
  print_numpy(numpy, mt.library, kNoGoal);
}

void print_signed_rank(const std::vector<BootstrapCase>& cases, double& sink) {
  using namespace assay::stats;
  const double rule = best_ms(20, [&] {
    for (const auto& c : cases) {
      Pairs pairs;
      pairs.batches = kBatches;
      for (int b = 0; b < kBatches; ++b) {
        for (const double r : c.batches[static_cast<std::size_t>(b)]) {
          pairs.x.push_back(assay::stats::log(r));
          pairs.batch.push_back(b);
        }
      }
      sink += signed_rank_interval(pairs, 0.95).upper + test_at(pairs, 0.1).p_flip_up;
    }
  });
  fmt::print("method 2 with flip, {} cases x {} pairs, one thread, best of 20\n", kCases,
             kBatches * kPairs);
  print_figure("all cases", ms(rule), "<= 2 ms");
}

}  // namespace

int main(int argc, char** argv) {
  const auto cases = synthetic_cases();
  const std::optional<double> numpy = argc > 1 ? std::optional(std::atof(argv[1])) : std::nullopt;
  double sink = 0;
  print_bootstrap(cases, numpy, sink);
  print_signed_rank(cases, sink);
  return sink > 0 ? 0 : 1;
}
