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

}  // namespace assay::cli
