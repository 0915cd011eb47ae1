// This host's calibration records: what `assay calibrate` leaves for later comparisons to cite.
// Format and rules: docs/reference/calibrate.md.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

// A record says how noisy a host was. Neighbours, updates and heat change that without any trace in
// the host's facts, so it is believed for a month: a choice, not a measured bound.
inline constexpr std::int64_t kCalibrationMaxDays = 30;

// $XDG_STATE_HOME/assay/calibration, else ~/.local/state/assay/calibration. nullopt when neither
// variable names an absolute path.
std::optional<std::string> calibration_directory();

// The record of a calibration `report` on the host whose facts are `host` (host.json).
Json calibration_record(const Json& report, const Json& host);

// Writes a record durably under a name of its own; returns its path. Missing directories are made.
// Errors: not_persisted, invalid_argument when there is no directory.
Result<std::string> keep_calibration(const std::optional<std::string>& directory,
                                     const Json& record);

struct CalibrationChoice {
  std::optional<Json> record;  // the newest that fits
  std::string absent;          // else the reason code why there is none
  std::string detail;          // in plain words; "" when there simply is no record
  // What can't be used: at most one note on damaged records, and one on the directory.
  std::vector<std::string> warnings;

  // host.json's "calibration": {value: {archive_id, sha256 of calibration.json}}, or not_available
  // with `absent`.
  Json fact() const;
};

// The newest record in `directory` that was made on this host (host::fingerprint of `host` is the
// same) at most kCalibrationMaxDays before `now_utc`. Never fails: what can't be read is a warning.
CalibrationChoice choose_calibration(const std::optional<std::string>& directory, const Json& host,
                                     const std::string& now_utc);

}  // namespace assay::compare
