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
  // Made absolute first: "x" and "./x" stay apart where there is no x yet.
  const auto whole = std::filesystem::absolute(path, error);
  const auto place = error ? whole : std::filesystem::weakly_canonical(whole, error);
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

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) || place_of(a) == place_of(b);
}

}  // namespace

Result<void> check_not_in_use(const Export& target, const std::vector<Export>& in_use,
                              const std::string& noun) {
  for (const Export& other : in_use)
    if (same_place(other.path, target.path))
      return fail(ErrorCode::invalid_argument,
                  "'" + printable(target.path, 200) + "' is in use by the campaign (" + other.flag +
                      "); give the " + noun + " a file of its own",
                  target.flag);
  return {};
}

Result<void> check_exports(const std::vector<Export>& exports, bool stdout_taken,
                           const std::vector<Export>& in_use) {
  std::string stdout_owner = stdout_taken ? "--json" : "";
  std::vector<Export> seen;
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
    for (const Export& other : seen)
      if (same_place(other.path, target.path))
        return fail(ErrorCode::invalid_argument,
                    other.flag + " already writes '" + printable(target.path, 200) +
                        "'; give each export its own file",
                    target.flag);
    ASSAY_TRY_VOID(check_not_in_use(target, in_use, "export"));
    seen.push_back(target);
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
