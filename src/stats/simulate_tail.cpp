#include "noise.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"
#include "assay/stats/simulate.h"
#include "assay/stats/tail.h"

namespace assay::stats {
namespace {

using detail::Counters;
using detail::NormalSource;

constexpr std::uint64_t kAlarmSalt = 4;
constexpr std::uint64_t kPowerSalt = 5;

std::vector<TailCell> run(const SimulationOptions& options, std::uint64_t salt,
                          std::vector<TailCell> cells) {
  const auto counters = detail::replicate(
      options, {salt, static_cast<int>(cells.size()), 2},
      [&](int cell, int, NormalSource& source, Counters& counts) {
        const TailCell& c = cells[static_cast<std::size_t>(cell)];
        const detail::NoiseSettings settings{c.layout, c.noise, c.batch_sd, c.candidate,
                                             c.reference};
        const detail::SimulatedPairs data = detail::simulate_pairs(settings, source);
        TailData tail;
        tail.batch = data.batch;
        tail.batches = data.batches;
        for (std::size_t i = 0; i < data.batch.size(); ++i) {
          tail.reference.push_back(exp(data.reference[i]));
          tail.candidate.push_back(exp(data.candidate[i]));
        }
        const Verdict verdict = judge_tail(tail).verdict;
        counts[0] += verdict == Verdict::fail ? 1 : 0;
        counts[1] += verdict == Verdict::pass ? 1 : 0;
      });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].fail = detail::share(counters[i][0], options.replications);
    cells[i].pass = detail::share(counters[i][1], options.replications);
  }
  return cells;
}

}  // namespace

std::vector<TailCell> simulate_tail_alarms(const SimulationOptions& options,
                                           const std::vector<SimulatedLayout>& layouts) {
  std::vector<TailCell> cells;
  for (const SimulatedLayout& layout : layouts)
    for (const Noise noise : {Noise::lognormal, Noise::bimodal, Noise::t3, Noise::shared_drift,
                              Noise::wide, Noise::bimodal_wide})
      for (const TailShape shape :
           {TailShape::none, TailShape::doubled_5, TailShape::slow_10, TailShape::tripled_1,
            TailShape::burst_doubled, TailShape::set_up_doubled})
        for (const double sd : {0.0, 0.005, 0.01, 0.02})
          cells.push_back({layout, noise, shape, shape, sd, 0, 0});
  return run(options, kAlarmSalt, std::move(cells));
}

std::vector<TailCell> repeat_tail_alarms(const SimulationOptions& options,
                                         std::vector<TailCell> cells) {
  return run(options, kAlarmSalt, std::move(cells));
}

std::vector<TailCell> simulate_tail_power(const SimulationOptions& options,
                                          const std::vector<SimulatedLayout>& layouts) {
  std::vector<TailCell> cells;
  for (const SimulatedLayout& layout : layouts)
    for (const TailShape shape : {TailShape::doubled_5, TailShape::slow_10, TailShape::tripled_1})
      cells.push_back({layout, Noise::lognormal, shape, TailShape::none, 0, 0, 0});
  return run(options, kPowerSalt, std::move(cells));
}

}  // namespace assay::stats
