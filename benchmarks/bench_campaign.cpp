// What a whole campaign costs beside the runs themselves: 10,000 runs of `true` against a copy of
// it, with an archive and without.
#include "figure.h"

#include "assay/base/ids.h"
#include "assay/compare/compare.h"
#include "assay/process/launcher.h"
#include "assay/verdict/sample.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using assay::Nanoseconds;
using assay::benchmarks::kNoGoal;
using assay::benchmarks::print_figure;
using assay::compare::CompareOptions;
using assay::compare::CompareResult;

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "bench_campaign: {}\n", what);
  std::exit(1);
}

// An empty folder that disappears with this.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "assay-bench-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr)
      die("cannot make a temporary folder");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// The high-water mark of this program's memory, MiB. Not ru_maxrss: that may hold the peak of what
// executed us.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::atof(line.c_str() + 6) / 1024;
  die("/proc/self/status has no VmHWM");
}

struct Cost {
  int runs = 0;
  double total_ms = 0, timed_ms = 0, cpu_ms = 0;
  double loop_ms = 0, loop_timed_ms = 0;  // from the end of the first pair to that of the last
};

void add_samples(const CompareResult& result, Cost& cost) {
  std::vector<std::string> lines = result.sample_lines;
  if (!result.archive_path.empty()) {
    std::ifstream file(result.archive_path + "/samples.jsonl");
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
  }
  for (const std::string& line : lines) {
    const auto sample = assay::verdict::parse_sample(line, "samples.jsonl");
    if (!sample)
      die(sample.error().message());
    if (!sample->elapsed_ns || sample->status != "ok")
      die("a run of `true` failed");
    const double elapsed = static_cast<double>(*sample->elapsed_ns) / 1e6;
    cost.timed_ms += elapsed;
    cost.loop_timed_ms += cost.runs >= 2 ? elapsed : 0;
    ++cost.runs;
  }
}

Cost measure(assay::process::Launcher& launcher, const CompareOptions& options) {
  Cost cost;
  std::optional<Nanoseconds> first;
  Nanoseconds last{};
  const double cpu = cpu_ms();
  const Nanoseconds start = assay::monotonic_now();
  const auto result =
      assay::compare::run_compare(options, launcher, [&](const assay::compare::Progress&) {
        last = assay::monotonic_now();
        first = first.value_or(last);
      });
  const Nanoseconds end = assay::monotonic_now();
  cost.cpu_ms = cpu_ms() - cpu;
  if (!result)
    die(result.error().message());
  if (!result->first_failure.empty() || !first)
    die("the campaign failed: " + result->first_failure);
  cost.total_ms = static_cast<double>((end - start).value) / 1e6;
  cost.loop_ms = static_cast<double>((last - *first).value) / 1e6;
  add_samples(*result, cost);
  return cost;
}

void print_cost(const char* title, const Cost& cost) {
  const auto ms = [](double value) { return fmt::format("{:.3f} ms", value); };
  fmt::print("{}, {} runs\n", title, cost.runs);
  print_figure("outside the timed spans, whole campaign, per run",
               ms((cost.total_ms - cost.timed_ms) / cost.runs), "<= 0.3 ms");
  print_figure("  between the first pair and the last, per run",
               ms((cost.loop_ms - cost.loop_timed_ms) / (cost.runs - 2)), "<= 0.3 ms");
  print_figure(
      "  before the first pair and after the last, once",
      fmt::format("{:.0f} ms", cost.total_ms - cost.timed_ms - cost.loop_ms + cost.loop_timed_ms),
      kNoGoal);
  print_figure("CPU of this process, whole campaign, per run", ms(cost.cpu_ms / cost.runs),
               "<= 0.3 ms");
}

std::uintmax_t bytes_below(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  return bytes;
}

}  // namespace

int main() {
  auto launcher = assay::process::Launcher::start();
  if (!launcher)
    die(launcher.error().message());
  const Folder folder;
  // No calibration record of this machine is to be read.
  setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
  CompareOptions options;
  options.commands = {"/usr/bin/true", folder / "true"};
  fs::copy_file(options.commands[0], options.commands[1]);
  options.batches = 8;
  options.pairs = 625;
  options.seed = 7;
  options.tool_version = "benchmark";
  options.archive = folder / "archive";
  const Cost with = measure(*launcher, options);
  const double peak = peak_mib();
  print_cost("a campaign with an archive", with);
  print_figure(
      "archive, per run",
      fmt::format("{:.0f} bytes", static_cast<double>(bytes_below(*options.archive)) / with.runs),
      "< 1024 bytes");
  print_figure("peak RSS of this process", fmt::format("{:.1f} MiB", peak), "< 40 MiB");
  options.archive.reset();
  options.no_archive = true;
  print_cost("a campaign without one", measure(*launcher, options));
  return 0;
}
