// The directory of an archive that is being written, and what the writer made in it. It is held by
// a descriptor: nothing here writes to, or removes from, a directory that took its path.
#pragma once

#include "inventory.h"

#include "assay/base/files_at.h"
#include "assay/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::evidence {

class ArchiveRoot {
 public:
  explicit ArchiveRoot(std::string path);
  // Until commit() the directory, what is in it, and those above it that were made for it, go with
  // the object: an archive that never began leaves no trace.
  ~ArchiveRoot();
  ArchiveRoot(const ArchiveRoot&) = delete;
  ArchiveRoot& operator=(const ArchiveRoot&) = delete;

  // Creates the directory and those above it. already_exists.
  Result<void> make();
  void commit() { committed_ = true; }

  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  const OwnNodes& own() const { return own_; }

  // Writes a file whole, durably, in directories that are made where they are missing.
  Result<void> write_file(const std::string& name, std::string_view bytes);
  // Takes over a file that the caller has just created in the archive, ...
  Result<void> adopt_file(const std::string& name);
  // ... and says what it holds.
  void set_content(const std::string& name, FileDigest content);

  // Whether the path still leads to this directory, as it was made.
  bool is_in_place() const;
  Result<void> check_place() const;
  // Whether this name still leads to the file that the writer made.
  bool has(const std::string& name) const;
  // Where it is now; "" when that cannot be told.
  std::string current_path() const;

  // What is on the disk, which must be in its place and hold what was written and nothing else.
  Result<std::vector<InventoryEntry>> inventory() const;
  // Removes files that the writer made; another's under the same name stays.
  void withdraw(const std::string& name);

 private:
  Result<OpenedDirectory> directory_of(const std::string& name);

  std::string path_;
  std::vector<std::string> parents_;  // missing before, the deepest first
  OpenedDirectory directory_;
  OwnNodes own_;
  bool committed_ = false;
};

}  // namespace assay::evidence
