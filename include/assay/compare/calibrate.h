// `assay calibrate`: real A/A and injected effects on this host, as an archive like any other.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/compare/compare.h"
#include "assay/process/launcher.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

struct CalibrateOptions {
  std::vector<std::string> command;  // empty = the built-in fixed work, sized to `work_ns` per run
  std::int64_t work_ns = 5'000'000;
  std::string work_program;     // assay-work beside the command
  double budget_seconds = 300;  // sizes the plan from a few probe runs before it is written
  std::optional<int> batches;   // instead of the budget
  std::optional<std::int64_t> seed;
  double inject_percent = 0;  // > 0: a second case whose candidate does this much more work
  bool blocks = false;        // A..A B..B instead of interleaved pairs: what others measure
  int busy_threads = 0;       // deliberate load beside the measurement, recorded
  std::optional<std::string> archive;  // nullopt = default place
  std::string tool_version;
};

struct CalibrateResult {
  Json report;
  std::string archive_path;
  // This host's record, for later comparisons to cite: its path, or why this calibration makes
  // none, or why it could not be kept.
  std::string record_path, no_record;
  std::optional<Error> record_error;
  double seconds_per_batch = 0;
  int stop_signal = 0;
};

Result<CalibrateResult> run_calibration(const CalibrateOptions& options,
                                        process::Launcher& launcher,
                                        const std::function<void(const Progress&)>& progress);

}  // namespace assay::compare
