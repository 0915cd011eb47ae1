// Files that survive power loss: the only way assay writes anything that matters.
//
// Sequence of a new file: O_EXCL temp in the same directory, write loop, size check, fchmod, fsync,
// close, renameat2(RENAME_NOREPLACE), directory fsync. A failed fsync is final. No function here
// follows a symlink in the last component. Errors: not_persisted for writes; not_found or io for
// reads. A caller that runs under RLIMIT_FSIZE must ignore SIGXFSZ to see the error.
#pragma once

#include "assay/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace assay {

// An owned descriptor; move-only.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Whole file; fails with io when it is larger than `max_bytes`. A read error is an error, never an
// end of file. Regular files and character devices only: a FIFO is refused, not waited for.
Result<std::string> read_file(const std::string& path, std::int64_t max_bytes = INT64_C(1) << 30);

// Creates the directory (parent must exist), mode 0755 by default, fsyncs the parent.
// already_exists when the path exists.
Result<void> make_directory(const std::string& path, mode_t mode = 0755);
// Creates missing ancestors too (existing ones are fine), each level fsynced.
Result<void> make_directories(const std::string& path);

// Durable, never overwrites: already_exists when `path` exists.
Result<void> write_new_file(const std::string& path, std::string_view bytes, mode_t mode = 0644);
// Durable, replaces atomically. For exports and caches only, never for evidence. Refuses to replace
// anything but a regular file.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode = 0644);
// Whether a file could be created or replaced at `path` ("-" is stdout), without leaving a trace.
// Errors: invalid_argument, naming the path.
Result<void> check_writable(const std::string& path);

// An append-only file. One write(2) per append; a failed or short one is cut back to the last good
// size. After a torn append that cannot be cut away, or a failed sync, every later call fails with
// not_persisted.
class AppendFile {
 public:
  // O_EXCL creation; fsyncs the directory.
  static Result<AppendFile> create(const std::string& path, mode_t mode = 0644);

  Result<void> append(std::string_view bytes);
  // fdatasync; a failure is final.
  Result<void> sync();
  // fsync, size check and close; the object is unusable afterwards.
  Result<void> close();
  std::int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  AppendFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<void> check_or_break();
  Fd fd_;
  std::string path_;
  std::int64_t size_ = 0;
  bool broken_ = false;
};

}  // namespace assay
