// assay compare: argv -> options -> one library call -> exit code.
#include "assay/compare/compare.h"

#include "cli.h"
#include "compare_words.h"

#include "assay/base/text.h"
#include "assay/host/host.h"
#include "assay/process/launcher.h"
#include "assay/report/render.h"
#include "assay/verdict/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

struct Flags {
  compare::CompareOptions run;
  std::vector<std::string> commands;
  std::string reference;
  std::vector<std::pair<std::string, std::string>> lists;
  std::vector<std::tuple<std::string, std::string, std::string>> scans;
  std::vector<std::string> steps;
  std::string shell, ignored, reference_name, oracle, oracle_command, archive, store, cpus;
  std::optional<double> resolve;
  std::optional<std::int64_t> max_output, hook_timeout;
  bool no_shell = false, no_padding = false, json = false, dry_run = false, verbose = false;
  std::string style = "auto", sort = "auto", unit;
  std::vector<Export> exports;
};

constexpr const char* kExports[] = {"json",    "csv",   "markdown", "asciidoc",
                                    "orgmode", "junit", "github",   "hyperfine"};

// One value per occurrence: "-p X" must not swallow the commands after it.
template <typename T>
void add_repeated(CLI::App& app, const std::string& flags, std::vector<T>& into,
                  const std::string& help) {
  app.add_option(flags, into, help)->allow_extra_args(false);
}

void add_plan_flags(CLI::App& app, Flags& f) {
  constexpr int kMax = 1'000'000;
  add_integer(app, "--batches", f.run.batches, 1, kMax, "batches (10); 8 or more for a verdict");
  add_integer(app, "--pairs,--samples", f.run.pairs, 1, kMax, "measured pairs per batch (6)");
  add_integer(app, "-w,--warmup,--warmups", f.run.warmups, 0, kMax,
              "warm-up runs per side and batch (1)");
  add_integer(app, "-r,--runs", f.run.runs, 1, kMax, "total pairs, spread over 8 or more batches");
  app.add_flag("--adaptive", f.run.adaptive, "look after 8, 12, 16, 20 batches; stop when decided");
  add_integer(app, "-m,--min-runs", f.run.min_runs, 1, kMax, "with --adaptive: at least N pairs");
  add_integer(app, "-M,--max-runs", f.run.max_runs, 1, kMax, "with --adaptive: at most N pairs");
  add_integer(app, "--seed", f.run.seed, 0, (INT64_C(1) << 53) - 1, "seed of the plan (drawn)");
  app.add_flag("--no-layout-padding", f.no_padding, "no random environment size per batch");
  app.add_flag("--idle-gap", f.run.idle_gap, "the same idle time before every run");
  add_repeated(app, "-L,--parameter-list", f.lists, "VAR a,b,c: measure each; {VAR} in commands");
  add_repeated(app, "-P,--parameter-scan", f.scans, "VAR MIN MAX: measure each step");
  add_repeated(app, "-D,--parameter-step-size", f.steps, "step of -P (1)");
}

void add_run_flags(CLI::App& app, Flags& f) {
  app.add_option("-s,--setup", f.run.setup, "CMD once per side and batch, untimed");
  add_repeated(app, "-p,--prepare", f.run.prepare, "CMD before every run; once, or per command");
  add_repeated(app, "-C,--conclude", f.run.conclude, "CMD after every run; once, or per command");
  app.add_option("-c,--cleanup", f.run.cleanup, "CMD at the end of each batch, per side");
  add_limit(app, "--hook-timeout", f.hook_timeout,
            "limit of each of these and of --oracle-cmd (600 s); 0 = none");
  app.add_option("-S,--shell", f.shell, "SHELL|none|default (none): run commands through a shell");
  app.add_flag("-N", f.no_shell, "no shell (the default)");
  app.add_option("--input", f.run.input, "null|FILE as standard input");
  add_repeated(app, "--output", f.run.output, "pipe|null|inherit|FILE (pipe: captured, hashed)");
  app.add_flag("--show-output", f.run.show_output, "copy outputs to stderr after each run");
  add_duration(app, "--timeout", f.run.timeout_ns, "limit per run: seconds, or with ms, s, m");
  add_integer(app, "--max-output", f.max_output, 1, INT64_C(1) << 30,
              "bytes captured per stream (1048576)");
  app.add_option("--cpu", f.cpus, "LIST like 1,3-5: runs stay on these CPUs");
  app.add_flag("-i,--ignore-failure", f.ignored, "=CODES: non-zero exits are no failures");
  app.add_flag("--fail-fast", f.run.fail_fast, "with -i: still stop at the first rejected run");
}

void add_judge_flags(CLI::App& app, Flags& f) {
  app.add_option("--oracle", f.oracle, "FILE with the right output; every run is compared");
  app.add_option("--oracle-cmd", f.oracle_command, "CMD that prints the right output");
  app.add_flag("--require-empty-stderr", f.run.require_empty_stderr,
               "a run that warns is rejected");
  add_percent_cap(app, "--fail-if-slower", f.run.gates.wall_cap, "gate: wall time up PCT percent");
  add_percent_cap(app, "--fail-if-cpu-slower", f.run.gates.cpu_cap,
                  "gate: CPU time up PCT percent");
  add_percent_cap(app, "--fail-if-bigger-rss", f.run.gates.rss_cap,
                  "gate: peak RSS up PCT percent");
  app.add_flag("--tail-gate", f.run.gates.tail, "gate on slow runs too; layout 20 x 6");
  add_percent(app, "--resolve", f.resolve, 0.0001, 1000,
              "PCT: the smallest difference that matters, in percent");
}

void add_output_flags(CLI::App& app, Flags& f) {
  add_repeated(app, "-n,--command-name", f.run.names, "NAME of a command, in order");
  app.add_option("--reference", f.reference, "CMD: the reference; all others are candidates");
  app.add_option("--reference-name", f.reference_name, "NAME of the reference");
  app.add_option("--archive", f.archive, "DIR for the evidence; must not exist");
  app.add_option("--store", f.store, "DIR for new archives ($ASSAY_STORE, ./assay-archives)");
  app.add_flag("--no-archive", f.run.no_archive, "keep no evidence");
  app.add_flag("--verbose", f.verbose, "also both sides' figures and the noise");
  app.add_flag("--json", f.json, "report.json on stdout");
  for (const char* kind : kExports) {
    const std::string flag = fmt::format("--export-{}", kind);
    app.add_option_function<std::string>(
        flag,
        [&f, flag](const std::string& path) {
          f.exports.push_back({flag, path});
        },
        "FILE, - is stdout");
  }
  app.add_option("--style", f.style, "auto|basic|full|nocolor|color|none");
  app.add_option("--sort", f.sort, "auto|command|mean-time")
      ->check(CLI::IsMember({"auto", "command", "mean-time"}));
  app.add_option("-u,--time-unit", f.unit, "nanosecond|microsecond|millisecond|second");
  app.add_flag("--dry-run", f.dry_run, "check everything, print the plan, run nothing");
  app.add_option("COMMAND", f.commands, "REFERENCE CANDIDATE [MORE...], each one word");
}

void add_flags(CLI::App& app, Flags& flags) {
  describe(app, "compare", "Measures commands in interleaved pairs and says which is slower.",
           {"assay compare './old --input f' './new --input f'",
            "assay compare --oracle expected.txt --fail-if-slower 5 './old' './new'"});
  add_plan_flags(app, flags);
  add_run_flags(app, flags);
  add_judge_flags(app, flags);
  add_output_flags(app, flags);
}

Result<void> set_parameters(Flags& f) {
  for (const auto& [name, values] : f.lists)
    f.run.parameters.emplace_back(name, split_list(values));
  if (f.steps.size() > f.scans.size())
    return fail(ErrorCode::invalid_argument, "needs a --parameter-scan VAR MIN MAX",
                "--parameter-step-size");
  for (std::size_t i = 0; i < f.scans.size(); ++i) {
    const auto& [name, low, high] = f.scans[i];
    ASSAY_TRY(auto values, compare::scan_values(low, high, i < f.steps.size() ? f.steps[i] : "1"));
    f.run.parameters.emplace_back(name, std::move(values));
  }
  return {};
}

Result<void> set_ignored(Flags& f) {
  if (f.ignored.empty())
    return {};
  if (f.ignored == "true") {
    f.run.ignore_all_failures = true;
    return {};
  }
  for (const std::string& code : split_list(f.ignored)) {
    ASSAY_TRY(const std::int64_t value, parse_integer(code, 1, 255, "--ignore-failure"));
    f.run.ignored_exit_codes.push_back(static_cast<int>(value));
  }
  return {};
}

void set_texts(Flags& f) {
  const auto set = [](const std::string& text, std::optional<std::string>& into) {
    if (!text.empty())
      into = text;
  };
  set(f.reference_name, f.run.reference_name);
  set(f.oracle, f.run.oracle_file);
  set(f.oracle_command, f.run.oracle_command);
  set(f.archive, f.run.archive);
  set(f.store, f.run.store);
  f.run.shell = f.shell == "none" ? "" : f.shell == "default" ? "sh" : f.shell;
  if (f.run.input == "null")
    f.run.input.clear();
  f.run.stdout_bound = f.run.stderr_bound = f.max_output.value_or(1 << 20);
  f.run.hook_timeout_ns = f.hook_timeout.value_or(compare::kDefaultHookTimeoutNs);
  f.run.layout_padding = !f.no_padding;
  if (f.resolve)
    f.run.resolve = *f.resolve / 100;
  f.run.commands = f.commands;
  if (!f.reference.empty())
    f.run.commands.insert(f.run.commands.begin(), f.reference);
  f.run.tool_version = std::string(kVersion);
}

// The files that runs write.
std::vector<Export> files_written(const Flags& f) {
  std::vector<Export> files;
  for (const std::string& output : f.run.output)
    if (output != "null" && output != "pipe" && output != "inherit")
      files.push_back({"--output", output});
  return files;
}

// The flag that prints a document to stdout; "" where none does.
std::string on_stdout(const Flags& f) {
  if (f.json)
    return "--json";
  const auto export_there = std::find_if(f.exports.begin(), f.exports.end(),
                                         [](const Export& e) { return e.path == "-"; });
  return export_there == f.exports.end() ? "" : export_there->flag + " -";
}

// Nothing that is written may replace what the campaign uses or writes elsewhere.
Result<void> check_files(const Flags& f, const std::vector<compare::UsedFile>& used) {
  std::vector<Export> in_use;
  for (const compare::UsedFile& file : used)
    in_use.push_back({file.what, file.path});
  const std::vector<Export> written = files_written(f);
  for (const Export& output : written)
    ASSAY_TRY_VOID(check_not_in_use(output, in_use, "output"));
  in_use.insert(in_use.end(), written.begin(), written.end());
  return check_exports(f.exports, f.json, in_use);
}

Result<void> check_inherited(const Flags& f) {
  const std::string document = on_stdout(f);
  const auto& outputs = f.run.output;
  if (!document.empty() && std::find(outputs.begin(), outputs.end(), "inherit") != outputs.end())
    return fail(ErrorCode::invalid_argument,
                "inherit would mix what the programs print into the document of " + document +
                    " on stdout; give that a file name, or use --show-output",
                "--output");
  return {};
}

Result<void> set_options(Flags& f) {
  set_texts(f);
  if (f.no_shell && !f.run.shell.empty())
    return fail(ErrorCode::invalid_argument, "conflicts with --shell: leave one out", "-N");
  if (f.run.fail_fast && f.ignored.empty())
    return fail(
        ErrorCode::invalid_argument,
        "belongs to -i: without it the first failed run ends the campaign anyway; add -i, or "
        "leave this out",
        "--fail-fast");
  ASSAY_TRY_VOID(set_parameters(f));
  ASSAY_TRY_VOID(set_ignored(f));
  if (!f.cpus.empty()) {
    ASSAY_TRY(f.run.cpus, parse_cpu_list(f.cpus, "--cpu"));
  }
  ASSAY_TRY(f.unit, time_unit(f.unit));
  f.run.check_files = [&f](const auto& used) { return check_files(f, used); };
  return check_inherited(f);
}

// With --cpu the tool stays away from the measured CPUs where it can.
std::vector<int> other_cpus(const compare::CompareOptions& run) {
  std::vector<int> others;
  if (run.cpus.empty())
    return others;
  for (const int cpu : run.usable_cpus)
    if (std::find(run.cpus.begin(), run.cpus.end(), cpu) == run.cpus.end())
      others.push_back(cpu);
  return others;
}

Result<std::string> rendered(const Export& target, const compare::CompareResult& result) {
  const std::string kind = target.flag.substr(std::string_view("--export-").size());
  if (kind == "json")
    return result.report_bytes;
  if (kind == "markdown")
    return report::markdown(result.report);
  if (kind == "asciidoc")
    return report::asciidoc(result.report);
  if (kind == "orgmode")
    return report::orgmode(result.report);
  if (kind == "junit")
    return report::junit(result.report);
  if (kind == "github")
    return report::github_annotations(result.report);
  ASSAY_TRY(const std::vector<std::string> lines, compare::sample_lines(result));
  return kind == "csv" ? report::csv(lines) : report::hyperfine_json(result.report, lines);
}

Result<void> print_report(const Flags& f, const Style& style,
                          const compare::CompareResult& result) {
  const std::string place = result.archive_path.empty()
                                ? ""
                                : fmt::format("archive: {}\n", printable(result.archive_path));
  if (f.json) {
    ASSAY_TRY_VOID(write_stdout(result.report_bytes));
  }
  if (!on_stdout(f).empty()) {
    if (!style.silent)
      write_stderr(place);
    return {};
  }
  if (style.silent)
    return {};
  // The place first: the last line is the verdict.
  return write_stdout(place + report::terminal(result.report, {.color = style.color,
                                                               .unicode = style.unicode,
                                                               .columns = style.columns,
                                                               .archived = !f.run.no_archive,
                                                               .verbose = f.verbose,
                                                               .time_unit = f.unit,
                                                               .sort = f.sort}));
}

// An export that fails takes neither the others nor the report with it. False after any error, all
// of which are printed.
bool print_result(const Flags& f, const Style& style, const compare::CompareResult& result) {
  std::vector<Error> errors;
  for (const Export& target : f.exports) {
    const auto written = rendered(target, result).and_then([&target](const std::string& bytes) {
      return write_export(target, bytes);
    });
    if (!written)
      errors.push_back(written.error());
  }
  if (const auto printed = print_report(f, style, result); !printed)
    errors.push_back(printed.error());
  for (const Error& error : errors)
    report_error(error);
  return errors.empty();
}

int measure(Flags& f, const Style& style) {
  process::install_signal_handlers();
  f.run.usable_cpus = host::usable_cpus();  // before the launcher moves this process aside
  auto launcher = process::Launcher::start({.own_cpus = other_cpus(f.run)});
  if (!launcher)
    return report_error(launcher.error());
  ProgressLine line(style);
  const auto result =
      compare::run_compare(f.run, *launcher, [&line, &style](const compare::Progress& p) {
        if (!style.silent)
          line.update(
              {p.pairs_done, p.pairs_planned, p.batch, p.batches, p.what, p.elapsed_seconds});
      });
  line.finish();
  if (!result)
    return report_error(result.error());
  const bool printed = print_result(f, style, *result);
  if (!result->first_failure.empty())
    write_stderr(fmt::format("assay: {}\n", result->first_failure));
  // A terminal that went away (SIGHUP) cannot be printed to either: the signal is the reason.
  if (const int signal = process::stop_signal();
      result->stop_signal != 0 || (!printed && signal != 0)) {
    if (!printed)
      write_stderr(stopped_text(signal, result->archive_path));
    return interrupted_exit_code(signal);
  }
  return printed ? verdict::exit_code_of(result->report) : kExitInvalid;
}

int print_plan(const Flags& f) {
  const auto text = f.json ? compare::plan_documents(f.run).map([](const Json& documents) {
    return canonical_json(documents) + "\n";
  })
                           : compare::describe_plan(f.run);
  if (!text)
    return report_error(text.error());
  if (const auto written = write_stdout(*text); !written)
    return report_error(written.error());
  return kExitDone;
}

}  // namespace

int compare_main(const std::vector<std::string>& args) {
  CLI::App app;
  Flags flags;
  add_flags(app, flags);
  if (const auto code = parse_arguments(app, adapted(args), {"--command-name"}))
    return *code;
  const auto style = resolve_style(flags.style);
  if (!style)
    return report_error(style.error());
  if (const auto set = set_options(flags); !set)
    return report_error(set.error());
  flags.run.notice = [&style](const std::string& text) {
    if (!style->silent)
      write_stderr(fmt::format("assay: note: {}\n", text));
  };
  return flags.dry_run ? print_plan(flags) : measure(flags, *style);
}

}  // namespace assay::cli
