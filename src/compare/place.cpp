#include "place.h"

#include "assay/base/ids.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::compare {
namespace {

constexpr std::size_t kShown = 200;

Error bad(std::string what, std::string where) {
  return Error{ErrorCode::invalid_argument, std::move(what), std::move(where)};
}

std::string flag_and(const std::string& path) {
  return fmt::format("--archive {}", printable(path, kShown));
}

// "x/./", "x//." -> "x"; "./." -> ".".
std::string without_tail(std::string path) {
  for (;;) {
    const std::size_t size = path.size();
    if (size > 1 && path.back() == '/')
      path.pop_back();
    else if (size > 2 && path.compare(size - 2, 2, "/.") == 0)
      path.resize(size - 2);
    else
      return path;
  }
}

}  // namespace

Result<std::string> named_archive(const std::string& path) {
  const std::string where = flag_and(path);
  if (path.empty())
    return tl::unexpected(bad("is empty: name a directory that doesn't exist yet", where));
  std::string place = without_tail(path);
  struct stat info = {};
  if (lstat(place.c_str(), &info) == 0)
    return fail(ErrorCode::already_exists,
                "exists already, and evidence is never overwritten: choose another name", where);
  // "x/.." of an x that is not there: its parents would be made, and then it would exist.
  if (place.compare(place.rfind('/') + 1, std::string::npos, "..") == 0)
    return tl::unexpected(bad("ends in \"..\": name a directory that doesn't exist yet", where));
  ASSAY_TRY_VOID(check_creatable(place, where));
  return place;
}

Result<void> check_creatable(const std::string& place, const std::string& where) {
  std::string at = place;
  struct stat info = {};
  for (;;) {
    while (at.size() > 1 && at.back() == '/')
      at.pop_back();
    if (stat(at.c_str(), &info) == 0)
      break;
    if (errno != ENOENT && errno != ENOTDIR)
      return tl::unexpected(
          system_error(ErrorCode::invalid_argument, "can't be created", errno, where));
    const std::size_t slash = at.rfind('/');
    at = slash == std::string::npos ? "." : slash == 0 ? "/" : at.substr(0, slash);
  }
  if (!S_ISDIR(info.st_mode))
    return tl::unexpected(
        bad(fmt::format("can't be created: '{}' is no directory", printable(at, kShown)), where));
  if (access(at.c_str(), W_OK | X_OK) != 0)
    return tl::unexpected(
        system_error(ErrorCode::invalid_argument,
                     fmt::format("can't be created in '{}' (choose another place with --archive)",
                                 printable(at, kShown)),
                     errno, where));
  return {};
}

std::string default_archive_path(const std::optional<std::string>& store, std::string_view id) {
  const char* inherited = std::getenv("ASSAY_STORE");
  const std::string root = store                                          ? *store
                           : inherited != nullptr && inherited[0] != '\0' ? inherited
                                                                          : "assay-archives";
  const std::string own = id.empty() ? uuid_v4() : std::string(id);
  return root + "/" + utc_basic(utc_now()) + "-" + own.substr(0, 8);
}

Error in_archive_flag(Error error, const std::string& path) {
  if (path.empty())
    return error;
  const bool same = error.where.empty() || error.where == path;
  error.where = flag_and(path) + (same ? "" : ": " + error.where);
  return error;
}

}  // namespace assay::compare
