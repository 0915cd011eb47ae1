// Writing to a descriptor that others may share and that nobody may read.
#pragma once

#include "assay/base/result.h"

#include <string>
#include <string_view>

namespace assay::process {

// Writes all of `bytes`; `name` is the place in errors. A stop signal ends the wait for a reader: a
// descriptor that then takes nothing for a second (or until another signal) is given up, with the
// error interrupted, and is not waited for again. The descriptor's flags stay as they are: they
// belong to everybody who has it.
Result<void> write_unless_stopped(int fd, std::string_view bytes, const std::string& name);

}  // namespace assay::process
