// The command: finds the subcommand and hands it its words.
#include "cli.h"

#include "assay/base/text.h"
#include "assay/process/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <signal.h>

namespace assay::cli {

namespace {

struct Command {
  const char* name;
  int (*run)(const std::vector<std::string>& args);
  // It runs programs: signals become a request to stop and to finish the archive. The others simply
  // die.
  bool measures;
  const char* summary;
};

// Each line appears once its file exists (CMakeLists.txt).
constexpr Command kCommands[] = {
#ifdef ASSAY_HAVE_COMPARE
    {"compare", compare_main, true, "which of two or more commands is slower, and by how much"},
#endif
#ifdef ASSAY_HAVE_ANALYZE
    {"analyze", analyze_main, false, "the same statistics on numbers that you already have"},
#endif
#ifdef ASSAY_HAVE_CALIBRATE
    {"calibrate", calibrate_main, true, "this host's own error rates"},
#endif
    {"doctor", doctor_main, false, "what disturbs a measurement here, and how to mend it"},
};

std::string usage() {
  std::string text =
      "assay measures programs and issues verdicts that a stranger can re-derive.\n\n"
      "Usage: assay COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : kCommands)
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text +
         "\nOptions:\n"
         "  -h, --help  this text; assay COMMAND --help shows a command's flags\n"
         "  --version   the version\n\n"
         "Examples:\n"
         "  assay compare './old --input f' './new --input f'\n"
         "  assay doctor\n\n"
         "Exit codes: 0 done, 1 gate failed, 2 invalid or failed to run, 3 incomplete,\n"
         "4 inconclusive, 130/143 interrupted.\n";
}

int print(const std::string& text) {
  const auto written = write_stdout(text);
  return written ? kExitDone : report_error(written.error());
}

int refuse(const std::string& word) {
  std::vector<std::string> names;
  for (const auto& command : kCommands)
    names.emplace_back(command.name);
  const auto near = nearest(word, names);
  std::string text = fmt::format("assay: there is no {} '{}'",
                                 word.rfind('-', 0) == 0 ? "flag" : "command", printable(word, 60));
  if (!near.empty())
    text += fmt::format("; did you mean {}?", near);
  write_stderr(text + fmt::format("\nTry: assay {}\n", near.empty() ? "--help" : near + " --help"));
  return kExitInvalid;
}

// A closed pipe or a file at its size limit must become a write error, not the end of a campaign. A
// handler, because an ignored signal would stay ignored in the programs we measure.
void turn_write_signals_into_errors() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

int run(const std::vector<std::string>& words) {
  if (const auto claimed = claim_standard_files(); !claimed)
    return report_error(claimed.error());
  if (words.empty()) {
    write_stderr(usage());
    return kExitInvalid;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help")
    return print(usage());
  if (words[0] == "--version" || words[0] == "-V")
    return print(fmt::format("assay {}\n", kVersion));
  const auto* command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [&](const Command& c) { return words[0] == c.name; });
  if (command == std::end(kCommands))
    return refuse(words[0]);
  turn_write_signals_into_errors();
  if (command->measures)
    process::install_signal_handlers();
  return command->run({words.begin() + 1, words.end()});
}

}  // namespace

}  // namespace assay::cli

int main(int argc, char** argv) {
  try {
    return assay::cli::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::bad_alloc&) {
    assay::cli::write_stderr(
        "assay: out of memory: free some, or raise this process's limit with `ulimit -v`; an "
        "archive keeps what was recorded until now\n");
    return assay::cli::kExitInvalid;
  } catch (const std::exception& error) {
    // A defect of ours; a measured program cannot cause it.
    assay::cli::write_stderr(std::string("assay: internal error: ") + error.what() + "\n");
    return assay::cli::kExitInvalid;
  }
}
