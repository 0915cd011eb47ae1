#include "copies.h"

#include "assay/base/sha256.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "assay-aa-";

// The directory, locked; no descriptor where it is in use, not ours, or no directory.
Fd locked(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid() ||
      ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return Fd();
  return fd;
}

// Whether the name still leads to what `fd` is open on.
bool still_there(const Fd& fd, const std::string& directory) {
  struct stat opened = {}, named = {};
  return ::fstat(fd.get(), &opened) == 0 && ::lstat(directory.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void remove_abandoned(const std::string& root) {
  std::error_code error;
  for (fs::directory_iterator at(root, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string path = at->path().string();
    if (at->path().filename().string().rfind(kPrefix, 0) != 0)
      continue;
    if (const Fd lock = locked(path); lock.valid()) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  }
}

}  // namespace

Result<Copies> Copies::make(const std::string& program) {
  std::error_code ignored;
  const fs::path root = fs::temp_directory_path(ignored);
  remove_abandoned(root.string());
  constexpr int kAttempts = 10;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string directory = (root / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(directory.data()) == nullptr)
      return tl::unexpected(
          system_error(ErrorCode::io, "cannot make a temporary directory", errno, directory));
    Fd lock = locked(directory);
    // Between its making and its lock another calibration may have taken it for abandoned.
    if (!lock.valid() || !still_there(lock, directory)) {
      ::rmdir(directory.c_str());
      continue;
    }
    Copies copies(directory, std::move(lock), program);
    ASSAY_TRY(copies.digest_, sha256_file(program));
    ASSAY_TRY_VOID(copies.renew());
    return copies;
  }
  return fail(ErrorCode::io, "cannot lock a temporary directory for the copies", root.string());
}

Result<void> Copies::renew() {
  for (const verdict::Side side : {verdict::Side::reference, verdict::Side::candidate}) {
    std::error_code error;
    fs::remove(path(side), error);
    fs::copy_file(program_, path(side), error);
    if (!error)
      fs::permissions(path(side), fs::perms{0755}, error);
    if (error)
      return fail(ErrorCode::io, "cannot copy the program: " + error.message(), program_);
    ASSAY_TRY(const std::string digest, sha256_file(path(side)));
    if (digest != digest_)
      return fail(ErrorCode::io, "the program changed while it was measured", program_);
  }
  return {};
}

Copies::~Copies() {
  if (directory_.empty())
    return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Copies::Copies(Copies&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      lock_(std::move(other.lock_)),
      program_(std::move(other.program_)),
      digest_(std::move(other.digest_)) {}

}  // namespace assay::compare
