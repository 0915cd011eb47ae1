#include "assay/stats/pairs.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <algorithm>

namespace assay::stats {

Pairs make_pairs(const std::vector<double>& reference, const std::vector<double>& candidate,
                 const std::vector<int>& batch) {
  ASSAY_CHECK(reference.size() == candidate.size() && reference.size() == batch.size(),
              "make_pairs needs three lists of the same length");
  std::vector<int> labels = batch;
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  Pairs pairs;
  pairs.batches = static_cast<int>(labels.size());
  pairs.x.reserve(batch.size());
  pairs.batch.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    ASSAY_CHECK(reference[i] > 0 && candidate[i] > 0, "make_pairs needs positive durations");
    // The log of the ratio, not the difference of two logs: equal ratios stay exactly equal.
    pairs.x.push_back(log(candidate[i] / reference[i]));
    const auto place = std::lower_bound(labels.begin(), labels.end(), batch[i]);
    pairs.batch.push_back(static_cast<int>(place - labels.begin()));
  }
  return pairs;
}

}  // namespace assay::stats
