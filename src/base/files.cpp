#include "assay/base/files.h"

#include "files_internal.h"

#include "assay/base/files_at.h"
#include "assay/base/ids.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} * 1024;
constexpr std::size_t kMaxName = 255;

enum class Overwrite { no, yes };

// A temp file beside its target; unlinked unless committed.
class TempFile {
 public:
  TempFile(const Fd& directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  ~TempFile() {
    if (present_)
      ::unlinkat(directory_.get(), name_.c_str(), 0);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  Result<void> fill(std::string_view bytes, mode_t mode, const std::string& path);
  Result<void> commit(const std::string& final_name, Overwrite overwrite, const std::string& path);
  const FileId& id() const { return id_; }

 private:
  Result<void> link_without_replace(const std::string& final_name, const std::string& path);

  const Fd& directory_;
  std::string name_;
  FileId id_;
  bool present_ = false;
};

FileId id_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_mode & 07777U};
}

std::string temp_name(const std::string& name) {
  const std::string prefix = fmt::format(".tmp.{}.{}.", ::getpid(), uuid_v4().substr(0, 8));
  return prefix + name.substr(0, kMaxName - prefix.size());
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return write_failure("cannot write", errno, path);
    if (n == 0)
      return fail(ErrorCode::not_persisted, "a write made no progress", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> TempFile::fill(std::string_view bytes, mode_t mode, const std::string& path) {
  Fd fd(::openat(directory_.get(), name_.c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid())
    return write_failure("cannot create a file in its directory", errno, path);
  present_ = true;
  ASSAY_TRY_VOID(write_all(fd.get(), bytes, path));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return write_failure("cannot stat", errno, path);
  // A file system may claim bytes that it never stored.
  if (status.st_size != static_cast<off_t>(bytes.size()))
    return fail(
        ErrorCode::not_persisted,
        fmt::format("{} bytes were written but the file has {}", bytes.size(), status.st_size),
        path);
  if (::fchmod(fd.get(), mode) != 0)
    return write_failure("cannot set the mode", errno, path);
  if (::fstat(fd.get(), &status) != 0)
    return write_failure("cannot stat", errno, path);
  id_ = id_of(status);
  // Never retried: after a failed writeback the kernel may mark the lost pages clean.
  if (::fsync(fd.get()) != 0)
    return write_failure("cannot sync", errno, path);
  if (::close(fd.release()) != 0)
    return write_failure("cannot close", errno, path);
  return {};
}

Result<void> TempFile::commit(const std::string& final_name, Overwrite overwrite,
                              const std::string& path) {
  const int dir = directory_.get();
  if (overwrite == Overwrite::yes) {
    if (::renameat(dir, name_.c_str(), dir, final_name.c_str()) != 0)
      return write_failure("cannot rename into place", errno, path);
  } else if (::renameat2(dir, name_.c_str(), dir, final_name.c_str(), RENAME_NOREPLACE) != 0) {
    const int err = errno;
    if (err == EEXIST)
      return fail(ErrorCode::already_exists, "already exists and is never overwritten", path);
    if (err != EINVAL && err != ENOSYS)
      return write_failure("cannot rename into place", err, path);
    ASSAY_TRY_VOID(link_without_replace(final_name, path));
  }
  present_ = false;
  Result<void> synced = sync_directory(directory_, path);
  // A new file whose name may not last was not written.
  if (!synced && overwrite == Overwrite::no)
    ::unlinkat(dir, final_name.c_str(), 0);
  return synced;
}

// For file systems without RENAME_NOREPLACE.
Result<void> TempFile::link_without_replace(const std::string& final_name,
                                            const std::string& path) {
  const int dir = directory_.get();
  if (::linkat(dir, name_.c_str(), dir, final_name.c_str(), 0) != 0) {
    if (errno == EEXIST)
      return fail(ErrorCode::already_exists, "already exists and is never overwritten", path);
    return write_failure("cannot link into place", errno, path);
  }
  if (::unlinkat(dir, name_.c_str(), 0) != 0) {
    const int err = errno;
    ::unlinkat(dir, final_name.c_str(), 0);
    return write_failure("cannot remove the temporary name", err, path);
  }
  return {};
}

// Replacing a device or a FIFO by a rename would destroy it.
Result<void> refuse_odd_target(const Fd& directory, const std::string& name, ErrorCode code,
                               const std::string& path) {
  struct stat status {};
  if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT)
      return {};
    return tl::unexpected<Error>(system_error(code, "cannot be written", errno, path));
  }
  if (S_ISREG(status.st_mode))
    return {};
  const char* kind = S_ISDIR(status.st_mode)   ? "a directory"
                     : S_ISLNK(status.st_mode) ? "a symbolic link"
                                               : "not a regular file";
  return fail(
      code,
      fmt::format("is {}: name a regular file or a new name, or use - for standard output", kind),
      path);
}

Result<void> write_durably(const std::string& path, std::string_view bytes, mode_t mode,
                           Overwrite overwrite) {
  const SplitPath split = split_path(path);
  ASSAY_TRY(const Fd directory, open_directory(split.directory, ErrorCode::not_persisted));
  if (overwrite == Overwrite::yes)
    ASSAY_TRY_VOID(refuse_odd_target(directory, split.name, ErrorCode::not_persisted, path));
  TempFile temp(directory, temp_name(split.name));
  ASSAY_TRY_VOID(temp.fill(bytes, mode, path));
  return temp.commit(split.name, overwrite, path);
}

Result<void> sync_parent(const std::string& path) {
  const SplitPath split = split_path(path);
  ASSAY_TRY(const Fd parent, open_directory(split.directory, ErrorCode::not_persisted));
  return sync_directory(parent, split.directory);
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<Fd> open_for_reading(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not hang before fstat can refuse it.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) {
    if (errno == ELOOP)
      return fail(ErrorCode::io, "is a symbolic link: name the file itself", path);
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return tl::unexpected<Error>(
        system_error(absent ? ErrorCode::not_found : ErrorCode::io, "cannot open", errno, path));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot stat", errno, path));
  if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
    return fail(ErrorCode::io, S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file",
                path);
  return fd;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = -1;
}

SplitPath split_path(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos)
    return {path.empty() ? "." : "/", path.empty() ? "" : "."};
  const std::size_t slash = path.find_last_of('/', last);
  if (slash == std::string::npos)
    return {".", path.substr(0, last + 1)};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1, last - slash)};
}

Result<Fd> open_directory(const std::string& path, ErrorCode code) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid())
    return tl::unexpected<Error>(system_error(code, "cannot open the directory", errno, path));
  return fd;
}

Result<void> sync_directory(const Fd& directory, const std::string& path) {
  if (::fsync(directory.get()) != 0)
    return write_failure("cannot sync the directory", errno, path);
  return {};
}

tl::unexpected<Error> write_failure(const char* what, int err, const std::string& path) {
  return tl::unexpected<Error>(system_error(ErrorCode::not_persisted, what, err, path));
}

Result<std::string> read_file(const std::string& path, std::int64_t max_bytes) {
  ASSAY_TRY(const Fd fd, open_for_reading(path));
  std::string bytes;
  std::size_t have = 0;
  for (;;) {
    bytes.resize(have + kReadBytes);
    const ssize_t n = ::read(fd.get(), bytes.data() + have, kReadBytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot read", errno, path));
    have += static_cast<std::size_t>(n);
    if (static_cast<std::int64_t>(have) > max_bytes)
      return fail(ErrorCode::io, fmt::format("is larger than {} bytes", max_bytes), path);
    if (n == 0)
      break;
  }
  bytes.resize(have);
  return bytes;
}

Result<void> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0) {
    if (errno == EEXIST)
      return fail(ErrorCode::already_exists, "already exists", path);
    return write_failure("cannot create the directory", errno, path);
  }
  return sync_parent(path);
}

Result<void> make_directories(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string level = path.substr(0, end);
    if (level.empty() || is_directory(level))
      continue;
    const Result<void> made = make_directory(level);
    // Another process may have created the same level meanwhile.
    if (!made && !(made.error().code == ErrorCode::already_exists && is_directory(level))) {
      if (made.error().code == ErrorCode::already_exists)
        return fail(ErrorCode::not_persisted, "exists and is not a directory", level);
      return made;
    }
  }
  return {};
}

Result<void> write_new_file(const std::string& path, std::string_view bytes, mode_t mode) {
  return write_durably(path, bytes, mode, Overwrite::no);
}

bool same_node(const FileId& a, const FileId& b) {
  return a.device == b.device && a.inode == b.inode;
}

std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return std::nullopt;
  return id_of(status);
}

std::optional<FileId> file_id_at(const Fd& directory, const std::string& name) {
  struct stat status {};
  if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return id_of(status);
}

Result<FileId> write_new_file_at(const Fd& directory, const std::string& name,
                                 std::string_view bytes, const std::string& where) {
  TempFile temp(directory, temp_name(name));
  ASSAY_TRY_VOID(temp.fill(bytes, 0644, where));
  ASSAY_TRY_VOID(temp.commit(name, Overwrite::no, where));
  return temp.id();
}

Result<OpenedDirectory> open_directory_at(const Fd& parent, const std::string& name,
                                          const std::string& where) {
  Fd fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0)
    return write_failure("cannot open the directory", errno, where);
  return OpenedDirectory{std::move(fd), id_of(status)};
}

Result<OpenedDirectory> make_directory_at(const Fd& parent, const std::string& name,
                                          const std::string& where) {
  if (::mkdirat(parent.get(), name.c_str(), 0755) != 0) {
    if (errno == EEXIST)
      return fail(ErrorCode::already_exists, "already exists", where);
    return write_failure("cannot create the directory", errno, where);
  }
  const auto complete = [&]() -> Result<OpenedDirectory> {
    ASSAY_TRY(OpenedDirectory made, open_directory_at(parent, name, where));
    if ((made.id.mode & 07000U) != 0) {
      made.id.mode &= 0777U;
      if (::fchmod(made.fd.get(), made.id.mode) != 0)
        return write_failure("cannot set the mode", errno, where);
    }
    ASSAY_TRY_VOID(sync_directory(parent, where));
    return made;
  };
  Result<OpenedDirectory> made = complete();
  if (!made)
    ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
  return made;
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  return write_durably(path, bytes, mode, Overwrite::yes);
}

Result<void> check_writable(const std::string& path) {
  if (path == "-")
    return {};
  if (path.empty() || path.back() == '/')
    return fail(ErrorCode::invalid_argument, "name a file, not a directory", path);
  const SplitPath split = split_path(path);
  const Result<Fd> directory = open_directory(split.directory, ErrorCode::invalid_argument);
  if (!directory)
    return tl::unexpected<Error>(directory.error());
  ASSAY_TRY_VOID(refuse_odd_target(*directory, split.name, ErrorCode::invalid_argument, path));
  // An unnamed file shows whether the directory takes files, and leaves nothing behind.
  Fd probe(::openat(directory->get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!probe.valid() && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    const std::string name = temp_name(split.name);
    probe =
        Fd(::openat(directory->get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (probe.valid())
      ::unlinkat(directory->get(), name.c_str(), 0);
  }
  if (!probe.valid())
    return tl::unexpected<Error>(
        system_error(ErrorCode::invalid_argument, "cannot be written", errno, path));
  return {};
}

}  // namespace assay
