// The step from two tests to a verdict, shared by the case gate and the gate on a geometric mean.
#pragma once

#include "assay/stats/gate.h"

namespace assay::stats::detail {

// FAIL or PASS where both tests reject on the same side, without the rule on few batches.
Verdict decide(const CapTest& test, Direction direction, double alpha);
// One of the two tests rejects on a side and the other does not.
bool tests_disagree(const CapTest& test, double alpha);
// The whole rule; `without_heaviest` is the same test without the batch of largest weight.
GateResult conclude(CapTest test, const CapTest& without_heaviest, const GateOptions& options);

}  // namespace assay::stats::detail
