#include "prepare.h"

#include "command.h"
#include "layout.h"
#include "names.h"
#include "place.h"
#include "used_files.h"

#include "assay/base/files.h"
#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/host/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <sys/stat.h>

namespace assay::compare {
namespace {

constexpr std::size_t kMaxDisplayName = 300;

Error bad(std::string what, std::string where) {
  return Error{ErrorCode::invalid_argument, std::move(what), std::move(where)};
}

Result<void> check_commands(const CompareOptions& options) {
  const std::size_t n = options.commands.size();
  if (n == 1)
    return tl::unexpected(bad(
        "1 command: assay compares, so give the second command beside it, each in quotes, as in "
        " assay compare './old --input f' './new --input f'  (the same command twice shows this "
        "host's noise)",
        "commands"));
  if (n < 2)
    return tl::unexpected(
        bad(fmt::format("needs a reference and at least one candidate, got {} commands: put each "
                        "in quotes, as in  assay compare './old --input f' './new --input f'",
                        n),
            "commands"));
  if (options.names.size() > n)
    return tl::unexpected(
        bad(fmt::format("{} names for {} commands: give at most one each", options.names.size(), n),
            "--command-name"));
  const auto one_or_each = [n](const std::vector<std::string>& list, const char* flag) {
    Result<void> ok;
    if (list.size() > 1 && list.size() != n)
      ok =
          tl::unexpected(bad(fmt::format("given {} times for {} commands: give it once for all, or "
                                         "once per command",
                                         list.size(), n),
                             flag));
    return ok;
  };
  ASSAY_TRY_VOID(one_or_each(options.prepare, "--prepare"));
  ASSAY_TRY_VOID(one_or_each(options.conclude, "--conclude"));
  ASSAY_TRY_VOID(one_or_each(options.output, "--output"));
  return {};
}

Result<void> check_limits(const CompareOptions& options) {
  const auto bound = [](std::int64_t bytes) -> Result<void> {
    if (bytes < 1 || bytes > (INT64_C(1) << 30))
      return tl::unexpected(
          bad(fmt::format("{} is out of range: use 1 to {} bytes", bytes, INT64_C(1) << 30),
              "--max-output"));
    return {};
  };
  ASSAY_TRY_VOID(bound(options.stdout_bound));
  ASSAY_TRY_VOID(bound(options.stderr_bound));
  if (options.timeout_ns && *options.timeout_ns < 1)
    return tl::unexpected(bad("must be greater than 0", "--timeout"));
  if (options.seed && (*options.seed < 0 || *options.seed > (INT64_C(1) << 53) - 1))
    return tl::unexpected(
        bad(fmt::format("{} is out of range: use 0 to 2^53-1", *options.seed), "--seed"));
  if (options.oracle_file && options.oracle_command)
    return tl::unexpected(
        bad("conflicts with --oracle-cmd: one of them is the right output", "--oracle"));
  return {};
}

Result<void> check_cpus(const CompareOptions& options) {
  const std::vector<int> usable =
      options.usable_cpus.empty() ? host::usable_cpus() : options.usable_cpus;
  for (const int cpu : options.cpus)
    if (std::find(usable.begin(), usable.end(), cpu) == usable.end())
      return tl::unexpected(bad(fmt::format("CPU {} is not usable here: this process may run on {}",
                                            cpu, fmt::join(usable, ",")),
                                "--cpu"));
  return {};
}

Result<std::string> read_oracle(const std::string& path, std::int64_t bound) {
  const std::string where = fmt::format("--oracle {}", printable(path, 200));
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0)
    return tl::unexpected(system_error(ErrorCode::not_found, "can't be read", errno, where));
  if (!S_ISREG(info.st_mode))
    return tl::unexpected(bad("is no regular file", where));
  if (info.st_size > bound)
    return tl::unexpected(
        bad(fmt::format("has {} bytes, more than the {} bytes of output that are captured: raise "
                        "--max-output",
                        info.st_size, bound),
            where));
  auto bytes = read_file(path, bound);
  if (!bytes)
    return fail(bytes.error().code, bytes.error().what, where);
  return bytes;
}

// Digest of --input; nothing without one.
Result<std::optional<std::string>> input_digest(const std::string& input) {
  if (input.empty())
    return std::nullopt;
  auto digest = sha256_file(input);
  if (!digest)
    return fail(digest.error().code,
                fmt::format("can't be read as a regular file: {}", digest.error().what),
                fmt::format("--input {}", printable(input, 200)));
  return std::optional(*std::move(digest));
}

RunSettings settings_of(const CompareOptions& options) {
  RunSettings settings;
  if (options.timeout_ns)
    settings.timeout = Nanoseconds(*options.timeout_ns);
  if (options.hook_timeout_ns > 0)
    settings.hook_timeout = Nanoseconds(options.hook_timeout_ns);
  settings.stdout_bound = Bytes(options.stdout_bound);
  settings.stderr_bound = Bytes(options.stderr_bound);
  settings.cpus = options.cpus;
  settings.layout_padding = options.layout_padding;
  settings.idle_gap = options.idle_gap;
  settings.show_output = options.show_output;
  const bool tolerant = options.ignore_all_failures || !options.ignored_exit_codes.empty();
  settings.stops_at_rejection = !tolerant || options.fail_fast;
  return settings;
}

Result<void> check_output(PreparedSide& side, const std::string& mode, bool has_oracle,
                          const std::string& role) {
  using process::OutputMode;
  if (mode.empty() || mode == "pipe")
    side.output = OutputMode::capture;
  else if (mode == "null")
    side.output = OutputMode::null;
  else if (mode == "inherit")
    side.output = OutputMode::inherit;
  else
    side.output = OutputMode::file;
  if (side.output != OutputMode::capture && has_oracle)
    return tl::unexpected(bad(fmt::format("'{}' (of the {}) hides the output that --oracle checks: "
                                          "leave it out",
                                          printable(mode, 80), role),
                              "--output"));
  if (side.output == OutputMode::file) {
    side.output_path = mode;
    if (auto writable = check_writable(mode); !writable)
      return fail(writable.error().code, fmt::format("can't be written: {}", writable.error().what),
                  fmt::format("--output {}", printable(mode, 200)));
  }
  return {};
}

const std::string& pick(const std::vector<std::string>& list, std::size_t index) {
  static const std::string none;
  return list.empty() ? none : list.size() == 1 ? list[0] : list[index];
}

// Whether a shell would replace something that begins at text[i]; single quotes are not asked
// about.
bool expands_at(const std::string& text, std::size_t i, bool quoted, bool word_begins) {
  const char c = text[i];
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  const bool variable = c == '$' && (std::isalpha(static_cast<unsigned char>(next)) != 0 ||
                                     next == '_' || next == '{' || next == '(');
  const bool pattern = !quoted && (c == '*' || c == '?' || (c == '~' && word_begins));
  return variable || pattern || c == '`';
}

// What only a shell would act on: an operator, or a word that it would expand.
std::optional<std::string> shell_word(const Command& command) {
  static const std::set<std::string> words = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"};
  for (const std::string& word : command.argv)
    if (words.count(word) != 0)
      return word;
  // Quotes are gone from the words, so these are looked for in the text.
  const std::string& text = command.text;
  char quote = 0;
  bool expands = false;  // something in the word that began at `start`
  for (std::size_t start = 0, i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (expands)
        return text.substr(start, i - start);
      start = i + 1;
    } else if (quote != '\'' && i < text.size()) {
      expands = expands || expands_at(text, i, quote != 0, i == start);
    }
  }
  return std::nullopt;
}

// What is learnt of all commands on the way.
struct Seen {
  UsedFiles files;
  std::optional<std::string> shell_word;       // the first that only a shell would act on
  std::map<std::string, std::string> digests;  // of programs, "" where unreadable

  // A program that many cases share is read once.
  const std::string& digest_of(const std::string& program) {
    const auto known = digests.find(program);
    if (known != digests.end())
      return known->second;
    return digests.emplace(program, sha256_file(program).value_or("")).first->second;
  }
};

// One command at one parameter point, with its hooks.
Result<PreparedSide> prepare_side(const CompareOptions& options, const CommandMaker& maker,
                                  std::size_t index, Seen& seen) {
  PreparedSide side;
  const std::string role = command_role(index, options.commands.size());
  ASSAY_TRY(Command command, maker.make(options.commands[index], role));
  seen.files.add_command(role, command);
  if (options.shell.empty() && !seen.shell_word)
    seen.shell_word = shell_word(command);
  side.argv = std::move(command.argv);
  side.program = std::move(command.program);
  side.program_sha256 = seen.digest_of(side.program);
  const bool named = index < options.names.size() && !options.names[index].empty();
  const std::string& name = index == 0 && options.reference_name ? *options.reference_name
                            : named                              ? options.names[index]
                                                                 : command.text;
  side.name = printable(name, kMaxDisplayName);
  const auto hook = [&maker, &seen](const std::string& text, const char* flag,
                                    Argv& into) -> Result<void> {
    if (text.empty())
      return {};
    ASSAY_TRY(Command made, maker.make(text, flag));
    seen.files.add_command(flag, made);
    into = std::move(made.argv);
    return {};
  };
  ASSAY_TRY_VOID(hook(options.setup, "--setup", side.setup));
  ASSAY_TRY_VOID(hook(pick(options.prepare, index), "--prepare", side.prepare));
  ASSAY_TRY_VOID(hook(pick(options.conclude, index), "--conclude", side.conclude));
  ASSAY_TRY_VOID(hook(options.cleanup, "--cleanup", side.cleanup));
  ASSAY_TRY_VOID(check_output(side, pick(options.output, index),
                              options.oracle_file || options.oracle_command, role));
  return side;
}

Result<PreparedCase> prepare_case(const CompareOptions& options, const ParameterPoint& point,
                                  std::size_t candidate, std::set<std::string>& used, Seen& seen) {
  PreparedCase made;
  made.parameters = point;
  const CommandMaker maker(options.shell, point, used);
  ASSAY_TRY(made.sides[0], prepare_side(options, maker, 0, seen));
  ASSAY_TRY(made.sides[1], prepare_side(options, maker, candidate, seen));
  if (options.oracle_file) {
    ASSAY_TRY(const std::string path, expand(*options.oracle_file, point, "--oracle", used));
    ASSAY_TRY(made.oracle, read_oracle(path, options.stdout_bound));
    seen.files.add("--oracle", path);
  }
  if (options.oracle_command) {
    ASSAY_TRY(Command command, maker.make(*options.oracle_command, "--oracle-cmd"));
    seen.files.add_command("--oracle-cmd", command);
    made.oracle_command = std::move(command.argv);
  }
  return made;
}

// "candidate", "candidate-2" or the -n name, then the parameters: "candidate{n=4,mode=fast}".
std::string raw_case_name(const CompareOptions& options, std::size_t candidate,
                          const ParameterPoint& point) {
  const bool named = candidate < options.names.size() && !options.names[candidate].empty();
  std::string name =
      named ? options.names[candidate] : command_role(candidate, options.commands.size());
  if (point.empty())
    return name;
  std::string values;
  for (const auto& [variable, values_of] : options.parameters)
    values += fmt::format("{}{}={}", values.empty() ? "" : ",", variable, point.at(variable));
  return fmt::format("{}{{{}}}", name, values);
}

// "" = no place was named.
Result<std::string> check_archive(const CompareOptions& options) {
  if (!options.archive)
    return std::string();
  if (options.no_archive)
    return tl::unexpected(bad("conflicts with --no-archive: leave one out", "--archive"));
  if (options.store)
    return tl::unexpected(
        bad("conflicts with --store, which names the parent of new archives: leave one out",
            "--archive"));
  return named_archive(*options.archive);
}

}  // namespace

std::string command_role(std::size_t index, std::size_t commands) {
  if (index == 0)
    return "reference";
  return commands == 2 ? "candidate" : fmt::format("candidate-{}", index);
}

Result<Prepared> prepare(const CompareOptions& options) {
  Prepared prepared;
  ASSAY_TRY_VOID(check_commands(options));
  ASSAY_TRY_VOID(check_limits(options));
  ASSAY_TRY_VOID(check_cpus(options));
  ASSAY_TRY(prepared.archive_path, check_archive(options));
  ASSAY_TRY(const auto points, parameter_points(options.parameters));
  std::set<std::string> used;
  Seen seen;
  std::vector<std::string> raw_names;
  const host::Redactor redact = host::Redactor::for_this_process();  // names are evidence
  for (std::size_t candidate = 1; candidate < options.commands.size(); ++candidate)
    for (const ParameterPoint& point : points) {
      ASSAY_TRY(PreparedCase made, prepare_case(options, point, candidate, used, seen));
      prepared.cases.push_back(std::move(made));
      raw_names.push_back(redact(raw_case_name(options, candidate, point)));
    }
  const std::vector<std::string> names = unique_names(raw_names);
  for (std::size_t i = 0; i < names.size(); ++i)
    prepared.cases[i].name = names[i];
  for (const auto& [variable, values] : options.parameters)
    if (used.count(variable) == 0)
      prepared.notices.push_back(fmt::format(
          "parameter {0} is used in no command: every one of its values measures the same thing "
          "(write {{{0}}} where its value belongs)",
          variable));
  if (seen.shell_word && prepared.notices.empty())
    prepared.notices.push_back(fmt::format(
        "'{}' is passed to the program as it stands, since no shell is used: add -S default if a "
        "shell should act on it",
        printable(*seen.shell_word, 80)));
  ASSAY_TRY(const std::optional<std::string> input_sha256, input_digest(options.input));
  if (!options.input.empty())
    seen.files.add("--input", options.input);
  prepared.used_files = seen.files.all();
  for (PreparedCase& one : prepared.cases) {
    one.input = options.input;
    one.input_sha256 = input_sha256;
  }
  prepared.settings = settings_of(options);
  ASSAY_TRY(const Layout layout, make_layout(options, prepared.cases.size(), prepared.notices));
  prepared.plan = {.seed = options.seed ? *options.seed : random_seed(),
                   .batches = layout.batches,
                   .pairs = layout.pairs,
                   .warmups = layout.warmups,
                   .layout_padding = options.layout_padding,
                   .looks = layout.looks,
                   .cases = names};
  return prepared;
}

}  // namespace assay::compare
