// Random log times for the simulations, on the deterministic log and exp only.
#pragma once

#include "assay/base/random.h"
#include "assay/stats/pairs.h"
#include "assay/stats/simulate.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace assay::stats::detail {

class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : random_(seed) {}
  double uniform() { return random_.uniform(); }
  // Standard normal, Marsaglia's polar method.
  double normal();
  // Beta(1/2, 19/2): mean 5 %, as a ratio of sums of squared normals.
  double rare_share();

 private:
  Xoshiro256 random_;
  double spare_ = 0;
  bool has_spare_ = false;
};

// Log times of both sides, batch after batch.
struct SimulatedPairs {
  std::vector<double> reference;
  std::vector<double> candidate;
  std::vector<int> batch;
  int batches = 0;

  // Log ratios of the first `count` batches.
  Pairs pairs(int count) const;
};

struct NoiseSettings {
  SimulatedLayout layout;
  Noise noise = Noise::lognormal;
  double batch_sd = 0;  // of the log ratio
  TailShape candidate_tail = TailShape::none;
  TailShape reference_tail = TailShape::none;
};
// `shared` (empty or one value per batch) is added to the candidate's log times.
SimulatedPairs simulate_pairs(const NoiseSettings& settings, NormalSource& source,
                              const std::vector<double>& shared = {});

// counters[cell][i] summed over all replications. `body` gets the cell, the replication, its own
// generator and the cell's counters; it must only add to the counters.
using Counters = std::vector<std::uint64_t>;
struct Experiment {
  std::uint64_t salt = 0;  // one per experiment, so that experiments never share random numbers
  int cells = 0;
  int counters = 0;
};
using Body =
    std::function<void(int cell, int replication, NormalSource& source, Counters& counters)>;
std::vector<Counters> replicate(const SimulationOptions& options, const Experiment& experiment,
                                const Body& body);

inline double share(std::uint64_t count, int replications) {
  return static_cast<double>(count) / replications;
}

}  // namespace assay::stats::detail
