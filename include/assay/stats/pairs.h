// The data every rule reads: one log ratio per complete pair, labelled with its batch.
#pragma once

#include <cstddef>
#include <vector>

namespace assay::stats {

// x[i] = log(candidate / reference) of pair i, in plan order; batch[i] in 0..batches-1 (dense:
// every batch id below `batches` occurs at least once). Unequal batch sizes are allowed.
struct Pairs {
  std::vector<double> x;
  std::vector<int> batch;
  int batches = 0;

  std::size_t size() const { return x.size(); }
};

// From durations > 0 (checked); batch labels may be any integers and are made dense in ascending
// order.
Pairs make_pairs(const std::vector<double>& reference, const std::vector<double>& candidate,
                 const std::vector<int>& batch);

enum class Direction { up, down };  // candidate worse above the cap / worse below it (throughput)

}  // namespace assay::stats
