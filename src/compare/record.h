// From what the launcher observed to a line of evidence, and back to samples.
#pragma once

#include "assay/base/result.h"
#include "assay/evidence/archive.h"
#include "assay/host/host.h"
#include "assay/process/run.h"
#include "assay/verdict/plan.h"
#include "assay/verdict/sample.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::compare {

// Every absent fact becomes null with a reason. `output` tells whether the streams were captured.
verdict::Sample to_sample(const verdict::PlannedRun& planned, const std::string& case_name,
                          const process::RunResult& run, const host::LoadMeter::Reading& load,
                          process::OutputMode output = process::OutputMode::capture);

// The samples of an archive, or of the same lines kept in memory, in their order. An error of a
// line names "samples.jsonl:NUMBER".
Result<std::vector<verdict::Sample>> read_samples(const evidence::ArchiveReader& archive);
Result<std::vector<verdict::Sample>> read_samples(const std::vector<std::string>& lines);

}  // namespace assay::compare
