#include "cli.h"

#include "assay/base/files.h"
#include "assay/base/text.h"

#include <filesystem>
#include <sys/stat.h>

namespace assay::cli {

namespace {

// One spelling per place, for files that do not exist yet as well.
std::string place_of(const std::string& path) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(path, error);
  return error ? path : place.string();
}

Result<void> check_file(const Export& target) {
  if (target.path.empty())
    return fail(ErrorCode::invalid_argument, "the file name is empty; give a path, or - for stdout",
                target.flag);
  struct stat info {};
  if (::stat(target.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return fail(ErrorCode::invalid_argument,
                "'" + printable(target.path, 200) + "' is a directory; give a file in it",
                target.flag);
  auto writable = check_writable(target.path);
  if (writable)
    return {};
  Error error = writable.error();
  error.where = target.flag + " " + printable(target.path, 200);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<void> check_exports(const std::vector<Export>& exports, bool stdout_taken) {
  std::string stdout_owner = stdout_taken ? "--json" : "";
  std::vector<std::pair<std::string, std::string>> seen;  // place, flag
  for (const auto& target : exports) {
    if (target.path == "-") {
      if (!stdout_owner.empty())
        return fail(ErrorCode::invalid_argument,
                    stdout_owner + " already prints to stdout; give one of them a file name",
                    target.flag);
      stdout_owner = target.flag;
      continue;
    }
    ASSAY_TRY_VOID(check_file(target));
    const auto place = place_of(target.path);
    for (const auto& [other, flag] : seen)
      if (other == place)
        return fail(ErrorCode::invalid_argument,
                    flag + " already writes '" + printable(target.path, 200) +
                        "'; give each export its own file",
                    target.flag);
    seen.emplace_back(place, target.flag);
  }
  return {};
}

Result<void> write_export(const Export& target, std::string_view bytes) {
  if (target.path == "-")
    return write_stdout(bytes);
  auto written = replace_file(target.path, bytes);
  if (written)
    return {};
  Error error = written.error();
  error.where = target.flag + " " + printable(target.path, 200);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace assay::cli
