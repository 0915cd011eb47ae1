// The launcher against the floor and against hyperfine, in interleaved rounds of one run.
#include "figure.h"

#include "assay/base/ids.h"
#include "assay/process/launcher.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using assay::Nanoseconds;
using assay::benchmarks::kNoGoal;
using assay::benchmarks::print_figure;
using assay::process::Launcher;
using assay::process::RunRequest;
using assay::process::RunResult;

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "bench_launcher: {}\n", what);
  std::exit(1);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

RunResult run(Launcher& launcher, std::vector<std::string> argv) {
  RunRequest request;
  request.argv = std::move(argv);
  auto result = launcher.run(request);
  if (!result)
    die(result.error().message());
  return *std::move(result);
}

struct Medians {
  double median_us;
  double min_us;
};

// "median_ns min_ns" printed by a helper program.
Medians from_command(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  double median_ns = 0;
  double min_ns = 0;
  if (!pipe || std::fscanf(pipe.get(), "%lf %lf", &median_ns, &min_ns) != 2)
    die("cannot run: " + command);
  return {median_ns / 1e3, min_ns / 1e3};
}

Medians from_launcher(Launcher& launcher, int runs) {
  std::vector<double> us;
  for (int i = 0; i < runs; ++i)
    us.push_back(static_cast<double>(run(launcher, {"/usr/bin/true"}).elapsed.value) / 1e3);
  return {median(us), *std::min_element(us.begin(), us.end())};
}

struct Series {
  std::vector<double> medians, mins;  // one of each per round
  void add(const Medians& round) {
    medians.push_back(round.median_us);
    mins.push_back(round.min_us);
  }
};

// A run that starts after an idle moment pays for waking the processor, and whoever keeps a record
// has such a moment between two runs; neither spinning before the start nor a process thrown away
// takes that back. So the launcher stands beside both loops: what it is over the one without pauses
// is waking and its own system calls, over the other about the system calls alone. On a busy
// machine the pausing loop can be much slower still: then only the first of the two says anything.
constexpr const char* kPauseNs = "100000";

// The median of the differences (or ratios) of rounds, so that a slow minute of a shared machine
// meets both sides.
template <typename F>
double across_rounds(const Series& own, const Series& floor, F&& compare) {
  std::vector<double> each;
  for (std::size_t i = 0; i < own.medians.size(); ++i)
    each.push_back(compare(own.medians[i], floor.medians[i]));
  return median(each);
}

void print_row(const char* name, const Series& own, const Series& floor, const Series& pausing,
               std::string_view goal) {
  fmt::print("  {:<39}{:>8.1f}{:>8.1f}{:>+8.1f}{:>+8.1f}{:>9.3f}   {}\n", name, median(own.medians),
             median(own.mins), across_rounds(own, floor, std::minus<>()),
             across_rounds(own, pausing, std::minus<>()),
             across_rounds(own, floor, std::divides<>()), goal);
}

void print_floor(Launcher& launcher, const std::string& here, int rounds, int runs) {
  const std::string count = std::to_string(runs);
  const std::string bare = here + "/floor_loop " + count + " /usr/bin/true";
  const bool peer = std::system("command -v hyperfine >/dev/null 2>&1") == 0;
  Series floor, pausing, own, other;
  for (int round = 0; round < rounds; ++round) {
    floor.add(from_command(bare));
    own.add(from_launcher(launcher, runs));
    pausing.add(from_command(bare + " " + kPauseNs));
    if (!peer)
      continue;
    other.add(from_command(
        "hyperfine -N -r " + count +
        " --export-json /dev/stdout --style none /usr/bin/true 2>/dev/null | python3 -c 'import "
        "json,sys\nt=sorted(json.load(sys.stdin)[\"results\"][0][\"times\"])\n"
        "print(t[len(t)//2]*1e9,t[0]*1e9)'"));
  }
  fmt::print(
      "timing `true`, {} rounds x {} runs, us: over A = the loop back to back, over B = the "
      "loop with pauses\n",
      rounds, runs);
  fmt::print("  {:<39}{:>8}{:>8}{:>8}{:>8}{:>9}\n", "", "median", "min", "over A", "over B",
             "ratio A");
  print_row("A: vfork + wait4, back to back", floor, floor, pausing, kNoGoal);
  print_row("B: the same, 100 us pause between runs", pausing, floor, pausing, kNoGoal);
  print_row("assay-launch, output captured", own, floor, pausing, "goal <= +10.0");
  if (peer)
    print_row("hyperfine -N, output discarded", other, floor, pausing, kNoGoal);
  else
    fmt::print("  hyperfine: not installed\n");
}

void print_rss(Launcher& launcher, const std::string& here) {
  constexpr double mib = 1024.0 * 1024.0;
  const auto peak = [&](std::vector<std::string> argv) {
    return static_cast<double>(run(launcher, std::move(argv)).peak_rss.value) / mib;
  };
  const auto text = [](double value) { return fmt::format("{:.2f} MiB", value); };
  fmt::print("peak RSS that is read\n");
  print_figure("static no-op", text(peak({here + "/static_noop"})), "<= 1.5 MiB");
  std::vector<char> ballast(std::size_t{500} << 20);
  std::memset(ballast.data(), 1, ballast.size());
  print_figure("static no-op while the tool holds 500 MiB", text(peak({here + "/static_noop"})),
               "<= 1.5 MiB");
  print_figure("`true` while the tool holds 500 MiB", text(peak({"/usr/bin/true"})), kNoGoal);
  const double big = peak({here + "/touch_mib", "200"});
  print_figure("a child of 200 MiB, then a child of 1 MiB",
               fmt::format("{:.1f}, then {:.1f}", big, peak({here + "/touch_mib", "1"})),
               "200, then 1 (+ itself)");
  ballast.resize(std::size_t{1} << 30);
  std::memset(ballast.data(), 1, ballast.size());
  fmt::print("launch\n");
  print_figure("`true` while the tool holds 1 GiB, median",
               fmt::format("{:.3f} ms", from_launcher(launcher, 300).median_us / 1e3), "<= 0.6 ms");
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print_bookkeeping(Launcher& launcher) {
  constexpr int runs = 10000;
  int bad = 0;
  double inside = 0;
  const double cpu = cpu_seconds();
  const Nanoseconds start = assay::monotonic_now();
  for (int i = 0; i < runs; ++i) {
    const RunResult r = run(launcher, {"/usr/bin/true"});
    bad += r.elapsed.value <= 0 ? 1 : 0;
    inside += static_cast<double>(r.elapsed.value);
  }
  const double total = static_cast<double>((assay::monotonic_now() - start).value);
  const double cpu_ms = (cpu_seconds() - cpu) / runs * 1e3;
  fmt::print("{} runs of `true` (the launcher alone; a campaign is below)\n", runs);
  print_figure("samples of zero or less", std::to_string(bad), "0");
  print_figure("outside the timed span, per run",
               fmt::format("{:.3f} ms", (total - inside) / runs / 1e6), "<= 0.3 ms");
  print_figure("CPU of the tool, per run", fmt::format("{:.3f} ms", cpu_ms), "<= 0.3 ms");
}

double late_ms(const RunResult& result, Nanoseconds limit) {
  return static_cast<double>((result.elapsed - limit).value) / 1e6;
}

// How many processes have `token` in their command line.
int processes_with(const std::string& token) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ostringstream words;
    words << std::ifstream(entry.path() / "cmdline").rdbuf();
    found += words.str().find(token) != std::string::npos ? 1 : 0;
  }
  return found;
}

// Each process of the tree prints one byte before it sleeps: what arrived is how many have lived.
void print_tree(Launcher& launcher) {
  constexpr int processes = 500;
  constexpr Nanoseconds limit(3'000'000'000);
  const std::string nap = fmt::format("60.{:07}", ::getpid());  // marks them as ours
  RunRequest tree;
  tree.argv = {"/bin/sh", "-c",
               fmt::format("i=0; while [ $i -lt {} ]; do (printf x; exec sleep {}) & i=$((i+1)); "
                           "done; wait",
                           processes, nap)};
  tree.timeout = limit;
  const Nanoseconds start = assay::monotonic_now();
  const auto result = launcher.run(tree);
  const Nanoseconds took = assay::monotonic_now() - start;
  if (!result)
    die(result.error().message());
  if (const int left = processes_with(nap); left != 0)
    die(fmt::format("{} processes of the tree outlived the run", left));
  fmt::print("a tree of {} processes at its timeout\n", processes);
  print_figure("processes that lived", std::to_string(result->out.bytes.size()),
               std::to_string(processes));
  print_figure("of these alive at the limit, and killed", std::to_string(result->descendants_left),
               std::to_string(processes));
  print_figure("left afterwards", "0", "0");
  print_figure("all gone after the limit",
               fmt::format("{:.1f} ms", static_cast<double>((took - limit).value) / 1e6),
               "<= 200 ms");
}

void print_timeouts(Launcher& launcher) {
  constexpr Nanoseconds limit(100'000'000);
  std::vector<double> late;
  for (int i = 0; i < 20; ++i) {
    RunRequest request;
    request.argv = {"/bin/sleep", "60"};
    request.timeout = limit;
    const auto result = launcher.run(request);
    if (!result)
      die(result.error().message());
    late.push_back(late_ms(*result, limit));
  }
  fmt::print("a timeout's kill, reaped after the limit, {} times\n", late.size());
  print_figure("median", fmt::format("{:.2f} ms", median(late)), "<= 5 ms");
  print_figure("worst", fmt::format("{:.2f} ms", *std::max_element(late.begin(), late.end())),
               "<= 5 ms");
  print_tree(launcher);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  auto launcher = Launcher::start();
  if (!launcher)
    die(launcher.error().message());
  const std::string self = argv[0];
  const std::string here = self.substr(0, self.rfind('/'));
  print_floor(*launcher, here, rounds, 300);
  print_rss(*launcher, here);
  print_bookkeeping(*launcher);
  print_timeouts(*launcher);
  return 0;
}
