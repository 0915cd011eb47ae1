#include "files_internal.h"

#include "assay/base/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {
namespace {

tl::unexpected<Error> unusable(const std::string& path) {
  return fail(ErrorCode::not_persisted, "an earlier failure closed this file for good", path);
}

Result<void> check_size(int fd, std::int64_t expected, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return write_failure("cannot stat", errno, path);
  if (status.st_nlink == 0)
    return fail(ErrorCode::not_persisted, "the file was removed while it was written", path);
  if (status.st_size != expected)
    return fail(ErrorCode::not_persisted,
                fmt::format("{} bytes were written but the file has {}", expected, status.st_size),
                path);
  return {};
}

}  // namespace

Result<AppendFile> AppendFile::create(const std::string& path, mode_t mode) {
  const SplitPath split = split_path(path);
  ASSAY_TRY(const Fd directory, open_directory(split.directory, ErrorCode::not_persisted));
  Fd fd(::openat(directory.get(), split.name.c_str(),
                 O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    if (errno == EEXIST)
      return fail(ErrorCode::already_exists, "already exists and is never overwritten", path);
    return write_failure("cannot create", errno, path);
  }
  if (::fchmod(fd.get(), mode) != 0)
    return write_failure("cannot set the mode", errno, path);
  if (::fsync(fd.get()) != 0)
    return write_failure("cannot sync", errno, path);
  ASSAY_TRY_VOID(sync_directory(directory, path));
  return AppendFile(std::move(fd), path);
}

Result<void> AppendFile::append(std::string_view bytes) {
  if (broken_ || !fd_.valid())
    return unusable(path_);
  if (bytes.empty())
    return {};
  ssize_t n = 0;
  do {
    n = ::write(fd_.get(), bytes.data(), bytes.size());
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(bytes.size())) {
    size_ += n;
    // At once, not only before a sync: a line that was never stored must not get a successor.
    return check_or_break();
  }
  // A short write does not say why; writing on does, and is cut back with it.
  if (n >= 0)
    n = ::write(fd_.get(), bytes.data() + n, bytes.size() - static_cast<std::size_t>(n));
  const int err = n < 0 ? errno : ENOSPC;
  // A torn line must not stay: the next record would fuse with it. A failed write may have stored
  // something too, so the file is cut back in both cases.
  if (::ftruncate(fd_.get(), size_) != 0)
    broken_ = true;
  return write_failure("cannot append", err, path_);
}

Result<void> AppendFile::check_or_break() {
  const Result<void> size = check_size(fd_.get(), size_, path_);
  broken_ = broken_ || !size;
  return size;
}

Result<void> AppendFile::sync() {
  if (broken_ || !fd_.valid())
    return unusable(path_);
  ASSAY_TRY_VOID(check_or_break());
  if (::fdatasync(fd_.get()) != 0) {
    broken_ = true;
    return write_failure("cannot sync", errno, path_);
  }
  return {};
}

Result<void> AppendFile::close() {
  if (broken_ || !fd_.valid())
    return unusable(path_);
  broken_ = true;
  ASSAY_TRY_VOID(check_size(fd_.get(), size_, path_));
  if (::fsync(fd_.get()) != 0)
    return write_failure("cannot sync", errno, path_);
  if (::close(fd_.release()) != 0)
    return write_failure("cannot close", errno, path_);
  return {};
}

}  // namespace assay
