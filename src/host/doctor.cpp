#include "facts.h"

#include "assay/base/text.h"
#include "assay/host/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <time.h>

namespace assay::host {

namespace {

constexpr const char* kPerfFix = "sudo sysctl kernel.perf_event_paranoid=2";

// One collected host and what the checks need of it.
class Facts {
 public:
  explicit Facts(Json host) : host_(std::move(host)) {}

  std::optional<std::string> text(const char* key) const {
    const Json& value = host_.at(key).at("value");
    return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
  }
  std::optional<double> number(const char* key) const {
    const Json& value = host_.at(key).at("value");
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }
  std::optional<bool> flag(const char* key) const {
    const Json& value = host_.at(key).at("value");
    return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
  }
  std::string reason(const char* key) const {
    const auto& field = host_.at(key);
    return field.contains("reason") ? field["reason"].get<std::string>() : "";
  }

 private:
  Json host_;
};

Finding fine(std::string id, std::string observed) {
  return {std::move(id), Severity::ok, std::move(observed), ""};
}

Finding unknown(std::string id, const std::string& what, const std::string& reason) {
  return {std::move(id), Severity::not_available, fmt::format("{} is unknown ({})", what, reason),
          ""};
}

Finding governor(const Facts& facts) {
  const char* id = "governor";
  const auto name = facts.text("governor");
  if (!name)
    return unknown(id, "the frequency governor", facts.reason("governor"));
  if (*name == "performance")
    return fine(id, "the frequency governor is performance");
  return {id, Severity::advice, "the frequency governor is " + printable(*name, 60),
          "sudo cpupower frequency-set -g performance"};
}

Finding turbo(const Facts& facts, const Roots& roots) {
  const char* id = "turbo";
  const auto on = facts.flag("turbo");
  if (!on)
    return unknown(id, "turbo boost", facts.reason("turbo"));
  if (!*on)
    return fine(id, "turbo boost is off");
  const bool intel = read_word(roots.sys + "/devices/system/cpu/intel_pstate/no_turbo").has_value();
  return {id, Severity::advice,
          "turbo boost is on: speed depends on temperature and on other cores",
          intel ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
                : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"};
}

Finding smt(const Facts& facts) {
  const char* id = "smt_active";
  const auto on = facts.flag("smt_active");
  if (!on)
    return unknown(id, "simultaneous multithreading", facts.reason("smt_active"));
  if (!*on)
    return fine(id, "no two logical CPUs share a core, as far as the kernel knows");
  return {id, Severity::advice,
          "sibling threads share cores: a busy sibling slows the measured one",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

Finding frequency(const Facts& facts) {
  const char* id = "cpu_frequency_unreadable";
  const auto hz = facts.number("frequency_current_hz");
  if (!hz)
    return unknown(id, "the CPU frequency", facts.reason("frequency_current_hz"));
  return fine(id, fmt::format("the CPU frequency reads {:.2f} GHz", *hz / 1e9));
}

Finding cpus(const Facts& facts) {
  const char* id = "single_cpu";
  const auto count = facts.number("usable_cpus");
  if (!count)
    return unknown(id, "the number of usable CPUs", facts.reason("usable_cpus"));
  if (*count >= 2)
    return fine(id, fmt::format("{:.0f} CPUs are usable", *count));
  return {id, Severity::advice,
          "only one CPU is usable: the tool and the measured program share it",
          "give this machine, container or task set a second CPU"};
}

Finding aslr(const Facts& facts) {
  // Reported, never advised off: it is a defence, and pairs average over its placements.
  const auto level = facts.number("aslr");
  if (!level)
    return unknown("aslr", "address space randomisation", facts.reason("aslr"));
  return fine("aslr", fmt::format("address space randomisation is at level {:.0f}", *level));
}

Finding swap(const Facts& facts) {
  const char* id = "swap_in_use";
  const auto used = facts.number("swap_used_bytes");
  if (!used)
    return unknown(id, "swap", facts.reason("swap_used_bytes"));
  if (*used <= 0)
    return fine(id, "no swap is in use");
  return {id, Severity::advice,
          fmt::format("{:.0f} MiB are swapped out: page faults may read the disk", *used / 1048576),
          "sudo swapoff -a && sudo swapon -a   # needs enough free memory"};
}

Finding memory(const Facts& facts) {
  const char* id = "memory_low";
  const auto total = facts.number("memory_total_bytes");
  const auto available = facts.number("memory_available_bytes");
  if (!total)
    return unknown(id, "memory", facts.reason("memory_total_bytes"));
  if (!available)
    return unknown(id, "available memory", facts.reason("memory_available_bytes"));
  const std::string text = fmt::format("{:.0f} of {:.0f} MiB of memory are available",
                                       *available / 1048576, *total / 1048576);
  if (*available >= *total * kMinAvailableMemoryShare)
    return fine(id, text);
  return {id, Severity::blocks, text + ": the kernel is reclaiming pages",
          "ps -eo rss,pid,comm --sort=-rss | head   # stop what fills the memory"};
}

Finding load(const Facts& facts) {
  const char* id = "load_high";
  const auto load1 = facts.number("load1");
  const auto count = facts.number("usable_cpus");
  if (!load1)
    return unknown(id, "the load", facts.reason("load1"));
  if (!count)
    return unknown(id, "the load per CPU", facts.reason("usable_cpus"));
  const double bound = max_load(*count);
  const std::string text = fmt::format("load {:.2f} over one minute on {:.0f} CPUs (bound {:.2f})",
                                       *load1, *count, bound);
  if (*load1 <= bound)
    return fine(id, text);
  return {id, Severity::blocks, text,
          "ps -eo pcpu,pid,comm --sort=-pcpu | head   # stop what runs, wait a minute"};
}

// The share over `window`, or since boot when the window is 0 or no tick passed in it.
std::optional<double> steal_share(const Roots& roots, Nanoseconds window) {
  if (window.value > 0) {
    LoadMeter meter(roots);
    meter.read();
    const timespec pause{static_cast<time_t>(window.value / 1'000'000'000),
                         static_cast<long>(window.value % 1'000'000'000)};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    if (const auto share = meter.read().steal_share)
      return share;
  }
  const auto stat = read_prefix(roots.proc + "/stat", 4096);
  const auto ticks = stat ? parse_ticks(*stat) : std::nullopt;
  if (!ticks || ticks->total == 0)
    return std::nullopt;
  return static_cast<double>(ticks->steal) / static_cast<double>(ticks->total);
}

Finding steal(const Facts& facts, const Roots& roots, Nanoseconds window) {
  const auto share = steal_share(roots, window);
  if (!share) {
    const auto reason = facts.reason("steal_ticks");
    return unknown("steal", "stolen CPU time", reason.empty() ? "no_ticks" : reason);
  }
  const std::string text =
      fmt::format("the hypervisor takes {:.1f} % of the CPU time (bound {:.1f} %)", *share * 100,
                  kMaxStealShare * 100);
  if (*share <= kMaxStealShare)
    return fine("steal", text);
  return {"steal", Severity::blocks, text,
          "move to a host or instance type with dedicated CPUs, or measure when it is quiet"};
}

Finding clock_source(const Facts& facts) {
  const char* id = "clock_source_slow";
  // Read in user space by the vDSO; every other source costs a system call or a bus access per
  // reading.
  static constexpr std::array<const char*, 4> kFast = {"tsc", "arch_sys_counter", "kvm-clock",
                                                       "hyperv_clocksource_tsc_page"};
  const auto name = facts.text("clock_source");
  if (!name)
    return unknown(id, "the clock source", facts.reason("clock_source"));
  if (std::find(kFast.begin(), kFast.end(), *name) != kFast.end())
    return fine(id, "the clock source is " + *name);
  return {id, *name == "jiffies" ? Severity::blocks : Severity::advice,
          "the clock source is " + printable(*name, 60),
          "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"};
}

Finding clock_resolution(const Facts& facts) {
  const char* id = "clock_resolution_coarse";
  const auto step = facts.number("clock_resolution_ns");
  if (!step)
    return unknown(id, "the clock's resolution", facts.reason("clock_resolution_ns"));
  const std::string text = fmt::format("the monotonic clock resolves {:.0f} ns", *step);
  if (*step <= kMaxClockResolutionNs)
    return fine(id, text);
  return {id, Severity::blocks, text, "boot with high resolution timers (remove highres=off)"};
}

Finding cgroup_cpu(const Facts& facts) {
  const char* id = "cgroup_cpu_limited";
  if (facts.text("cgroup_cpu_limit") == "unlimited")
    return fine(id, "no CPU quota on our cgroup");
  const auto limit = facts.number("cgroup_cpu_limit");
  if (!limit)
    return unknown(id, "the cgroup's CPU quota", facts.reason("cgroup_cpu_limit"));
  const auto count = facts.number("usable_cpus");
  const std::string text = fmt::format("our cgroup may use {:.2f} CPUs", *limit);
  if (*limit >= kMinCgroupCpus && count && *limit >= *count)
    return fine(id, text);
  return {id, *limit < kMinCgroupCpus ? Severity::blocks : Severity::advice,
          text + ": the kernel stops it when the quota is used up",
          "start the container without a CPU quota (docker: no --cpus; Kubernetes: no CPU limit)"};
}

Finding cgroup_memory(const Facts& facts) {
  const char* id = "cgroup_memory_limited";
  const char* key = "cgroup_memory_limit_bytes";
  if (facts.text(key) == "unlimited")
    return fine(id, "no memory limit on our cgroup");
  const auto limit = facts.number(key);
  if (!limit)
    return unknown(id, "the cgroup's memory limit", facts.reason(key));
  const auto total = facts.number("memory_total_bytes");
  const std::string text = fmt::format("our cgroup may use {:.0f} MiB", *limit / 1048576);
  if (total && *limit >= *total)
    return fine(id, text);
  return {id, Severity::advice, text + " of memory: programs near it are reclaimed or killed",
          "raise the container's memory limit well above what the programs need"};
}

Finding huge_pages(const Facts& facts) {
  const char* id = "thp";
  const auto mode = facts.text("transparent_hugepages");
  if (!mode)
    return unknown(id, "transparent huge pages", facts.reason("transparent_hugepages"));
  if (*mode != "always")
    return fine(id, "transparent huge pages: " + printable(*mode, 20));
  return {id, Severity::advice,
          "transparent huge pages: always; memory use and speed depend on free huge pages",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding perf(const Facts& facts) {
  const char* id = "perf_unavailable";
  if (facts.flag("perf_counters").value_or(false))
    return fine(id, "hardware counters can be read");
  const auto reason = facts.reason("perf_counters");
  auto finding = unknown(id, "what hardware counters say", reason);
  if (reason == "perf_unavailable:EACCES" || reason == "perf_unavailable:EPERM")
    finding.fix = kPerfFix;
  else if (reason == "perf_unavailable:ENOENT" || reason == "perf_unavailable:EOPNOTSUPP")
    finding.observed += ": this machine, often a virtual one, has none";
  return finding;
}

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return "ok";
    case Severity::advice:
      return "advice";
    case Severity::blocks:
      return "blocks";
    case Severity::not_available:
      return "not_available";
  }
  ASSAY_CHECK(false, "unknown severity");
}

std::vector<Finding> examine(const Roots& roots, Nanoseconds steal_window) {
  const Facts facts(collect(roots));
  return {load(facts),
          steal(facts, roots, steal_window),
          memory(facts),
          swap(facts),
          cgroup_cpu(facts),
          cgroup_memory(facts),
          cpus(facts),
          governor(facts),
          turbo(facts, roots),
          smt(facts),
          frequency(facts),
          clock_source(facts),
          clock_resolution(facts),
          aslr(facts),
          huge_pages(facts),
          perf(facts)};
}

}  // namespace assay::host
