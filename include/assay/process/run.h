// What one run asks for and what was observed. All times are CLOCK_MONOTONIC.
#pragma once

#include "assay/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::process {

// A bad measurement is data, not an error.
enum class Outcome {
  ok,
  failed,  // non-zero exit or a signal of its own
  timeout,
  output_limit,
  launch_error,   // the program could not be executed (errno kept)
  launcher_lost,  // assay-launch died: the campaign is interrupted
};
std::string_view outcome_name(Outcome outcome);

// Where stdout goes. stderr is captured as well, except that inherit hands both through.
enum class OutputMode { capture, null, inherit, file };

struct RunRequest {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH like execvp
  // Added to the inherited environment; recorded by the caller. LC_ALL=C is one of them by policy.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string stdin_path;  // "" = /dev/null
  OutputMode output = OutputMode::capture;
  std::string output_path;  // for OutputMode::file; emptied before the run
  // --show-output: copied to our stderr after the run, with control characters escaped on a TTY.
  bool echo_output = false;
  std::optional<Nanoseconds> timeout;
  Bytes stdout_bound{1 << 20};
  Bytes stderr_bound{1 << 20};
  bool kill_on_output_limit = true;  // exceeding a bound ends the run with output_limit
  std::vector<int> cpus;             // sched_setaffinity of the child; empty = inherited
  // Clean-up commands: runs although a stop signal has arrived; only a further one ends it.
  bool run_after_stop = false;
};

// A captured stream: `bytes` are what arrived up to the bound.
struct Captured {
  std::string bytes;
  std::int64_t total = 0;  // bytes that arrived, counted beyond the bound
  bool truncated = false;  // then the digest is null in evidence
};

struct RunResult {
  Outcome outcome = Outcome::launch_error;
  int exit_code = -1;     // valid when exited
  int signal = 0;         // 0 when it exited
  int launch_errno = 0;   // for launch_error
  std::string bound_hit;  // "none", "timeout", "stdout", "stderr"
  Nanoseconds start{};    // just before the clone
  Nanoseconds elapsed{};  // from just before the clone to the reap
  Nanoseconds user{}, system{};
  Bytes peak_rss{};  // 0 = not available (quantised away by the kernel)
  std::int64_t minor_faults = 0, major_faults = 0;
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
  int descendants_left = 0;  // processes still alive when the main process ended; all killed
  Captured out, err;
};

}  // namespace assay::process
