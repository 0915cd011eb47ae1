// What `assay calibrate` prints.
#pragma once

#include "cli.h"

#include "assay/base/json.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::cli {

std::string calibration_text(const Json& report, double seconds_per_batch);

struct SimulateFlags {
  std::int64_t seed = 0;
  std::optional<int> replications;
  bool markdown = false;
  bool json = false;
};
int simulate_main(const SimulateFlags& flags, const Style& style);

// A line for a calibration that took much longer than it was given; "" for any other.
std::string over_budget_text(double budget_seconds, double taken_seconds);

}  // namespace assay::cli
