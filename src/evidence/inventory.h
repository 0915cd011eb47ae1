// What an archive holds, node by node. Format: docs/reference/archive.md.
#pragma once

#include "assay/base/files_at.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evidence/archive.h"

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay::evidence {

struct InventoryEntry {
  std::string path;  // relative to the archive, components separated by '/'
  bool is_directory = false;
  mode_t mode = 0;        // permission bits
  std::int64_t size = 0;  // files only
  std::string sha256;     // files only
};

// Every node below `root` but inventory.json, SHA256SUMS and seal.dsse.json, sorted by path bytes.
// Refuses (invalid_format, naming the node) whatever an archive cannot hold: links of both kinds,
// FIFOs, sockets, devices, special mode bits, other owners' mounts, leftover temporary files, and
// names that are not printable UTF-8 or hold a backslash. Never follows a symlink.
Result<std::vector<InventoryEntry>> take_inventory(const std::string& root);

// A node that a writer made.
struct OwnNode {
  bool is_directory = false;
  FileId id;
  FileDigest content;  // files only
};
using OwnNodes = std::map<std::string, OwnNode>;  // by path below the root

inline constexpr const char* kForeign =
    "was not written by this campaign: move it out of the archive";
inline constexpr const char* kChanged =
    "the file does not hold what was written to it: something else changed it";

std::string mode_text(mode_t now, mode_t made);

// The same of the directory that `root` leads to, which must hold `own` and nothing else, the three
// that take_inventory leaves out included. Names, types, modes and sizes are compared before a file
// is read: what others put there costs no time. `where` names the directory in errors.
Result<std::vector<InventoryEntry>> take_own_inventory(const Fd& root, const std::string& where,
                                                       const OwnNodes& own);

Json inventory_entry_json(const InventoryEntry& entry);
// The bytes of inventory.json, with the final LF.
std::string inventory_text(const std::vector<InventoryEntry>& entries);
// The bytes of SHA256SUMS: every file entry and inventory.json itself, sorted by path bytes.
std::string checksum_text(const std::vector<InventoryEntry>& entries,
                          const std::string& inventory_sha256);

}  // namespace assay::evidence
