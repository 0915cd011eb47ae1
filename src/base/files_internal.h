// Steps that files.cpp and append_file.cpp share.
#pragma once

#include "assay/base/files.h"

#include <string>

namespace assay {

struct SplitPath {
  std::string directory;  // "." when the path has no slash
  std::string name;
};
// Trailing slashes are not part of the name.
SplitPath split_path(const std::string& path);

Result<Fd> open_directory(const std::string& path, ErrorCode code);
Result<void> sync_directory(const Fd& directory, const std::string& path);
tl::unexpected<Error> write_failure(const char* what, int err, const std::string& path);

}  // namespace assay
