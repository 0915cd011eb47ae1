// The interval rules against a plain nth_element loop; bench_numpy.py prints numpy's time beside
// it.
#include "assay/base/random.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/math.h"
#include "assay/stats/pairs.h"
#include "assay/stats/signed_rank.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

namespace {

using assay::stats::BootstrapCase;

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

struct SplitMix {
  assay::SplitMix64 g{7};
  // The same bounded draw that the library makes from SplitMix64.
  std::size_t operator()(std::size_t n) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(g.next()) * n) >> 64);
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

}  // namespace

int main() {
  using namespace assay::stats;
  const auto cases = synthetic_cases();
  double sink = 0;
  const auto library = [&](BootstrapGenerator generator) {
    return best_ms(7, [&] {
      BootstrapOptions options;
      options.draws = kDraws;
      options.seed = 7;
      options.generator = generator;
      sink += hierarchical_bootstrap(cases, options).geomean.upper;
    });
  };
  const double mt = library(BootstrapGenerator::python_mt19937);
  const double mt_loop = best_ms(7, [&] { sink += nth_element_loop(cases, Python{}); });
  const double mt_alone = best_ms(7, [&] { sink += generator_only(Python{}); });
  const double sm = library(BootstrapGenerator::splitmix64);
  const double sm_loop = best_ms(7, [&] { sink += nth_element_loop(cases, SplitMix{}); });
  fmt::print("method 1, {} cases x {} pairs x {} draws, one thread, best of 7, ms\n", kCases,
             kBatches * kPairs, kDraws);
  fmt::print(
      "  MT19937:    rank counting {:.1f}, nth_element {:.1f} (ratio {:.2f}); the generator "
      "alone {:.1f} ({:.0f} % of ours)\n",
      mt, mt_loop, mt_loop / mt, mt_alone, 100 * mt_alone / mt);
  fmt::print("  SplitMix64: rank counting {:.1f}, nth_element {:.1f} (ratio {:.2f})\n", sm, sm_loop,
             sm_loop / sm);
  fmt::print("rank_counting_splitmix_ms {:.3f}\n", sm);

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
  fmt::print("method 2 with flip, {} cases x {} pairs: {:.3f} ms\n", kCases, kBatches * kPairs,
             rule);
  return sink > 0 ? 0 : 1;
}
