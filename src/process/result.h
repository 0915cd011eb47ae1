// From what assay-launch reports to what callers see: pure functions.
#pragma once

#include "protocol.h"

#include "assay/base/result.h"
#include "assay/process/run.h"

namespace assay::process {

// Everything but the captured bytes. Errors (launcher) when no measurement took place: the launcher
// could not start a process, capture its output or end its tree, or times that run backwards.
Result<RunResult> run_result(const ResultMessage& wire, const RunRequest& request);

}  // namespace assay::process
