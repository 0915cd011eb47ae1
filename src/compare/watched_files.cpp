#include "watched_files.h"

#include "assay/base/file_state.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::compare {
namespace {

constexpr std::size_t kShownPath = 160;

}  // namespace

void WatchedFiles::watch(const std::string& path, const std::string& sha256,
                         const std::string& what) {
  const bool known = std::any_of(files_.begin(), files_.end(),
                                 [&path](const File& file) { return file.path == path; });
  if (!path.empty() && !known)
    files_.push_back({path, sha256, what, std::nullopt});
}

std::optional<std::string> WatchedFiles::look_at(File& file) {
  const std::string name = fmt::format("{} {}", file.what, printable(file.path, kShownPath));
  struct stat now {};
  if (stat(file.path.c_str(), &now) != 0)
    return name + " is gone";
  if (!S_ISREG(now.st_mode) || (file.seen && same_file_state(*file.seen, now)))
    return std::nullopt;
  file.seen = now;
  const auto digest = sha256_file(file.path);
  if (!digest)  // a program may be executable and not readable
    return std::nullopt;
  if (file.sha256.empty())
    file.sha256 = *digest;
  if (*digest != file.sha256)
    return fmt::format("{} has other bytes now (SHA-256 {}, recorded {})", name,
                       digest->substr(0, 12), file.sha256.substr(0, 12));
  return std::nullopt;
}

std::optional<std::string> WatchedFiles::changed() {
  for (File& file : files_)
    if (auto what = look_at(file))
      return what;
  return std::nullopt;
}

}  // namespace assay::compare
