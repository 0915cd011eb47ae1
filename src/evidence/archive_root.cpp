#include "archive_root.h"

#include "assay/base/sha256.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace assay::evidence {
namespace {

std::string parent_of(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  const std::size_t slash = path.find_last_of('/', last);
  return last == std::string::npos || slash == std::string::npos ? "" : path.substr(0, slash);
}

// lstat(2) follows a symlink whose name ends in a slash.
std::string without_slash(const std::string& path) {
  return path.substr(0, path.find_last_not_of('/') + 1);
}

}  // namespace

ArchiveRoot::ArchiveRoot(std::string path) : path_(std::move(path)) {
  std::string at = parent_of(path_);
  for (; !at.empty() && ::access(at.c_str(), F_OK) != 0; at = parent_of(at))
    parents_.push_back(at);
}

ArchiveRoot::~ArchiveRoot() {
  if (committed_)
    return;
  std::error_code ignored;
  if (directory_.fd.valid() && is_in_place())
    std::filesystem::remove_all(path_, ignored);
  for (const std::string& directory : parents_)
    ::rmdir(directory.c_str());
}

Result<void> ArchiveRoot::make() {
  const std::string parent = parent_of(path_);
  if (!parent.empty())
    ASSAY_TRY_VOID(make_directories(parent));
  const std::string name = without_slash(path_).substr(parent_of(path_).size());
  const Fd above(::open(parent.empty() ? (name.front() == '/' ? "/" : ".") : parent.c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!above.valid())
    return tl::unexpected<Error>(
        system_error(ErrorCode::not_persisted, "cannot open the directory", errno, parent));
  ASSAY_TRY(directory_, make_directory_at(above, name.substr(name.find_first_not_of('/')), path_));
  return {};
}

Result<OpenedDirectory> ArchiveRoot::directory_of(const std::string& name) {
  ASSAY_TRY(OpenedDirectory at, open_directory_at(directory_.fd, ".", path_));
  for (std::size_t slash = name.find('/'), from = 0; slash != std::string::npos;
       from = slash + 1, slash = name.find('/', from)) {
    const std::string level = name.substr(0, slash);
    const std::string step = name.substr(from, slash - from);
    if (own_.count(level) != 0) {
      ASSAY_TRY(at, open_directory_at(at.fd, step, this->at(level)));
      continue;
    }
    Result<OpenedDirectory> made = make_directory_at(at.fd, step, this->at(level));
    // It could not be sealed in the end: nothing more needs to be measured.
    if (!made && made.error().code == ErrorCode::already_exists)
      return fail(ErrorCode::io, kForeign, this->at(level));
    if (!made)
      return made;
    own_[level] = {true, made->id, {}};
    at = std::move(*made);
  }
  return at;
}

Result<void> ArchiveRoot::write_file(const std::string& name, std::string_view bytes) {
  ASSAY_TRY(const OpenedDirectory directory, directory_of(name));
  const std::string last = name.substr(name.find_last_of('/') + 1);
  ASSAY_TRY(const FileId id, write_new_file_at(directory.fd, last, bytes, at(name)));
  own_[name] = {false, id, {static_cast<std::int64_t>(bytes.size()), sha256_hex(bytes)}};
  return {};
}

Result<void> ArchiveRoot::adopt_file(const std::string& name) {
  const auto id = file_id_at(directory_.fd, name);
  if (!id)
    return fail(ErrorCode::not_persisted, "is gone: something else removed it", at(name));
  own_[name] = {false, *id, {0, sha256_hex("")}};
  return {};
}

void ArchiveRoot::set_content(const std::string& name, FileDigest content) {
  own_.at(name).content = std::move(content);
}

bool ArchiveRoot::is_in_place() const {
  const auto now = file_id(without_slash(path_));
  return now && same_node(*now, directory_.id);
}

Result<void> ArchiveRoot::check_place() const {
  if (!is_in_place())
    return fail(ErrorCode::io, "the archive was moved or replaced while its campaign ran", path_);
  struct stat status {};
  if (::fstat(directory_.fd.get(), &status) != 0)
    return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot stat", errno, path_));
  if ((status.st_mode & 07777U) != directory_.id.mode)
    return fail(ErrorCode::io, mode_text(status.st_mode, directory_.id.mode), path_);
  return {};
}

bool ArchiveRoot::has(const std::string& name) const {
  const auto own = own_.find(name);
  const auto now = file_id_at(directory_.fd, name);
  return own != own_.end() && now && same_node(*now, own->second.id);
}

std::string ArchiveRoot::current_path() const {
  if (is_in_place())
    return path_;
  std::error_code ignored;
  const std::string link = "/proc/self/fd/" + std::to_string(directory_.fd.get());
  const std::string path = std::filesystem::read_symlink(link, ignored).string();
  const auto there = file_id(path);
  return there && same_node(*there, directory_.id) ? path : "";
}

Result<std::vector<InventoryEntry>> ArchiveRoot::inventory() const {
  ASSAY_TRY_VOID(check_place());
  return take_own_inventory(directory_.fd, path_, own_);
}

void ArchiveRoot::withdraw(const std::string& name) {
  if (has(name))
    ::unlinkat(directory_.fd.get(), name.c_str(), 0);
}

}  // namespace assay::evidence
