// What more data would do: calibrated probabilities, never a bare number of batches.
#pragma once

#include <optional>

namespace assay::stats {

// P(decided with B batches in total | |T| = r at B0), flat prior on the distance to the cap. B >
// B0.
double decision_probability(double r, int b0, int b);
// Smallest B in (B0, limit] with probability >= p; nullopt beyond the limit.
std::optional<int> batches_for_probability(double r, int b0, double p, int limit = 100000);
// Predicted log half-width with B batches from the half-width hw0 seen at B0.
double predicted_half_width(double hw0, int b0, int b, double level = 0.95);
std::optional<int> batches_for_half_width(double hw0, int b0, double target, double level = 0.95,
                                          int limit = 100000);
// host_cannot_resolve: 0.61 * batches_for_half_width(delta) > budget.
bool host_cannot_resolve(double hw0, int b0, double delta, int budget);

}  // namespace assay::stats
