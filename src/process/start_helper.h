// Finds and starts assay-launch.
#pragma once

#include "assay/base/files.h"
#include "assay/base/result.h"

#include <string>
#include <sys/types.h>

namespace assay::process {

// `named`, or assay-launch beside the running program. not_found, launcher.
Result<std::string> helper_path(const std::string& named);

struct StartedHelper {
  Fd socket;
  pid_t guard = -1;  // our child; the caller reaps it
};

Result<StartedHelper> start_helper(const std::string& path);

}  // namespace assay::process
