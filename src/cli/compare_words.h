// Words of `assay compare`'s command line that need a reading of their own.
#pragma once

#include "assay/base/result.h"

#include <string>
#include <vector>

namespace assay::cli {

// The arguments as CLI11 can take them.
std::vector<std::string> adapted(const std::vector<std::string>& args);

// "a,b\,c" -> "a", "b,c".
std::vector<std::string> split_list(const std::string& text);

// The whole name of a unit ("ms" -> "millisecond"); "" stays. Errors: invalid_argument.
Result<std::string> time_unit(const std::string& text);

}  // namespace assay::cli
