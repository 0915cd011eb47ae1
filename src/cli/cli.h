// What every subcommand file shares. A subcommand is one function: argv -> options -> one library
// call
// -> exit code. Its file lives in src/cli, its line in the table of main.cpp.
//
// A command that measures starts its process::Launcher right after parse_arguments() and before it
// reads any file, so that the helper starts while this process is small.
#pragma once

#include "assay/base/result.h"
#include "assay/base/units.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

// docs/reference/exit-codes.md. Verdicts map to these in verdict::exit_code_of() only.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitInvalid = 2;
inline constexpr int kExitIncomplete = 3;
inline constexpr int kExitInconclusive = 4;

inline constexpr std::string_view kVersion = ASSAY_VERSION;

// `args` are the words after the subcommand's name.
int compare_main(const std::vector<std::string>& args);
int analyze_main(const std::vector<std::string>& args);
int calibrate_main(const std::vector<std::string>& args);
int doctor_main(const std::vector<std::string>& args);

// ---- Terminal (terminal.cpp)
// ---------------------------------------------------------------------

struct Style {
  bool color = false;        // on stdout
  bool interactive = false;  // stderr may rewrite its progress line
  bool silent = false;       // --style none: no progress, no table
  bool unicode = true;       // the locale is UTF-8
  int columns = 100;         // of stdout's terminal, else $COLUMNS, else 100
};
// "auto", "basic", "full", "nocolor", "color" or "none" as hyperfine has them. auto: colours and a
// rewritten progress line on a TTY, unless NO_COLOR is set (colours) or TERM=dumb (both).
Result<Style> resolve_style(const std::string& name);

// First of all: an error where standard output is closed, because the next file opened would take
// its place and be written into. Closed standard input and error become /dev/null for the same
// reason.
Result<void> claim_standard_files();
// Whole writes; an error (closed pipe, full disk) is returned, never lost. Nobody reads and a stop
// signal came: interrupted (assay/process/output.h).
Result<void> write_stdout(std::string_view bytes);
void write_stderr(std::string_view bytes);

// "assay: where: what" on stderr. Returns 130 or 143 for interrupted (the latter after SIGTERM),
// else 2.
int report_error(const Error& error);
// What is said where a signal ended a campaign and its report cannot be printed.
std::string stopped_text(int signal, const std::string& archive);
// 129, 130, 131 or 143 for the signal that stopped a campaign.
int interrupted_exit_code(int signal);

// Progress on stderr: on a TTY one line that is rewritten (at most 10 times a second), elsewhere a
// line at most every 5 s and whenever `batch` changes. Never called inside a timed span.
class ProgressLine {
 public:
  struct State {
    std::int64_t done = 0, planned = 0;  // pairs, or whatever `unit` says
    int batch = 0, batches = 0;          // 0 = no batches
    std::string what;                    // the case being measured
    double elapsed_seconds = 0;
    std::string_view unit = "pairs";
  };
  using Sink = std::function<void(std::string_view)>;

  explicit ProgressLine(const Style& style, Sink sink = write_stderr);
  ~ProgressLine();  // erases a rewritten line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const State& state);
  void finish();

 private:
  Style style_;
  Sink sink_;
  bool shown_ = false;
  bool started_ = false;
  int last_batch_ = -1;
  double last_seconds_ = 0;
};
// "12/60 pairs (20 %), batch 2 of 10, ETA 14 s, candidate": what a progress line says.
std::string progress_text(const ProgressLine::State& state);

// ---- Arguments (arguments.cpp)
// -------------------------------------------------------------------

// Names the app "assay COMMAND" and sets the footer with its examples.
void describe(CLI::App& app, const std::string& command, const std::string& summary,
              const std::vector<std::string>& examples);
// What --help prints (help.cpp). A help string that begins with CMD, FILE, NAME, DIR, LIST, VAR,
// PCT or a choice such as "pipe|null" names its value that way; neighbours with one help string
// share a line.
std::string help_text(const CLI::App& app);
// Parses; nullopt = go on, else the exit code to return: 0 after --help, 2 after an error, which
// names the flag and what to try. Any other exception of CLI11 is an exit 2 as well. An empty value
// is an error except for the flags `may_be_empty` (their first long names).
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args,
                                   const std::vector<std::string>& may_be_empty = {});

// Options with strict values: the whole word, no NaN, inside [min, max]. They write only when
// given.
CLI::Option* add_integer(CLI::App& app, const std::string& flags, std::optional<std::int64_t>& into,
                         std::int64_t min, std::int64_t max, const std::string& help);
CLI::Option* add_integer(CLI::App& app, const std::string& flags, std::optional<int>& into, int min,
                         int max, const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& flags, std::optional<double>& into,
                        double min, double max, const std::string& help);
// "5", "5%" or "2.5" -> 5, 5, 2.5. min <= PCT <= max.
CLI::Option* add_percent(CLI::App& app, const std::string& flags, std::optional<double>& into,
                         double min, double max, const std::string& help);
// A share: "0.95" or "95%" -> 0.95. min <= share <= max.
CLI::Option* add_share(CLI::App& app, const std::string& flags, std::optional<double>& into,
                       double min, double max, const std::string& help);
// "5", "5%" or "2.5": the value becomes 1 + PCT/100 (a ratio cap). 0 <= PCT <= 10000.
CLI::Option* add_percent_cap(CLI::App& app, const std::string& flags, std::optional<double>& into,
                             const std::string& help);
// Nanoseconds of parse_duration.
CLI::Option* add_duration(CLI::App& app, const std::string& flags,
                          std::optional<std::int64_t>& into, const std::string& help);
// The same, and "0" for no limit.
CLI::Option* add_limit(CLI::App& app, const std::string& flags, std::optional<std::int64_t>& into,
                       const std::string& help);

// Seconds ("1.5"), or with ms, s or m. > 0 and at most 30 days. `name` is used in the error.
Result<Nanoseconds> parse_duration(std::string_view text, const std::string& name);
// "5" or "5%" -> 5.0; 0 <= PCT <= 10000.
Result<double> parse_percent(std::string_view text, const std::string& name);
// "0,2-3" -> {0, 2, 3}; sorted, unique, each 0..4095.
Result<std::vector<int>> parse_cpu_list(std::string_view text, const std::string& name);

// The entry of `known` with the smallest edit distance to `word`, or "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// ---- Exports (exports.cpp)
// -----------------------------------------------------------------------

struct Export {
  std::string flag;  // "--export-json", for errors
  std::string path;  // "-" is stdout
};
// Before the first run: each path can be written, none is a directory, no two are the same place,
// none is one of the files `in_use` and only one is stdout (`stdout_taken`: --json already prints
// there).
Result<void> check_exports(const std::vector<Export>& exports, bool stdout_taken,
                           const std::vector<Export>& in_use = {});
// An error where `target` is the same place as one of the files `in_use`; `noun` says what it is.
Result<void> check_not_in_use(const Export& target, const std::vector<Export>& in_use,
                              const std::string& noun);
Result<void> write_export(const Export& target, std::string_view bytes);

}  // namespace assay::cli
