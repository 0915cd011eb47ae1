// The machine as evidence. Read-only; each field is {value, grade, reason?}.
//
// grade is "observed", or "not_available" with value null and a snake_case reason (not_present,
// permission_denied, unexpected_content, perf_unavailable:ENOENT, ...): never 0, never a guess.
// Nothing read here is trusted: files are bounded, text is refused unless it is short clean UTF-8.
// Fields and findings: docs/reference/host.md. This layer starts no process; what needs one takes a
// Runner.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::host {

// Where /proc and /sys are read from; tests point it at a fixture tree.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string etc = "/etc";
};

// Runs argv to its end and returns its whole stdout (untrimmed) if it exited 0. Errors: not_found
// when there is no such program, any other code when it failed, ran too long or wrote too much.
using Runner = std::function<Result<std::string>(const std::vector<std::string>& argv)>;

// CPU, kernel, governor, turbo, SMT, ASLR, clock source, load, steal, memory, swap, cgroup
// (version, limits), perf counters, operating system. No user name, home path or host name. Only
// files and two system calls; below 5 ms.
Json collect(const Roots& roots = {});
// The CPUs that the scheduler allows the calling thread, ascending; empty when it does not say.
std::vector<int> usable_cpus();
// What two campaigns must share to have run on one host in one state: of `collected` the values
// (null = not available) of hardware, kernel and settings, and "machine", a digest of
// /etc/machine-id with `salt` (null where there is none), which links no two salts.
Json fingerprint(const Json& collected, const std::string& salt, const Roots& roots = {});
// Object of gcc, g++, clang, clang++, rustc: the first line of `X --version`.
Json toolchains(const Runner& run);
// Object of commit and status (`git status --porcelain=v1 -z`, never trimmed) of `directory`.
Json source_state(const std::string& directory, const Runner& run);
// {value: {sha256, bytes}} of the program behind a command word, or not_available + reason.
Json program_digest(const std::string& resolved_path);

// {value, grade: observed} and {value: null, grade: not_available, reason}.
Json observed(Json value);
Json not_available(const std::string& reason);

// Cheap enough for every pair: two small reads, below 50 us. Not thread safe.
class LoadMeter {
 public:
  explicit LoadMeter(const Roots& roots = {});
  struct Reading {
    std::optional<double> load1;
    // Steal ticks / all ticks since the previous reading; absent on the first one and when no tick
    // has passed.
    std::optional<double> steal_share;
  };
  Reading read();

 private:
  std::string loadavg_path_;
  std::string stat_path_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> previous_;  // steal, total
};

enum class Severity { ok, advice, blocks, not_available };
std::string_view severity_name(Severity severity);

struct Finding {
  std::string id;  // stable snake_case, also a reason code
  Severity severity = Severity::ok;
  std::string observed;  // in plain words
  std::string fix;       // the command that mends it, or ""
};
// What would disturb a measurement here, one finding per check, always in the same order. Watches
// the steal counter for `steal_window`; 0 judges the ticks since boot instead. Bounds: bounds.h.
std::vector<Finding> examine(const Roots& roots = {},
                             Nanoseconds steal_window = Nanoseconds{250'000'000});

// Replaces the home directory, checkout and temp roots in a path or word by {home}, {repo}, {tmp}:
// longest root first, only where a whole path begins and a path component ends ("/tmpfile" and
// "/var/tmpfile" stay). "-I/root/x" and "a=/root/x" are redacted too.
class Redactor {
 public:
  // Roots that are empty, relative or "/" are ignored.
  Redactor(std::string home, std::string repo, std::vector<std::string> temps);
  // $HOME and the password database's home, the git checkout around the working directory (or the
  // directory itself), /tmp, /var/tmp and $TMPDIR; each also with symlinks resolved.
  static Redactor for_this_process();
  std::string operator()(std::string_view text) const;

 private:
  void add(std::string root, const std::string& name);
  void order();
  std::vector<std::pair<std::string, std::string>> rules_;
};

}  // namespace assay::host
