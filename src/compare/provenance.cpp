#include "provenance.h"

#include "assay/base/sha256.h"
#include "assay/host/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace assay::compare {
namespace {

constexpr Nanoseconds kHelperTimeout(INT64_C(10'000'000'000));
constexpr Bytes kHelperOutput(INT64_C(4) << 20);

constexpr std::array<std::string_view, 18> kInterpreters = {
    "sh",   "bash", "dash",   "zsh", "ksh",  "python",  "pypy",  "perl", "ruby",
    "node", "lua",  "luajit", "php", "java", "Rscript", "julia", "deno", "tclsh"};

// "python3.11" is python with a version.
bool is_interpreter(const std::string& program) {
  const std::size_t slash = program.rfind('/');
  std::string_view name = program;
  if (slash != std::string::npos)
    name.remove_prefix(slash + 1);
  const std::string_view bare = name.substr(0, name.find_last_not_of("0123456789.-") + 1);
  return std::find(kInterpreters.begin(), kInterpreters.end(), bare) != kInterpreters.end();
}

bool is_regular_file(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// The first word after the options of an interpreter, where it names a file.
std::optional<std::string> script_of(const PreparedSide& side) {
  if (!is_interpreter(side.program))
    return std::nullopt;
  for (std::size_t i = 1; i < side.argv.size(); ++i) {
    const std::string& word = side.argv[i];
    if (word == "-c" || word == "-e" || word == "-m")
      return std::nullopt;
    if (word.empty() || word[0] == '-')
      continue;
    return is_regular_file(word) ? std::optional(word) : std::nullopt;
  }
  return std::nullopt;
}

Json program_json(const std::string& path, const host::Redactor& redact, const char* what) {
  Json entry = host::program_digest(path);
  entry["path"] = sanitize_utf8(redact(path));
  entry["what"] = what;
  return entry;
}

std::vector<std::string> redacted(const Argv& argv, const host::Redactor& redact) {
  std::vector<std::string> out;
  for (const std::string& word : argv)
    out.push_back(sanitize_utf8(redact(word)));
  return out;
}

verdict::CommandRecord command_record(const PreparedSide& side, const host::Redactor& redact) {
  verdict::CommandRecord record;
  record.name = sanitize_utf8(redact(side.name));
  record.argv = redacted(side.argv, redact);
  record.program_sha256 = side.program_sha256;
  return record;
}

std::string output_name(const PreparedCase& first, const host::Redactor& redact) {
  std::string out;
  for (const PreparedSide& side : first.sides) {
    std::string one;
    switch (side.output) {
      case process::OutputMode::capture:
        one = "capture";
        break;
      case process::OutputMode::null:
        one = "null";
        break;
      case process::OutputMode::inherit:
        one = "inherit";
        break;
      case process::OutputMode::file:
        one = fmt::format("file:{}", sanitize_utf8(redact(side.output_path)));
        break;
    }
    if (out != one)
      out.append(out.empty() ? "" : ",").append(one);
  }
  return out;
}

void add_hooks(verdict::ComparePolicy& policy, const CompareOptions& options,
               const host::Redactor& redact) {
  const auto add = [&](const char* name, const std::vector<std::string>& texts) {
    std::vector<std::string> kept;
    for (const std::string& text : texts)
      if (!text.empty())
        kept.push_back(sanitize_utf8(redact(text)));
    if (!kept.empty())
      policy.hooks[name] = kept;
  };
  add("setup", {options.setup});
  add("prepare", options.prepare);
  add("conclude", options.conclude);
  add("cleanup", {options.cleanup});
}

}  // namespace

host::Runner launcher_runner(process::Launcher& launcher) {
  return [&launcher](const std::vector<std::string>& argv) -> Result<std::string> {
    if (!process::resolve_program(argv.at(0)))
      return fail(ErrorCode::not_found, "no such program", argv[0]);
    process::RunRequest request;
    request.argv = argv;
    request.environment = {{"LC_ALL", "C"}};
    request.timeout = kHelperTimeout;
    request.stdout_bound = kHelperOutput;
    ASSAY_TRY(process::RunResult run, launcher.run(request));
    if (run.outcome != process::Outcome::ok || run.out.truncated)
      return fail(ErrorCode::io, fmt::format("ended as {}", process::outcome_name(run.outcome)),
                  argv[0]);
    return std::move(run.out.bytes);
  };
}

Json host_json(const Prepared& prepared, process::Launcher& launcher,
               const host::Redactor& redact) {
  Json out = host::collect();
  const host::Runner run = launcher_runner(launcher);
  out["toolchains"] = host::toolchains(run);
  out["source"] = host::source_state(".", run);
  Json programs = Json::array();
  std::set<std::string> seen;
  for (const PreparedCase& one : prepared.cases)
    for (const PreparedSide& side : one.sides) {
      if (seen.insert(side.program).second)
        programs.push_back(program_json(side.program, redact, "program"));
      if (const auto script = script_of(side); script && seen.insert(*script).second)
        programs.push_back(program_json(*script, redact, "script"));
    }
  out["programs"] = std::move(programs);
  return out;
}

verdict::HostBounds host_bounds(std::size_t cpus) {
  return {.load1 = host::max_load(static_cast<double>(cpus)), .steal_share = host::kMaxStealShare};
}

verdict::ComparePolicy policy_of(const CompareOptions& options, const Prepared& prepared,
                                 const host::Redactor& redact) {
  verdict::ComparePolicy policy;
  for (const PreparedCase& one : prepared.cases) {
    verdict::CasePolicy made;
    made.name = one.name;
    for (const auto& [variable, value] : one.parameters)
      made.parameters[variable] = sanitize_utf8(redact(value));
    made.reference = command_record(one.side(verdict::Side::reference), redact);
    made.candidate = command_record(one.side(verdict::Side::candidate), redact);
    if (one.oracle)
      made.oracle_sha256 = sha256_hex(*one.oracle);
    policy.cases.push_back(std::move(made));
  }
  policy.gates = options.gates;
  policy.level = options.level;
  policy.bootstrap_draws = options.bootstrap_draws;
  policy.adaptive = options.adaptive;
  policy.smallest_difference = options.resolve;
  policy.oracle_kind = options.oracle_file ? "file" : options.oracle_command ? "command" : "none";
  policy.require_empty_stderr = options.require_empty_stderr;
  policy.ignore_all_failures = options.ignore_all_failures;
  policy.ignored_exit_codes = options.ignored_exit_codes;
  policy.timeout_ns = options.timeout_ns;
  policy.stdout_bound_bytes = options.stdout_bound;
  policy.stderr_bound_bytes = options.stderr_bound;
  policy.output_mode = output_name(prepared.cases.front(), redact);
  policy.shell = sanitize_utf8(redact(options.shell));
  policy.cpus = options.cpus;
  policy.environment = {{"LC_ALL", "C"}, {"ASSAY_ITERATION", "{pair}"}};
  if (options.layout_padding)
    policy.environment["ASSAY_PAD"] = "{padding}";
  add_hooks(policy, options, redact);
  if (options.hook_timeout_ns > 0 && (!policy.hooks.empty() || options.oracle_command))
    policy.hook_timeout_ns = options.hook_timeout_ns;
  const std::vector<int> cpus =
      options.usable_cpus.empty() ? host::usable_cpus() : options.usable_cpus;
  policy.host_bounds = host_bounds(cpus.size());
  policy.input = sanitize_utf8(redact(options.input));
  policy.input_sha256 = prepared.cases.front().input_sha256;
  return policy;
}

}  // namespace assay::compare
