// The programs and the input of a campaign must stay what its records say they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace assay::compare {

class WatchedFiles {
 public:
  // `what` names the file in errors. It must have `sha256` at every look; with "" what the first
  // look finds counts (a hook may have to make it). A path that is watched already is not added.
  void watch(const std::string& path, const std::string& sha256, const std::string& what);
  // What changed, for people; nothing when all are as they were. Reads a file only when its inode,
  // size or times are not those of the last look.
  std::optional<std::string> changed();

 private:
  struct File {
    std::string path, sha256, what;
    std::optional<struct stat> seen;
  };
  static std::optional<std::string> look_at(File& file);

  std::vector<File> files_;
};

}  // namespace assay::compare
