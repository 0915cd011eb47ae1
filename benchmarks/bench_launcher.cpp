// The launcher against the floor and against hyperfine, in interleaved rounds of one run.
#include "assay/base/ids.h"
#include "assay/process/launcher.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using assay::Nanoseconds;
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

void print_floor(Launcher& launcher, const std::string& here, int rounds, int runs) {
  const std::string count = std::to_string(runs);
  const bool peer = std::system("command -v hyperfine >/dev/null 2>&1") == 0;
  std::vector<double> floor_median, own_median, peer_median, floor_min, own_min, peer_min;
  for (int round = 0; round < rounds; ++round) {
    const Medians floor = from_command(here + "/floor_loop " + count + " /usr/bin/true");
    const Medians own = from_launcher(launcher, runs);
    floor_median.push_back(floor.median_us);
    floor_min.push_back(floor.min_us);
    own_median.push_back(own.median_us);
    own_min.push_back(own.min_us);
    if (!peer)
      continue;
    const Medians other = from_command(
        "hyperfine -N -r " + count +
        " --export-json /dev/stdout --style none /usr/bin/true 2>/dev/null | python3 -c 'import "
        "json,sys\nt=sorted(json.load(sys.stdin)[\"results\"][0][\"times\"])\n"
        "print(t[len(t)//2]*1e9,t[0]*1e9)'");
    peer_median.push_back(other.median_us);
    peer_min.push_back(other.min_us);
  }
  const double base = median(floor_median);
  fmt::print("timing `true`: {} rounds x {} runs, microseconds\n", rounds, runs);
  fmt::print("  {:<34}{:>10}{:>10}{:>12}{:>10}\n", "", "median", "min", "over floor", "ratio");
  const auto line = [&](const char* name, const std::vector<double>& m,
                        const std::vector<double>& low) {
    fmt::print("  {:<34}{:>10.1f}{:>10.1f}{:>+12.1f}{:>10.3f}\n", name, median(m), median(low),
               median(m) - base, median(m) / base);
  };
  line("bare vfork + wait4, no capture", floor_median, floor_min);
  line("assay-launch, output captured", own_median, own_min);
  if (peer)
    line("hyperfine -N, output discarded", peer_median, peer_min);
  else
    fmt::print("  hyperfine: not installed\n");
}

void print_rss(Launcher& launcher, const std::string& here) {
  constexpr double mib = 1024.0 * 1024.0;
  const auto peak = [&](std::vector<std::string> argv) {
    return static_cast<double>(run(launcher, std::move(argv)).peak_rss.value) / mib;
  };
  fmt::print("peak RSS of a static no-op, MiB:        {:.2f}\n", peak({here + "/static_noop"}));
  std::vector<char> ballast(std::size_t{500} << 20);
  std::memset(ballast.data(), 1, ballast.size());
  fmt::print("  the same while the tool holds 500 MiB: {:.2f}   `true`: {:.2f}\n",
             peak({here + "/static_noop"}), peak({"/usr/bin/true"}));
  const double big = peak({here + "/touch_mib", "200"});
  fmt::print("  200 MiB child, then 1 MiB child:       {:.1f}, then {:.1f}\n", big,
             peak({here + "/touch_mib", "1"}));
  ballast.resize(std::size_t{1} << 30);
  std::memset(ballast.data(), 1, ballast.size());
  fmt::print("launch of `true` with 1 GiB held, median: {:.1f} us\n",
             from_launcher(launcher, 300).median_us);
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
  fmt::print(
      "{} runs of `true`: {} samples <= 0; outside the timed span {:.1f} us per run, of which "
      "{:.1f} us CPU of the tool\n",
      runs, bad, (total - inside) / runs / 1e3, (cpu_seconds() - cpu) / runs * 1e6);
}

void print_timeouts(Launcher& launcher) {
  std::vector<double> late_ms;
  for (int i = 0; i < 20; ++i) {
    RunRequest request;
    request.argv = {"/bin/sleep", "60"};
    request.timeout = Nanoseconds(100'000'000);
    const auto result = launcher.run(request);
    if (!result)
      die(result.error().message());
    late_ms.push_back(static_cast<double>(result->elapsed.value - 100'000'000) / 1e6);
  }
  fmt::print("timeout kill, reaped after the limit: median {:.2f} ms, worst {:.2f} ms\n",
             median(late_ms), *std::max_element(late_ms.begin(), late_ms.end()));
  RunRequest tree;
  tree.argv = {"/bin/sh", "-c", "i=0; while [ $i -lt 500 ]; do sleep 60 & i=$((i+1)); done; wait"};
  tree.timeout = Nanoseconds(3'000'000'000);
  const Nanoseconds start = assay::monotonic_now();
  const auto result = launcher.run(tree);
  if (!result)
    die(result.error().message());
  const double after =
      static_cast<double>((assay::monotonic_now() - start).value - 3'000'000'000) / 1e6;
  fmt::print("a tree of 500 processes: gone {:.1f} ms after the limit\n", after);
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
