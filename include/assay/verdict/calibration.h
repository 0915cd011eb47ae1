// The report of a calibration archive: pure, like every report. Schema:
// docs/reference/calibrate.md.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/verdict/plan.h"
#include "assay/verdict/report.h"
#include "assay/verdict/sample.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::verdict {

// Cases of a calibration plan, by name.
inline constexpr const char* kAaCase = "aa";              // two copies of one file
inline constexpr const char* kInjectedCase = "injected";  // the candidate does more work

struct CalibrationInputs {
  Json header;
  Json policy;  // {command, inject_percent, busy_threads, oracle_sha256, ...}
  Plan plan;
  std::vector<Sample> samples;
  Ending ending;
  Json host;
};
Result<Json> derive_calibration_report(const CalibrationInputs& inputs);

// What the classic rules say of samples taken in blocks order (A..A B..B): one campaign per batch.
// Printed beside a calibration as the reason why assay interleaves.
struct BlocksAlarms {
  int campaigns = 0;
  int welch = 0;         // |t| beyond the 97.5 % point, unequal variances
  int mann_whitney = 0;  // two-sided p < 0.05, normal approximation with ties
};
BlocksAlarms blocks_alarms(const std::vector<Sample>& samples, bool cpu_time);

}  // namespace assay::verdict
