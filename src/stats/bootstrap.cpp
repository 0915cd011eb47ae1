#include "assay/stats/bootstrap.h"

#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
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

// Finds the value at a position among many drawn ranks: they are counted by their high bits, in a
// table that stays in the nearest cache, and then only those of one bin by their low bits.
class CoarseCounts {
 public:
  CoarseCounts() = default;
  explicit CoarseCounts(std::size_t ranks)
      : shift_(std::max(0, static_cast<int>(std::bit_width(ranks)) - kBinBits)),
        bins_((ranks >> shift_) + 1),
        fine_(std::size_t{1} << shift_) {}

  void clear() { std::fill(bins_.begin(), bins_.end(), 0U); }
  void add(std::uint32_t rank) { ++bins_[rank >> shift_]; }

  // The rank at `position` (from 0, below `count`) of the added ranks drawn[0..count) in order.
  std::uint32_t rank_at(std::uint32_t position, const std::uint32_t* drawn, std::uint32_t count) {
    std::uint32_t bin = 0;
    for (; bins_[bin] <= position; ++bin)
      position -= bins_[bin];
    std::fill(fine_.begin(), fine_.end(), 0U);
    const std::uint32_t first = bin << shift_;
    for (std::uint32_t i = 0; i < count; ++i)
      if (drawn[i] >> shift_ == bin)
        ++fine_[drawn[i] - first];
    std::uint32_t low = 0;
    for (; fine_[low] <= position; ++low)
      position -= fine_[low];
    return first + low;
  }

 private:
  static constexpr int kBinBits = 12;  // 16 KiB of counts
  int shift_ = 0;
  std::vector<std::uint32_t> bins_, fine_;
};

// One case prepared for counting: ratios sorted, every pair of every batch known by its rank.
//
// A draw's median lies near the middle rank. So each pair carries one byte for each of the 16 ranks
// around the middle: 1 where its own rank is at most that one. Their sums over the drawn pairs are
// the cumulative counts, from which the median follows without a loop or a branch to mispredict.
// Medians outside that window, and draws of more pairs than a byte counts, are counted rank by
// rank.
class RankedCase {
 public:
  explicit RankedCase(const BootstrapCase& input) : name_(input.name) {
    std::size_t most = 0;
    for (const std::vector<double>& batch : input.batches) {
      ASSAY_CHECK(!batch.empty(), "a bootstrap batch without pairs");
      most = std::max(most, batch.size());
      for (const double ratio : batch) {
        ASSAY_CHECK(ratio > 0 && std::isfinite(ratio), "a bootstrap ratio must be positive");
        sorted_.push_back(ratio);
      }
    }
    std::sort(sorted_.begin(), sorted_.end());
    pivot_ = static_cast<std::uint32_t>(sorted_.size() / 2);
    window_start_ = pivot_ - std::min(pivot_, kWindow / 2);
    large_ = sorted_.size() >= kLargeCase;
    for (const std::vector<double>& batch : input.batches) {
      offsets_.push_back(static_cast<std::uint32_t>(large_ ? ranks_.size() : pairs_.size()));
      for (const double ratio : batch) {
        const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), ratio);
        add(static_cast<std::uint32_t>(at - sorted_.begin()));
      }
    }
    offsets_.push_back(static_cast<std::uint32_t>(sorted_.size()));
    if (large_)
      coarse_ = CoarseCounts(sorted_.size());
    else
      counts_.assign(sorted_.size(), 0);
    drawn_.resize(most * input.batches.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      const double next = sorted_[std::min(i + 1, sorted_.size() - 1)];
      for (const double value : {sorted_[i], (sorted_[i] + next) / 2})
        medians_.push_back({value, log(value)});
    }
  }

  const std::string& name() const { return name_; }
  double estimate() const { return median(sorted_); }

  struct Median {
    double value, log;
  };
  // The median of the pairs drawn from the chosen batches.
  template <typename Choices>
  Median draw(const std::vector<std::uint32_t>& chosen, Choices& choices) {
    return large_ ? draw_large(chosen, choices) : draw_small(chosen, choices);
  }

 private:
  static constexpr std::uint32_t kWindow = 16;
  static constexpr std::uint32_t kMostInBytes = 255;  // drawn pairs
  // From here on a table of counts per rank, touched all over, no longer fits the nearest cache.
  static constexpr std::size_t kLargeCase = std::size_t{1} << 12;
  struct RankedPair {
    std::uint64_t low, high;  // the window's bytes, its smallest rank in the lowest one
    std::uint32_t rank;
  };

  void add(std::uint32_t rank) {
    if (large_)
      ranks_.push_back(rank);
    else
      pairs_.push_back(ranked(rank));
  }

  template <typename Choices>
  Median draw_large(const std::vector<std::uint32_t>& chosen, Choices& choices) {
    coarse_.clear();
    std::uint32_t* next = drawn_.data();
    for (const std::uint32_t b : chosen) {
      const std::uint32_t* const ranks = &ranks_[offsets_[b]];
      const std::uint32_t n = offsets_[b + 1] - offsets_[b];
      choices.choose(n, n, [&](std::uint32_t i) {
        *next = ranks[i];
        coarse_.add(*next++);
      });
    }
    const auto drawn = static_cast<std::uint32_t>(next - drawn_.data());
    const std::uint32_t lower = coarse_.rank_at((drawn - 1) / 2, drawn_.data(), drawn);
    return median_of(lower,
                     drawn % 2 == 1 ? lower : coarse_.rank_at(drawn / 2, drawn_.data(), drawn));
  }

  template <typename Choices>
  Median draw_small(const std::vector<std::uint32_t>& chosen, Choices& choices) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t* next = drawn_.data();
    for (const std::uint32_t b : chosen) {
      const RankedPair* const pairs = &pairs_[offsets_[b]];
      const std::uint32_t n = offsets_[b + 1] - offsets_[b];
      choices.choose(n, n, [&](std::uint32_t i) {
        const RankedPair& pair = pairs[i];
        low += pair.low;
        high += pair.high;
        *next++ = pair.rank;
      });
    }
    const auto drawn = static_cast<std::uint32_t>(next - drawn_.data());
    std::uint32_t lower = window_position((drawn - 1) / 2, low, high);
    std::uint32_t upper = window_position(drawn / 2, low, high);
    // A first position of 0 may stand for any rank before the window.
    if (drawn <= kMostInBytes && upper < kWindow && (lower > 0 || window_start_ == 0)) [[likely]] {
      lower += window_start_;
      upper += window_start_;
    } else {
      std::tie(lower, upper) = count_ranks(drawn);
    }
    return median_of(lower, upper);
  }

  // Most draws end on one value or between two neighbours, whose logs are computed once.
  Median median_of(std::uint32_t lower, std::uint32_t upper) const {
    if (upper - lower <= 1)
      return medians_[2 * lower + (upper - lower)];
    const double value = (sorted_[lower] + sorted_[upper]) / 2;
    return {value, log(value)};
  }

  RankedPair ranked(std::uint32_t rank) const {
    RankedPair pair{0, 0, rank};
    for (std::uint32_t k = 0; k < kWindow; ++k)
      (k < 8 ? pair.low : pair.high) |= std::uint64_t{rank <= window_start_ + k} << (8 * (k % 8));
    return pair;
  }

  // Where in the window the drawn value at `position` (from 0) lies: the number of bytes, each a
  // cumulative count, that are at most `position`. 128 + position - count has its top bit set
  // exactly there, and no byte borrows from the next, as long as counts are at most 255 and
  // `position` is the middle of them.
  static std::uint32_t window_position(std::uint32_t position, std::uint64_t low,
                                       std::uint64_t high) {
    const std::uint64_t limit = (position + 128) * 0x0101010101010101U;
    const std::uint64_t top = 0x8080808080808080U;
    const std::uint64_t reached = (((limit - low) & top) >> 7) + (((limit - high) & top) >> 7);
    return static_cast<std::uint32_t>((reached * 0x0101010101010101U) >> 56);
  }

  // The two middle ranks among the first `drawn` of `drawn_`; equal where one rank holds both. Kept
  // out of draw(), whose loop needs the registers.
  [[gnu::noinline]] std::pair<std::uint32_t, std::uint32_t> count_ranks(std::uint32_t drawn) {
    std::fill(counts_.begin(), counts_.end(), 0U);
    std::uint32_t below = 0;
    for (std::uint32_t i = 0; i < drawn; ++i) {
      ++counts_[drawn_[i]];
      below += drawn_[i] < pivot_ ? 1 : 0;
    }
    // The middle is near the pivot, so few steps are needed.
    const std::uint32_t position = (drawn - 1) / 2;
    std::uint32_t lower = pivot_;
    while (below > position)
      below -= counts_[--lower];
    while (below + counts_[lower] <= position)
      below += counts_[lower++];
    std::uint32_t upper = lower;
    if (below + counts_[lower] <= drawn / 2)
      do
        ++upper;
      while (counts_[upper] == 0);
    return {lower, upper};
  }

  std::string name_;
  std::vector<double> sorted_;
  std::vector<Median> medians_;       // per rank: of its value, and of the mean with the next one
  std::vector<RankedPair> pairs_;     // of a case that is not large
  std::vector<std::uint32_t> ranks_;  // of a large one
  std::vector<std::uint32_t> offsets_;
  CoarseCounts coarse_;
  bool large_ = false;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> drawn_;
  std::uint32_t pivot_ = 0;
  std::uint32_t window_start_ = 0;
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
      const RankedCase::Median median = cases[k].draw(chosen, choices);
      draws.cases[k][t] = median.value;
      log_sum += median.log;
    }
    draws.geomean[t] = exp(log_sum / static_cast<double>(cases.size()));
    if (options.drawn)
      options.drawn(static_cast<std::int64_t>(t) + 1);
  }
  return draws;
}

void set_limits(BootstrapInterval& interval, std::vector<double> draws, double level) {
  interval.lower = percentile_reordering(draws, (1 - level) / 2);
  interval.upper = percentile_reordering(draws, (1 + level) / 2);
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
