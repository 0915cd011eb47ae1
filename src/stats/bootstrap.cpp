#include "assay/stats/bootstrap.h"

#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::stats {
namespace {

// The original's stream: floor(uniform * n), two MT19937 outputs per choice.
class PythonChoices {
 public:
  explicit PythonChoices(std::uint64_t seed) : random_(seed) {}
  // Calls use(i) `count` times with a uniform i below n.
  template <typename Use>
  void choose(std::uint32_t n, std::uint32_t count, const Use& use) {
    for (std::uint32_t i = 0; i < count; ++i)
      use(static_cast<std::uint32_t>(random_.choice_index(n)));
  }

 private:
  PythonRandom random_;
};

// Two choices per SplitMix64 output, the high half first: (half * n) >> 32. Of an odd count's last
// output the low half is dropped. The mixing stands here so that it is inlined.
class SplitChoices {
 public:
  explicit SplitChoices(std::uint64_t seed) : state_(seed) {}
  template <typename Use>
  void choose(std::uint32_t n, std::uint32_t count, const Use& use) {
    for (std::uint32_t i = 0; i < count; i += 2) {
      state_ += 0x9e3779b97f4a7c15U;
      std::uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      z ^= z >> 31;
      use(static_cast<std::uint32_t>(((z >> 32) * n) >> 32));
      if (i + 1 < count)
        use(static_cast<std::uint32_t>(((z & 0xffffffffU) * n) >> 32));
    }
  }

 private:
  std::uint64_t state_;
};

// One case prepared for counting: ratios sorted, every pair of every batch known by its rank.
class RankedCase {
 public:
  explicit RankedCase(const BootstrapCase& input) : name_(input.name) {
    for (const std::vector<double>& batch : input.batches) {
      ASSAY_CHECK(!batch.empty(), "a bootstrap batch without pairs");
      for (const double ratio : batch) {
        ASSAY_CHECK(ratio > 0 && std::isfinite(ratio), "a bootstrap ratio must be positive");
        sorted_.push_back(ratio);
      }
    }
    std::sort(sorted_.begin(), sorted_.end());
    for (const std::vector<double>& batch : input.batches) {
      offsets_.push_back(static_cast<std::uint32_t>(ranks_.size()));
      for (const double ratio : batch) {
        const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), ratio);
        ranks_.push_back(static_cast<std::uint32_t>(at - sorted_.begin()));
      }
    }
    offsets_.push_back(static_cast<std::uint32_t>(ranks_.size()));
    counts_.assign(sorted_.size(), 0);
    logs_.reserve(sorted_.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      logs_.push_back(log(sorted_[i]));
      if (i > 0)
        middle_logs_.push_back(log((sorted_[i - 1] + sorted_[i]) / 2));
    }
  }

  const std::string& name() const { return name_; }
  double estimate() const { return median(sorted_); }

  // Draws the pairs of the chosen batches; then value() and log_value() are the draw's median.
  template <typename Choices>
  void draw(const std::vector<std::uint32_t>& chosen, Choices& choices) {
    std::fill(counts_.begin(), counts_.end(), 0U);
    const auto pivot = static_cast<std::uint32_t>(sorted_.size() / 2);
    std::uint32_t* const counts = counts_.data();
    std::uint32_t below = 0;
    std::uint32_t drawn = 0;
    for (const std::uint32_t b : chosen) {
      const std::uint32_t* ranks = &ranks_[offsets_[b]];
      const std::uint32_t n = offsets_[b + 1] - offsets_[b];
      choices.choose(n, n, [&](std::uint32_t i) {
        const std::uint32_t rank = ranks[i];
        ++counts[rank];
        below += rank < pivot ? 1 : 0;
      });
      drawn += n;
    }
    lower_ = walk_to((drawn - 1) / 2, pivot, below);
    upper_ = lower_;
    if (drawn % 2 == 0 && reached_ <= drawn / 2)
      do
        ++upper_;
      while (counts_[upper_] == 0);
  }
  double value() const {
    return lower_ == upper_ ? sorted_[lower_] : (sorted_[lower_] + sorted_[upper_]) / 2;
  }
  // Each log is computed once: nearly all draws end on one value or between two neighbours.
  double log_value() const {
    if (lower_ == upper_)
      return logs_[lower_];
    return upper_ == lower_ + 1 ? middle_logs_[lower_] : log(value());
  }

 private:
  // The rank that holds the drawn value at `position` (from 0), starting from `pivot`, below which
  // `below` drawn values lie: the middle is near, so few steps are needed.
  std::uint32_t walk_to(std::uint32_t position, std::uint32_t pivot, std::uint32_t below) {
    std::uint32_t rank = pivot;
    while (below > position)
      below -= counts_[--rank];
    while (below + counts_[rank] <= position)
      below += counts_[rank++];
    reached_ = below + counts_[rank];
    return rank;
  }

  std::string name_;
  std::vector<double> sorted_;
  std::vector<double> logs_;
  std::vector<double> middle_logs_;  // of the mean of value i and value i + 1
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> counts_;
  std::uint32_t lower_ = 0;
  std::uint32_t upper_ = 0;
  std::uint32_t reached_ = 0;
};

struct Draws {
  std::vector<std::vector<double>> cases;
  std::vector<double> geomean;
};

template <typename Choices>
Draws draw_all(std::vector<RankedCase>& cases, std::uint32_t batches,
               const BootstrapOptions& options) {
  Choices choices(options.seed);
  const auto total = static_cast<std::size_t>(options.draws);
  Draws draws;
  draws.cases.assign(cases.size(), std::vector<double>(total));
  draws.geomean.resize(total);
  std::vector<std::uint32_t> chosen(batches);
  for (std::size_t t = 0; t < total; ++t) {
    std::size_t next = 0;
    choices.choose(batches, batches, [&](std::uint32_t b) { chosen[next++] = b; });
    double log_sum = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      cases[k].draw(chosen, choices);
      draws.cases[k][t] = cases[k].value();
      log_sum += cases[k].log_value();
    }
    draws.geomean[t] = exp(log_sum / static_cast<double>(cases.size()));
  }
  return draws;
}

void set_limits(BootstrapInterval& interval, std::vector<double> draws, double level) {
  interval.lower = percentile(draws, (1 - level) / 2);
  interval.upper = percentile(std::move(draws), (1 + level) / 2);
}

}  // namespace

BootstrapResult hierarchical_bootstrap(std::vector<BootstrapCase> cases,
                                       const BootstrapOptions& options) {
  ASSAY_CHECK(!cases.empty() && !cases.front().batches.empty(), "a bootstrap needs a case");
  ASSAY_CHECK(options.draws >= 1, "a bootstrap needs at least one draw");
  std::sort(cases.begin(), cases.end(),
            [](const BootstrapCase& a, const BootstrapCase& b) { return a.name < b.name; });
  const std::size_t batches = cases.front().batches.size();
  std::vector<RankedCase> ranked;
  ranked.reserve(cases.size());
  for (const BootstrapCase& c : cases) {
    ASSAY_CHECK(c.batches.size() == batches, "all cases of a group share the batches");
    ranked.emplace_back(c);
  }
  const auto batch_count = static_cast<std::uint32_t>(batches);
  Draws draws = options.generator == BootstrapGenerator::python_mt19937
                    ? draw_all<PythonChoices>(ranked, batch_count, options)
                    : draw_all<SplitChoices>(ranked, batch_count, options);
  BootstrapResult result;
  double log_sum = 0;
  for (std::size_t k = 0; k < ranked.size(); ++k) {
    BootstrapInterval interval{ranked[k].name(), ranked[k].estimate(), 0, 0};
    log_sum += log(interval.estimate);
    set_limits(interval, std::move(draws.cases[k]), options.level);
    result.cases.push_back(std::move(interval));
  }
  result.geomean = {"geomean", exp(log_sum / static_cast<double>(ranked.size())), 0, 0};
  set_limits(result.geomean, std::move(draws.geomean), options.level);
  return result;
}

std::vector<ReplayedPair> replay_evaluator_order(const std::vector<std::string>& cases, int batches,
                                                 int warmups, int pairs, std::uint64_t seed) {
  PythonRandom random(seed);
  std::vector<ReplayedPair> order;
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::string> shuffled = cases;
    random.shuffle(shuffled);
    for (const std::string& name : shuffled) {
      for (int i = 0; i < warmups + pairs; ++i) {
        std::vector<int> candidate_side{1, 0};
        random.shuffle(candidate_side);
        const bool warmup = i < warmups;
        order.push_back({batch, name, warmup, warmup ? i : i - warmups, candidate_side[0] == 1});
      }
    }
  }
  return order;
}

}  // namespace assay::stats
