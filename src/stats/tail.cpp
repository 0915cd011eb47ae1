#include "assay/stats/tail.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace assay::stats {
namespace {

constexpr int kMinTailBatches = 6;
constexpr std::size_t kMinPairsPerBatch = 4;
constexpr std::size_t kMinPairsToPass = 72;
constexpr double kTailAlpha = 0.05;
constexpr double kSlowFactor = 1.1;
constexpr double kMaxSlowShare = 0.10;
constexpr double kMargin = 0.05;
constexpr double kFlipSteps = 512;
// Below this a difference of logs is the rounding of the sums, not a difference of the times.
constexpr double kRounding = 1e-12;

// log(mean) - median(log): what the mean has beyond the typical run.
double mean_over_median(const std::vector<double>& times) {
  double sum = 0;
  std::vector<double> logs;
  for (const double t : times) {
    sum += t;
    logs.push_back(log(t));
  }
  return log(sum / static_cast<double>(times.size())) - median(std::move(logs));
}

struct Batch {
  std::vector<double> reference;
  std::vector<double> candidate;
};

std::vector<Batch> split(const TailData& data) {
  ASSAY_CHECK(
      data.reference.size() == data.candidate.size() && data.reference.size() == data.batch.size(),
      "tail data needs three lists of the same length");
  std::vector<Batch> batches(static_cast<std::size_t>(data.batches));
  for (std::size_t i = 0; i < data.batch.size(); ++i) {
    ASSAY_CHECK(data.batch[i] >= 0 && data.batch[i] < data.batches, "batch ids are 0..batches-1");
    Batch& batch = batches[static_cast<std::size_t>(data.batch[i])];
    batch.reference.push_back(data.reference[i]);
    batch.candidate.push_back(data.candidate[i]);
  }
  return batches;
}

// The exact batch sign-flip on the batches' differences z.
void test_excess(const std::vector<Batch>& batches, TailResult& result) {
  std::vector<double> z;
  double largest = 0;
  double sum = 0;
  for (const Batch& batch : batches) {
    const double value = mean_over_median(batch.candidate) - mean_over_median(batch.reference);
    z.push_back(std::fabs(value) < kRounding ? 0 : value);
    largest = std::max(largest, std::fabs(z.back()));
    sum += z.back();
  }
  result.excess = exp(sum / static_cast<double>(z.size())) - 1;
  if (largest == 0)
    return;  // p stays 1: no difference at all is no alarm
  std::vector<std::int64_t> q;
  for (const double value : z)
    q.push_back(std::llround(kFlipSteps * (value / largest)));
  result.p_fail = sign_flip(q).mid_p_up();
}

struct SlowRuns {
  double only_candidate = 0;
  double only_reference = 0;
  std::vector<double> difference;  // per batch, candidate minus reference
};

SlowRuns count_slow(const TailData& data, TailResult& result) {
  const double reference_limit = kSlowFactor * median(data.reference);
  const double candidate_limit = kSlowFactor * median(data.candidate);
  SlowRuns slow;
  slow.difference.assign(static_cast<std::size_t>(data.batches), 0);
  for (std::size_t i = 0; i < data.batch.size(); ++i) {
    const bool candidate = data.candidate[i] > candidate_limit;
    const bool reference = data.reference[i] > reference_limit;
    result.candidate_slow += candidate ? 1 : 0;
    result.reference_slow += reference ? 1 : 0;
    double& difference = slow.difference[static_cast<std::size_t>(data.batch[i])];
    if (candidate && !reference) {
      ++slow.only_candidate;
      ++difference;
    } else if (reference && !candidate) {
      ++slow.only_reference;
      --difference;
    }
  }
  const double runs = 2.0 * static_cast<double>(data.batch.size());
  result.slow_share = (result.candidate_slow + result.reference_slow) / runs;
  return slow;
}

// Tango's score for a difference of paired shares against a margin of five points.
double tango_score(double b, double c, double n) {
  const double a2 = 2 * n;
  const double bq = -b - c + (2 * n - b + c) * kMargin;
  const double cq = -c * kMargin * (1 - kMargin);
  const double w = (std::sqrt(bq * bq - 4 * a2 * cq) - bq) / (2 * a2);
  return (b - c - n * kMargin) / std::sqrt(n * (2 * w + kMargin * (1 - kMargin)));
}

// How much more the batches' differences vary than independent pairs would; at least 1.
double design_effect(const SlowRuns& slow, double n) {
  const double b = slow.only_candidate;
  const double c = slow.only_reference;
  const double expected = b + c - (b - c) * (b - c) / n;
  if (b + c == 0 || expected <= 0)
    return 1;
  const auto batches = static_cast<double>(slow.difference.size());
  const double mean = (b - c) / batches;
  double squares = 0;
  for (const double d : slow.difference)
    squares += (d - mean) * (d - mean);
  return std::max(1.0, squares * batches / (batches - 1) / expected);
}

double logit(double p) {
  return log(p / (1 - p));
}

struct PowerPoint {
  double pairs;
  double power;
};

// Between two points, and beyond the outer ones along the same line: logit(power) is linear in
// log(pairs).
double interpolate(std::span<const PowerPoint> points, double pairs) {
  std::size_t i = 0;
  while (i + 2 < points.size() && pairs > points[i + 1].pairs)
    ++i;
  const PowerPoint& a = points[i];
  const PowerPoint& b = points[i + 1];
  const double share = log(pairs / a.pairs) / log(b.pairs / a.pairs);
  const double y = logit(a.power) + share * (logit(b.power) - logit(a.power));
  return 1 / (1 + exp(-y));
}

}  // namespace

TailResult judge_tail(const TailData& data) {
  TailResult result;
  if (data.batches < kMinTailBatches) {
    result.reasons.emplace_back("too_few_batches");
    return result;
  }
  const std::vector<Batch> batches = split(data);
  const SlowRuns slow = count_slow(data, result);
  const bool thin = std::any_of(batches.begin(), batches.end(), [](const Batch& batch) {
    return batch.reference.size() < kMinPairsPerBatch;
  });
  if (thin) {
    result.reasons.emplace_back("tail_needs_more_pairs");
    return result;
  }
  test_excess(batches, result);
  const auto n = static_cast<double>(data.batch.size());
  result.pass_statistic =
      tango_score(slow.only_candidate, slow.only_reference, n) / std::sqrt(design_effect(slow, n));
  result.pass_limit = -t_quantile(1 - kTailAlpha, data.batches - 1.0);
  if (result.p_fail <= kTailAlpha) {
    result.verdict = Verdict::fail;
  } else if (data.batch.size() >= kMinPairsToPass && result.slow_share <= kMaxSlowShare &&
             result.pass_statistic <= result.pass_limit) {
    result.verdict = Verdict::pass;
  } else {
    result.reasons.emplace_back(result.slow_share > kMaxSlowShare ? "tail_not_resolvable"
                                                                  : "tail_needs_more_pairs");
  }
  return result;
}

TailPower tail_power(int pairs) {
  // Clean noise, the candidate alone has the tail; simulate_tail_power() gives these within its
  // Monte-Carlo error.
  constexpr PowerPoint kDoubled[] = {{30, 0.16}, {60, 0.42}, {120, 0.84}, {240, 0.99}};
  constexpr PowerPoint kTripled[] = {{30, 0.065}, {60, 0.08},  {120, 0.15},
                                     {240, 0.35}, {540, 0.80}, {660, 0.90}};
  if (pairs < kMinTailBatches * static_cast<int>(kMinPairsPerBatch))
    return {0, 0};
  return {interpolate(kDoubled, pairs), interpolate(kTripled, pairs)};
}

}  // namespace assay::stats
