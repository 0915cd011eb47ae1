#include "noise.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace assay::stats {

std::string_view noise_name(Noise noise) {
  switch (noise) {
    case Noise::lognormal:
      return "lognormal";
    case Noise::outliers:
      return "outliers";
    case Noise::bimodal:
      return "bimodal";
    case Noise::t3:
      return "t3";
    case Noise::shared_drift:
      return "shared_drift";
    case Noise::order_effect:
      return "order_effect";
    case Noise::ratio_drift:
      return "ratio_drift";
    case Noise::wide:
      return "wide";
    case Noise::bimodal_wide:
      return "bimodal_wide";
  }
  check_failed("noise", __FILE__, __LINE__, "an unknown noise");
}

std::string_view tail_shape_name(TailShape shape) {
  switch (shape) {
    case TailShape::none:
      return "none";
    case TailShape::doubled_5:
      return "doubled_5";
    case TailShape::slow_10:
      return "slow_10";
    case TailShape::tripled_1:
      return "tripled_1";
    case TailShape::burst_doubled:
      return "burst_doubled";
    case TailShape::set_up_doubled:
      return "set_up_doubled";
  }
  check_failed("shape", __FILE__, __LINE__, "an unknown tail shape");
}

namespace detail {
namespace {

constexpr double kRatioSd = 0.01;
constexpr double kWideRatioSd = 0.10;
constexpr double kSharedSd = 0.03;
constexpr double kDriftSd = 0.01;
constexpr double kRho = 0.9;
constexpr int kChunk = 32;

// One value of a stationary AR(1) process after another.
class Drift {
 public:
  Drift(double sd, NormalSource& source) : sd_(sd), value_(sd > 0 ? sd * source.normal() : 0) {}
  double next(NormalSource& source) {
    if (sd_ > 0)
      value_ = kRho * value_ + std::sqrt(1 - kRho * kRho) * sd_ * source.normal();
    return value_;
  }

 private:
  double sd_;
  double value_;
};

// Logarithms of the fixed factors of the noises and tails.
struct Factors {
  double plus_20 = log(1.2);
  double plus_3 = log(1.03);
  double plus_10 = log(1.1);
  double plus_0_3 = log(1.003);
  double doubled = log(2.0);
  double tripled = log(3.0);
};
const Factors& factors() {
  static const Factors result;
  return result;
}

// The noise of one run; two of them make the ratio's sd.
double run_noise(Noise noise, NormalSource& source) {
  const double sd = (noise == Noise::wide ? kWideRatioSd : kRatioSd) / std::sqrt(2.0);
  if (noise == Noise::t3) {
    const double z = source.normal();
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      const double x = source.normal();
      squares += x * x;
    }
    return sd * z / std::sqrt(squares);  // t3 / sqrt(3): unit variance
  }
  double value = sd * source.normal();
  if (noise == Noise::outliers && source.uniform() < 0.05)
    value += factors().plus_20;
  if (noise == Noise::bimodal && source.uniform() < 0.3)
    value += factors().plus_3;
  if (noise == Noise::bimodal_wide && source.uniform() < 0.3)
    value += factors().plus_10;
  return value;
}

struct Tail {
  double share;
  double log_factor;
};
Tail tail_of(TailShape shape, double drawn_share) {
  switch (shape) {
    case TailShape::none:
      return {0, 0};
    case TailShape::doubled_5:
      return {0.05, factors().doubled};
    case TailShape::slow_10:
      return {0.10, factors().plus_20};
    case TailShape::tripled_1:
      return {0.01, factors().tripled};
    case TailShape::burst_doubled:
    case TailShape::set_up_doubled:
      return {drawn_share, factors().doubled};
  }
  check_failed("shape", __FILE__, __LINE__, "an unknown tail shape");
}

bool draws_share(TailShape shape) {
  return shape == TailShape::burst_doubled || shape == TailShape::set_up_doubled;
}

// The tails of one batch, {candidate, reference}.
std::pair<Tail, Tail> draw_tails(const NoiseSettings& settings, NormalSource& source) {
  double candidate = 0;
  double reference = 0;
  if (draws_share(settings.candidate_tail))
    candidate = source.rare_share();
  if (settings.reference_tail == TailShape::burst_doubled &&
      settings.candidate_tail == TailShape::burst_doubled)
    reference = candidate;
  else if (draws_share(settings.reference_tail))
    reference = source.rare_share();
  return {tail_of(settings.candidate_tail, candidate), tail_of(settings.reference_tail, reference)};
}

double tail_noise(const Tail& tail, NormalSource& source) {
  return tail.share > 0 && source.uniform() < tail.share ? tail.log_factor : 0;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return SplitMix64(SplitMix64(a).next() + b).next();
}

}  // namespace

double NormalSource::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x = 0;
  double y = 0;
  double s = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    s = x * x + y * y;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * log(s) / s);
  spare_ = y * scale;
  has_spare_ = true;
  return x * scale;
}

double NormalSource::rare_share() {
  const double first = normal();
  double total = first * first;
  const double part = total;
  for (int i = 0; i < 19; ++i) {
    const double z = normal();
    total += z * z;
  }
  return part / total;
}

Pairs SimulatedPairs::pairs(int count) const {
  Pairs result;
  result.batches = count;
  for (std::size_t i = 0; i < batch.size() && batch[i] < count; ++i) {
    result.x.push_back(candidate[i] - reference[i]);
    result.batch.push_back(batch[i]);
  }
  return result;
}

SimulatedPairs simulate_pairs(const NoiseSettings& settings, NormalSource& source,
                              const std::vector<double>& shared) {
  SimulatedPairs result;
  result.batches = settings.layout.batches;
  Drift common(settings.noise == Noise::shared_drift ? kSharedSd : 0, source);
  Drift ratio(settings.noise == Noise::ratio_drift ? kDriftSd : 0, source);
  for (int b = 0; b < settings.layout.batches; ++b) {
    // Half on each side, so that neither side is the noisier one.
    const double half = settings.batch_sd > 0 ? settings.batch_sd * source.normal() / 2 : 0;
    const double extra = shared.empty() ? 0 : shared[static_cast<std::size_t>(b)];
    const auto [candidate_tail, reference_tail] = draw_tails(settings, source);
    for (int i = 0; i < settings.layout.pairs; ++i) {
      const double both = common.next(source);
      double candidate = run_noise(settings.noise, source) + half + extra + both +
                         ratio.next(source) + tail_noise(candidate_tail, source);
      double reference =
          run_noise(settings.noise, source) - half + both + tail_noise(reference_tail, source);
      if (settings.noise == Noise::order_effect)
        (source.uniform() < 0.5 ? candidate : reference) += factors().plus_0_3;
      result.candidate.push_back(candidate);
      result.reference.push_back(reference);
      result.batch.push_back(b);
    }
  }
  return result;
}

std::vector<Counters> replicate(const SimulationOptions& options, const Experiment& experiment,
                                const Body& body) {
  ASSAY_CHECK(options.replications >= 1 && options.threads >= 1,
              "a simulation needs replications and a thread");
  const Counters zero(static_cast<std::size_t>(experiment.counters), 0);
  std::vector<Counters> totals(static_cast<std::size_t>(experiment.cells), zero);
  const int chunks = (options.replications + kChunk - 1) / kChunk;
  const std::int64_t items = std::int64_t{chunks} * experiment.cells;
  const std::uint64_t seed = mix(options.seed, experiment.salt);
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    std::vector<Counters> own(totals.size(), zero);
    for (std::int64_t item = next++; item < items; item = next++) {
      if (options.stop && options.stop())
        break;
      const auto cell = static_cast<int>(item / chunks);
      const auto first = static_cast<int>(item % chunks) * kChunk;
      const std::uint64_t cell_seed = mix(seed, static_cast<std::uint64_t>(cell));
      for (int r = first; r < std::min(first + kChunk, options.replications); ++r) {
        NormalSource source(mix(cell_seed, static_cast<std::uint64_t>(r)));
        body(cell, r, source, own[static_cast<std::size_t>(cell)]);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    for (std::size_t c = 0; c < totals.size(); ++c)
      for (std::size_t i = 0; i < zero.size(); ++i)
        totals[c][i] += own[c][i];
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < options.threads; ++t)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads)
    thread.join();
  return totals;
}

}  // namespace detail
}  // namespace assay::stats
