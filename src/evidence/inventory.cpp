#include "inventory.h"

#include "assay/base/files.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/evidence/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::evidence {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr const char* kSpecialBits = "set-id and sticky bits are not allowed in an archive";

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

bool is_excluded(const std::string& path) {
  return path == "inventory.json" || path == "SHA256SUMS" || path == "seal.dsse.json";
}

tl::unexpected<Error> io_error(std::string_view what, int err, const std::string& where) {
  return tl::unexpected<Error>(system_error(ErrorCode::io, what, err, where));
}

// The first that is missing; "" for none.
std::string first_missing(const OwnNodes& own, const std::vector<InventoryEntry>& entries) {
  std::set<std::string> present;
  for (const InventoryEntry& entry : entries)
    present.insert(entry.path);
  for (const auto& [name, node] : own)
    if (present.count(name) == 0)
      return name;
  return "";
}

// Walks by descriptors, so that no component can be swapped for a symlink underneath.
class Walker {
 public:
  // `own` nullptr: whatever is there.
  Walker(const std::string& root, const OwnNodes* own) : root_(root), own_(own) {}

  Result<std::vector<InventoryEntry>> run(Fd root) {
    struct stat status {};
    if (::fstat(root.get(), &status) != 0)
      return io_error("cannot stat", errno, root_);
    if ((status.st_mode & 07000U) != 0)
      return fail(ErrorCode::invalid_format, kSpecialBits, printable(root_));
    device_ = status.st_dev;
    ASSAY_TRY_VOID(walk(std::move(root), "", 1));
    std::sort(entries_.begin(), entries_.end(),
              [](const InventoryEntry& a, const InventoryEntry& b) { return a.path < b.path; });
    return std::move(entries_);
  }

 private:
  std::string shown(const std::string& path) const { return printable(root_ + "/" + path); }

  tl::unexpected<Error> refuse(const std::string& path, const char* why) const {
    return fail(ErrorCode::invalid_format, why, shown(path));
  }

  Result<void> walk(Fd directory, const std::string& prefix, std::size_t depth) {
    if (depth > kMaxDepth)
      return refuse(prefix, "directories are nested too deeply");
    ASSAY_TRY(const std::vector<std::string> names, list(directory, prefix));
    for (const std::string& name : names) {
      const std::string path = prefix + name;
      if (own_ != nullptr || !is_excluded(path))
        ASSAY_TRY_VOID(visit(directory, name, path, depth));
    }
    return {};
  }

  Result<std::vector<std::string>> list(const Fd& directory, const std::string& prefix) const {
    const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
      return io_error("cannot list", errno, shown(prefix));
    const std::unique_ptr<DIR, DirCloser> stream(::fdopendir(copy));
    if (stream == nullptr) {
      const int err = errno;
      ::close(copy);
      return io_error("cannot list", err, shown(prefix));
    }
    std::vector<std::string> names;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(stream.get());
      if (entry == nullptr) {
        if (errno != 0)
          return io_error("cannot list", errno, shown(prefix));
        return names;
      }
      const std::string name = entry->d_name;
      if (name != "." && name != "..")
        names.push_back(name);
    }
  }

  Result<void> visit(const Fd& directory, const std::string& name, const std::string& path,
                     std::size_t depth) {
    if (printable(name) != name || name.find('\\') != std::string::npos)
      return refuse(path,
                    "the name holds control characters, a backslash or bytes that are no UTF-8");
    if (name.rfind(".tmp.", 0) == 0)
      return refuse(path, "a temporary file was left behind");
    // O_NONBLOCK and O_NOFOLLOW: neither a FIFO nor a symlink may be opened for real.
    Fd node(
        ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!node.valid()) {
      if (errno == ELOOP)
        return refuse(path, "symbolic links are not allowed in an archive");
      if (errno == ENXIO)
        return refuse(path, "only regular files and directories are allowed in an archive");
      return io_error("cannot open", errno, shown(path));
    }
    struct stat status {};
    if (::fstat(node.get(), &status) != 0)
      return io_error("cannot stat", errno, shown(path));
    if (status.st_dev != device_)
      return refuse(path, "another file system is mounted inside the archive");
    if ((status.st_mode & 07000U) != 0)
      return refuse(path, kSpecialBits);
    if (own_ != nullptr)
      ASSAY_TRY_VOID(check_own(path, status));
    InventoryEntry entry{.path = path, .mode = status.st_mode & 0777U};
    if (S_ISDIR(status.st_mode)) {
      entry.is_directory = true;
      entries_.push_back(entry);
      return walk(std::move(node), path + "/", depth + 1);
    }
    if (!S_ISREG(status.st_mode))
      return refuse(path, "only regular files and directories are allowed in an archive");
    if (status.st_nlink != 1)
      return refuse(path, "hard links are not allowed in an archive");
    entry.size = status.st_size;
    ASSAY_TRY(entry.sha256, sha256_descriptor(node.get(), shown(path)));
    if (own_ != nullptr && entry.sha256 != own_->at(path).content.sha256)
      return refuse(path, kChanged);
    entries_.push_back(std::move(entry));
    return {};
  }

  // All that can be told without reading the file.
  Result<void> check_own(const std::string& path, const struct stat& status) const {
    const bool odd = !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode);
    const auto own = own_->find(path);
    if (odd)
      return {};  // refused for what it is
    if (own == own_->end() || own->second.is_directory != S_ISDIR(status.st_mode))
      return refuse(path, kForeign);
    if (!own->second.is_directory && status.st_size != own->second.content.size)
      return refuse(path, kChanged);
    if ((status.st_mode & 07777U) != own->second.id.mode)
      return fail(ErrorCode::invalid_format, mode_text(status.st_mode, own->second.id.mode),
                  shown(path));
    return {};
  }

  const std::string& root_;
  const OwnNodes* own_;
  dev_t device_ = 0;
  std::vector<InventoryEntry> entries_;
};

}  // namespace

Result<std::vector<InventoryEntry>> take_inventory(const std::string& root) {
  Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid())
    return io_error("cannot open the archive", errno, root);
  return Walker(root, nullptr).run(std::move(fd));
}

std::string mode_text(mode_t now, mode_t made) {
  return fmt::format(
      "its mode is {:04o} and was {:04o} when it was made: something else changed it", now & 07777U,
      made);
}

Result<std::vector<InventoryEntry>> take_own_inventory(const Fd& root, const std::string& where,
                                                       const OwnNodes& own) {
  // Opened anew: a copy would share its position in the directory with `root`.
  Fd fd(::openat(root.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid())
    return io_error("cannot open the archive", errno, where);
  ASSAY_TRY(std::vector<InventoryEntry> entries, Walker(where, &own).run(std::move(fd)));
  if (entries.size() != own.size())
    return fail(ErrorCode::io, "is gone: something else removed it",
                where + "/" + first_missing(own, entries));
  return entries;
}

Json inventory_entry_json(const InventoryEntry& entry) {
  Json json = {{"mode", fmt::format("{:04o}", entry.mode)},
               {"path", entry.path},
               {"type", entry.is_directory ? "directory" : "file"}};
  if (!entry.is_directory) {
    json["size"] = entry.size;
    json["sha256"] = entry.sha256;
  }
  return json;
}

std::string inventory_text(const std::vector<InventoryEntry>& entries) {
  std::vector<std::string> leaves;
  Json list = Json::array();
  for (const InventoryEntry& entry : entries) {
    list.push_back(inventory_entry_json(entry));
    leaves.push_back(canonical_json(list.back()));
  }
  const Json document = {{"schema", {{"name", "assay.inventory"}, {"major", 1}, {"minor", 0}}},
                         {"entries", std::move(list)},
                         {"merkle_root", merkle_root(leaves)}};
  return canonical_json(document) + "\n";
}

std::string checksum_text(const std::vector<InventoryEntry>& entries,
                          const std::string& inventory_sha256) {
  std::vector<std::pair<std::string, std::string>> files = {{"inventory.json", inventory_sha256}};
  for (const InventoryEntry& entry : entries) {
    if (!entry.is_directory)
      files.emplace_back(entry.path, entry.sha256);
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const auto& [path, digest] : files)
    text.append(digest).append("  ").append(path).append("\n");
  return text;
}

}  // namespace assay::evidence
