#include "facts.h"

#include "assay/base/sha256.h"

#include <cerrno>
#include <sys/stat.h>

namespace assay::host {

namespace {

// host.json stays small; the digest covers every entry all the same.
constexpr std::size_t kMaxStatusEntries = 200;

std::string run_reason(const Error& error, const char* missing) {
  return error.code == ErrorCode::not_found ? missing : "command_failed";
}

Json first_line(const Result<std::string>& output) {
  if (!output)
    return not_available(run_reason(output.error(), "not_installed"));
  const std::string_view line = std::string_view(*output).substr(0, output->find('\n'));
  if (!is_clean(line))
    return not_available(kUnexpected);
  return observed(std::string(line));
}

std::vector<std::string> git(const std::string& directory, std::vector<std::string> words) {
  // No optional locks: we only read. No fsmonitor: a checkout's settings must not start a program.
  std::vector<std::string> argv = {
      "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", directory};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Json commit_json(const Result<std::string>& output) {
  if (!output)
    return not_available(run_reason(output.error(), "git_not_installed"));
  std::string_view text = *output;
  if (!text.empty() && text.back() == '\n')
    text.remove_suffix(1);
  if (!is_commit(text))
    return not_available(kUnexpected);
  return observed(std::string(text));
}

// Records of `--porcelain=v1 -z`: two status letters (a blank is a letter too: " M" is unstaged, "M
// " is staged), a blank, the path; a rename or copy is followed by its origin as a record of its
// own.
Fact<Json> parse_status(std::string_view bytes) {
  Json entries = Json::array();
  std::int64_t total = 0;
  while (!bytes.empty()) {
    const auto take = [&]() -> std::optional<std::string_view> {
      const auto end = bytes.find('\0');
      if (end == std::string_view::npos)
        return std::nullopt;
      const auto record = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      return record;
    };
    const auto record = take();
    if (!record || record->size() < 4 || (*record)[2] != ' ')
      return no_fact(kUnexpected);
    const auto letters = record->substr(0, 2);
    if (letters.find_first_not_of(" MTADRCU?!") != std::string_view::npos)
      return no_fact(kUnexpected);
    Json entry = {{"status", std::string(letters)}, {"path", sanitize_utf8(record->substr(3))}};
    if (letters.find_first_of("RC") != std::string_view::npos) {
      const auto origin = take();
      if (!origin)
        return no_fact(kUnexpected);
      entry["from"] = sanitize_utf8(*origin);
    }
    if (++total <= static_cast<std::int64_t>(kMaxStatusEntries))
      entries.push_back(std::move(entry));
  }
  return Json{{"entries", std::move(entries)}, {"entries_total", total}};
}

Json status_json(const Result<std::string>& output) {
  if (!output)
    return not_available(run_reason(output.error(), "git_not_installed"));
  auto status = parse_status(*output);
  if (!status)
    return not_available(status.error());
  (*status)["clean"] = output->empty();
  (*status)["sha256"] = sha256_hex(*output);
  return observed(std::move(*status));
}

}  // namespace

Json toolchains(const Runner& run) {
  Json versions = Json::object();
  for (const char* compiler : {"gcc", "g++", "clang", "clang++", "rustc"})
    versions[compiler] = first_line(run({compiler, "--version"}));
  return versions;
}

Json source_state(const std::string& directory, const Runner& run) {
  const auto inside = run(git(directory, {"rev-parse", "--is-inside-work-tree"}));
  if (!inside || *inside != "true\n") {
    const bool missing = !inside && inside.error().code == ErrorCode::not_found;
    const Json reason = not_available(missing ? "git_not_installed" : "not_a_git_checkout");
    return {{"commit", reason}, {"status", reason}};
  }
  return {{"commit", commit_json(run(git(directory, {"rev-parse", "--verify", "HEAD"})))},
          {"status", status_json(run(git(directory, {"status", "--porcelain=v1", "-z",
                                                     "--untracked-files=normal"})))}};
}

Json program_digest(const std::string& resolved_path) {
  struct stat info {};
  if (::stat(resolved_path.c_str(), &info) != 0)
    return not_available(errno == ENOENT || errno == ENOTDIR ? "not_present"
                         : errno == EACCES                   ? "permission_denied"
                                                             : "read_error");
  if (!S_ISREG(info.st_mode))
    return not_available("not_a_file");
  const auto digest = sha256_file(resolved_path);
  if (!digest)
    return not_available("read_error");
  return observed({{"sha256", *digest}, {"bytes", static_cast<std::int64_t>(info.st_size)}});
}

}  // namespace assay::host
