// The machine as evidence. Read-only; each field is {value, grade, reason?}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::host {

// Where /proc and /sys are read from; tests point it at a fixture tree.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string etc = "/etc";
};

// CPU, kernel, governor, turbo, SMT, ASLR, clock source, load, steal, memory, swap, cgroup (version,
// limits), perf counters, compiler versions. No user name, home path or host name.
Json collect(const Roots& roots = {});
// Git commit and `status --porcelain=v1 -z` (never trimmed) of `directory`, or not_available + reason.
Json source_state(const std::string& directory);
// {value: {sha256, bytes}} of the program behind a command word, or not_available + reason.
Json program_digest(const std::string& resolved_path);

// Cheap enough for every pair (two small reads, no allocation to speak of).
class LoadMeter {
 public:
  explicit LoadMeter(Roots roots = {});
  struct Reading {
    std::optional<double> load1;
    std::optional<double> steal_share;  // steal ticks / all ticks since the previous reading
  };
  Reading read();

 private:
  Roots roots_;
  std::optional<std::pair<double, double>> previous_;
};

enum class Severity { ok, advice, blocks, not_available };
struct Finding {
  std::string id;        // stable snake_case, also a reason code
  Severity severity = Severity::ok;
  std::string observed;  // in plain words
  std::string fix;       // the command that mends it, or ""
};
// What would disturb a measurement here.
std::vector<Finding> examine(const Roots& roots = {});

// Replaces the home directory, checkout and temp roots in a path or word by {home}, {repo}, {tmp}.
class Redactor {
 public:
  Redactor(std::string home, std::string repo, std::vector<std::string> temps);
  static Redactor for_this_process();
  std::string operator()(std::string text) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;
};

}  // namespace assay::host
