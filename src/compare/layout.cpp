#include "layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace assay::compare {
namespace {

constexpr int kMinBatches = 8;  // fewer can't be judged
constexpr int kMaxCount = 1'000'000;
constexpr std::int64_t kMaxRuns = 2'000'000;
constexpr int kDefaultBatches = 10, kTailBatches = 20, kDefaultPairs = 6;
constexpr int kWidestSplit = 32;  // more batches than this cost more warm-ups than they decide
constexpr std::array<int, 4> kLooks = {8, 12, 16, 20};

Error bad(std::string what, std::string where) {
  return Error{ErrorCode::invalid_argument, std::move(what), std::move(where)};
}

Result<void> check_count(const std::optional<int>& value, int min, const std::string& flag) {
  if (value && (*value < min || *value > kMaxCount))
    return tl::unexpected(
        bad(fmt::format("{} is out of range: use {} to {}", *value, min, kMaxCount), flag));
  return {};
}

Result<void> check_counts(const CompareOptions& options) {
  ASSAY_TRY_VOID(check_count(options.batches, 1, "--batches"));
  ASSAY_TRY_VOID(check_count(options.pairs, 1, "--pairs"));
  ASSAY_TRY_VOID(check_count(options.warmups, 0, "--warmup"));
  ASSAY_TRY_VOID(check_count(options.runs, 1, "--runs"));
  ASSAY_TRY_VOID(check_count(options.min_runs, 1, "--min-runs"));
  ASSAY_TRY_VOID(check_count(options.max_runs, 1, "--max-runs"));
  return {};
}

// The number of batches that splits `runs` evenly and lies nearest to `wanted`; 0 when there is
// none.
int even_split(int runs, int wanted) {
  int best = 0;
  for (int b = kMinBatches; b <= std::min(runs, kWidestSplit); ++b)
    if (runs % b == 0 && (best == 0 || std::abs(b - wanted) < std::abs(best - wanted)))
      best = b;
  return best;
}

Result<Layout> spread_runs(const CompareOptions& options, Layout layout,
                           std::vector<std::string>& notices) {
  const int runs = *options.runs;
  const int wanted = options.gates.tail ? kTailBatches : kDefaultBatches;
  if (options.batches && options.pairs && *options.batches * std::int64_t{*options.pairs} != runs)
    return tl::unexpected(
        bad(fmt::format("{} runs are not --batches {} x --pairs {}: leave one out", runs,
                        *options.batches, *options.pairs),
            "--runs"));
  if (options.batches || options.pairs) {
    const int known = options.batches ? *options.batches : *options.pairs;
    if (runs % known != 0)
      return tl::unexpected(
          bad(fmt::format("{} runs can't be split evenly into {} {}: use a multiple of {}", runs,
                          known, options.batches ? "batches" : "pairs per batch", known),
              "--runs"));
    layout.batches = options.batches ? known : runs / known;
    layout.pairs = runs / layout.batches;
    return layout;
  }
  if (runs < kMinBatches) {
    layout.batches = runs;
    layout.pairs = 1;
    return layout;
  }
  layout.batches = even_split(runs, wanted);
  if (layout.batches > 0) {
    layout.pairs = runs / layout.batches;
    return layout;
  }
  layout.batches = wanted;
  layout.pairs = (runs + wanted - 1) / wanted;
  notices.push_back(
      fmt::format("-r {}: no even split into 8 to {} batches exists; {} x {} = {} pairs "
                  "are planned",
                  runs, kWidestSplit, layout.batches, layout.pairs, layout.batches * layout.pairs));
  return layout;
}

// -m and -M bound the total number of pairs: they choose the pairs per batch and keep the looks
// that lie between them.
Result<Layout> adaptive_layout(const CompareOptions& options, Layout layout) {
  const int last = options.batches.value_or(kLooks.back());
  if (std::find(kLooks.begin(), kLooks.end(), last) == kLooks.end())
    return tl::unexpected(bad(fmt::format("--adaptive looks after 8, 12, 16 and 20 batches, not "
                                          "after {}: use one of these",
                                          last),
                              "--batches"));
  if (options.min_runs && options.max_runs && *options.min_runs > *options.max_runs)
    return tl::unexpected(
        bad(fmt::format("{} is more than --max-runs {}", *options.min_runs, *options.max_runs),
            "--min-runs"));
  layout.pairs = kDefaultPairs;
  if (options.pairs)
    layout.pairs = *options.pairs;
  else if (options.max_runs)
    layout.pairs = std::max(1, *options.max_runs / last);
  else if (options.min_runs)
    layout.pairs = std::max(kDefaultPairs, (*options.min_runs + last - 1) / last);
  for (const int look : kLooks) {
    const std::int64_t total = std::int64_t{look} * layout.pairs;
    if (look <= last && total >= options.min_runs.value_or(0) &&
        total <= options.max_runs.value_or(std::numeric_limits<int>::max()))
      layout.looks.push_back(look);
  }
  if (layout.looks.empty())
    return tl::unexpected(
        bad(fmt::format("no look lies between the bounds: with {} pairs per batch the looks come "
                        "after {}, {}, {} and {} pairs",
                        layout.pairs, 8 * layout.pairs, 12 * layout.pairs, 16 * layout.pairs,
                        20 * layout.pairs),
            options.max_runs ? "--max-runs" : "--min-runs"));
  layout.batches = layout.looks.back();
  return layout;
}

bool has_gate(const verdict::Gates& gates) {
  return gates.wall_cap || gates.cpu_cap || gates.rss_cap || gates.tail;
}

void note_sanity(const CompareOptions& options, const Layout& layout, std::size_t cases,
                 std::vector<std::string>& notices) {
  if (layout.batches < kMinBatches && has_gate(options.gates)) {
    notices.push_back(
        fmt::format("too_few_batches: {} batches can't decide a gate (it will be "
                    "INCONCLUSIVE); use --batches {} or more",
                    layout.batches, kMinBatches));
    return;
  }
  const double first_level = layout.looks.empty() ? 0.025 : 0.0091;
  const int first = layout.looks.empty() ? layout.batches : layout.looks.front();
  if (has_gate(options.gates) && static_cast<double>(cases) * std::ldexp(1.0, -first) > first_level)
    notices.push_back(
        fmt::format("fail_impossible_at_this_layout: {} batches can't show a FAIL "
                    "among {} cases; use more --batches",
                    first, cases));
}

}  // namespace

Result<Layout> make_layout(const CompareOptions& options, std::size_t cases,
                           std::vector<std::string>& notices) {
  ASSAY_TRY_VOID(check_counts(options));
  if (!options.adaptive && (options.min_runs || options.max_runs))
    return tl::unexpected(
        bad("bounds an adaptive campaign: add --adaptive, or use -r N for a fixed number of pairs",
            options.min_runs ? "--min-runs" : "--max-runs"));
  if (options.adaptive && options.runs)
    return tl::unexpected(
        bad("fixes the number of pairs, but --adaptive chooses it: use -m and -M", "--runs"));
  Layout layout;
  layout.warmups = options.warmups.value_or(1);
  if (options.adaptive) {
    ASSAY_TRY(layout, adaptive_layout(options, layout));
  } else if (options.runs) {
    ASSAY_TRY(layout, spread_runs(options, layout, notices));
  } else {
    layout.batches = options.batches.value_or(options.gates.tail ? kTailBatches : kDefaultBatches);
    layout.pairs = options.pairs.value_or(kDefaultPairs);
  }
  const std::int64_t runs = std::int64_t{2} * layout.batches *
                            (std::int64_t{layout.pairs} + layout.warmups) *
                            static_cast<std::int64_t>(cases);
  if (runs > kMaxRuns)
    return tl::unexpected(
        bad(fmt::format("the plan has {} runs, more than {}: use fewer --batches, "
                        "--pairs or parameter points",
                        runs, kMaxRuns),
            "plan"));
  note_sanity(options, layout, cases, notices);
  return layout;
}

}  // namespace assay::compare
