// assay calibrate: argv -> options -> one library call -> exit code. What it prints:
// calibrate_text.cpp.
#include "assay/compare/calibrate.h"

#include "calibrate_text.h"
#include "cli.h"

#include "assay/base/files.h"
#include "assay/base/ids.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/process/launcher.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::cli {
namespace {

struct Flags {
  compare::CalibrateOptions run;
  SimulateFlags simulate_flags;
  bool simulate = false;
  std::optional<double> budget, inject;
  std::optional<int> busy;
  std::optional<std::int64_t> work_ns;
  std::string archive;
  bool json = false;
  std::string style = "auto";
};

void add_flags(CLI::App& app, Flags& flags) {
  describe(app, "calibrate", "This host's own false-alarm rate, from A/A runs of one program.",
           {"assay calibrate --budget 60", "assay calibrate --budget 120 --inject 3",
            "assay calibrate -- ./prog --input f"});
  add_number(app, "--budget", flags.budget, 1, 86400, "seconds to spend (300)");
  add_integer(app, "--batches", flags.run.batches, 1, 100000,
              "batches of 6 pairs, instead of a budget");
  add_integer(app, "--seed", flags.run.seed, 0, (INT64_C(1) << 53) - 1, "seed of the plan (drawn)");
  add_duration(app, "--work", flags.work_ns, "length of one run of the built-in program (5ms)");
  add_percent(app, "--inject", flags.inject, 0, 1000,
              "also measure runs of the built-in program that are PCT % longer");
  app.add_flag("--blocks", flags.run.blocks,
               "A..A B..B order instead of pairs: what an unpaired tool sees");
  add_integer(app, "--busy", flags.busy, 0, 1024,
              "threads of deliberate load beside the measurement");
  app.add_flag("--simulate", flags.simulate,
               "simulate the rules on the noise grid; runs no program");
  add_integer(app, "--replications", flags.simulate_flags.replications, 10, 10000000,
              "replications per cell of --simulate (1000)");
  app.add_flag("--markdown", flags.simulate_flags.markdown,
               "--simulate prints docs/reference/error-rates.md");
  app.add_option("--archive", flags.archive, "where the evidence goes; must not exist");
  app.add_flag("--json", flags.json, "the report on stdout");
  app.add_option("--style", flags.style, "auto|basic|full|nocolor|color|none");
  app.add_option("COMMAND", flags.run.command,
                 "after --: the program to copy and run (built-in work)");
}

// A flag that would change nothing is refused: whoever gave it expects that it does something.
Result<void> check_combination(const CLI::App& app, const Flags& flags) {
  const auto refuse = [](const std::string& flag, const std::string& why) {
    return fail(ErrorCode::invalid_argument, why, flag);
  };
  if (flags.run.blocks && flags.inject)
    return refuse("--blocks", "conflicts with --inject: leave one out");
  if (flags.inject && *flags.inject == 0)
    return refuse("--inject",
                  "0 would measure the same program again, for nothing: give a percentage above 0, "
                  "or leave it out");
  if (flags.budget && flags.run.batches)
    return refuse("--batches", "conflicts with --budget, which chooses them: leave one out");
  if (!flags.run.command.empty() && flags.work_ns)
    return refuse("--work",
                  "is the length of the built-in program, and a COMMAND is given: leave one out");
  const std::initializer_list<const char*> simulated = {"--replications", "--markdown"};
  const std::initializer_list<const char*> measured = {
      "--budget", "--batches", "--work", "--inject", "--blocks", "--busy", "--archive", "COMMAND"};
  for (const char* flag : flags.simulate ? measured : simulated)
    if (app.count(flag) != 0)
      return refuse(flag,
                    flags.simulate
                        ? "belongs to a measurement, and --simulate runs no program: leave one out"
                        : "belongs to --simulate: add it, or leave this out");
  if (flags.json && flags.simulate_flags.markdown)
    return refuse("--markdown", "conflicts with --json: leave one out");
  return {};
}

int exit_code(const Json& report) {
  if (report.at("status") == "interrupted")
    return interrupted_exit_code(process::stop_signal());
  if (report.at("plan_order") == "blocks")
    return kExitDone;
  int code = kExitDone;
  for (const auto& [metric, value] : report.at("calibration").items()) {
    const std::string state = value.at("state").get<std::string>();
    if (state == "FAILED")
      return kExitFailed;
    if (state == "INCOMPLETE")
      code = kExitIncomplete;
  }
  return code;
}

std::string built_in_program() {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "assay-work")
      .string();
}

std::string record_text(const compare::CalibrateResult& result) {
  if (!result.record_path.empty())
    return fmt::format("record: {} (comparisons on this host cite it)\n",
                       printable(result.record_path));
  return result.no_record.empty() ? "" : fmt::format("record: none: {}\n", result.no_record);
}

double seconds_since(Nanoseconds start) {
  return static_cast<double>((monotonic_now() - start).value) / 1e9;
}

int measure(Flags& flags, const Style& style) {
  const Nanoseconds started = monotonic_now();
  process::install_signal_handlers();
  auto launcher = process::Launcher::start();
  if (!launcher)
    return report_error(launcher.error());
  flags.run.work_program = built_in_program();
  flags.run.tool_version = std::string(kVersion);
  if (!flags.archive.empty())
    flags.run.archive = flags.archive;
  ProgressLine line(style);
  const auto result =
      compare::run_calibration(flags.run, *launcher, [&](const compare::Progress& p) {
        if (!style.silent)
          line.update(
              {p.pairs_done, p.pairs_planned, p.batch, p.batches, p.what, p.elapsed_seconds});
      });
  line.finish();
  if (!result)
    return report_error(result.error());
  const std::string text =
      flags.json ? canonical_json(result->report) + "\n"
                 : calibration_text(result->report, result->seconds_per_batch) +
                       "evidence: " + result->archive_path + "\n" + record_text(*result);
  if (result->record_error && !style.silent)
    write_stderr(fmt::format("assay: note: this host's record could not be kept: {}\n",
                             printable(result->record_error->message())));
  if (!flags.run.batches && !style.silent && result->stop_signal == 0)
    write_stderr(over_budget_text(flags.run.budget_seconds, seconds_since(started)));
  if (const auto written = write_stdout(text); !written) {
    const int code = report_error(written.error());
    const int signal = process::stop_signal();
    if (signal == 0)
      return code;
    write_stderr(stopped_text(signal, result->archive_path));
    return interrupted_exit_code(signal);
  }
  return exit_code(result->report);
}

}  // namespace

int calibrate_main(const std::vector<std::string>& args) {
  CLI::App app;
  Flags flags;
  add_flags(app, flags);
  if (const auto code = parse_arguments(app, args))
    return *code;
  const auto style = resolve_style(flags.style);
  if (!style)
    return report_error(style.error());
  flags.run.budget_seconds = flags.budget.value_or(300);
  flags.run.inject_percent = flags.inject.value_or(0);
  flags.run.busy_threads = flags.busy.value_or(0);
  flags.run.work_ns = flags.work_ns.value_or(5'000'000);
  if (const auto clear = check_combination(app, flags); !clear)
    return report_error(clear.error());
  if (flags.simulate) {
    flags.simulate_flags.seed = flags.run.seed.value_or(20261130);
    flags.simulate_flags.json = flags.json;
    return simulate_main(flags.simulate_flags, *style);
  }
  return measure(flags, *style);
}

}  // namespace assay::cli
