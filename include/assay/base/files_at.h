// New files and directories by an open directory: what is written goes where the descriptor leads,
// even if another directory has taken the path by now. Durable like those of files.h.
#pragma once

#include "assay/base/files.h"
#include "assay/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace assay {

// Names a node whatever it is called, and the mode it had: permission and special bits.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
};
bool same_node(const FileId& a, const FileId& b);

// nullopt when there is no such node, or it cannot be told. A symlink is not followed.
std::optional<FileId> file_id(const std::string& path);
std::optional<FileId> file_id_at(const Fd& directory, const std::string& name);

// As write_new_file, mode 0644; `name` has no slash, `where` names the file in errors. After an
// error nothing that it made stays behind.
Result<FileId> write_new_file_at(const Fd& directory, const std::string& name,
                                 std::string_view bytes, const std::string& where);

struct OpenedDirectory {
  Fd fd;
  FileId id;
};
// Never follows a symlink in the last component. not_persisted when there is no such directory.
Result<OpenedDirectory> open_directory_at(const Fd& parent, const std::string& name,
                                          const std::string& where);
// As make_directory, mode 0755 less the umask; without a set-group-id bit that the parent hands
// down. After an error it does not stay behind.
Result<OpenedDirectory> make_directory_at(const Fd& parent, const std::string& name,
                                          const std::string& where);

}  // namespace assay
