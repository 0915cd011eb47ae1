#include "facts.h"

#include "assay/base/files.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <linux/perf_event.h>
#include <sched.h>
#include <set>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

namespace assay::host {

namespace {

// The first CPU's block is all that is needed; a file of 500 CPUs is not read whole.
constexpr std::size_t kCpuinfoBytes = 65536;
constexpr int kMaxCpusVisited = 1024;

// The value after "key<spaces>:" at the start of a line.
Fact<std::string> field_of(const Fact<std::string>& text, std::string_view key) {
  if (!text)
    return no_fact(text.error());
  for (const auto line : split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) != key)
      continue;
    return std::string(trim(line.substr(colon + 1)));
  }
  return no_fact("not_reported");
}

Fact<std::string> clean_field(const Fact<std::string>& text, std::string_view key) {
  auto value = field_of(text, key);
  if (value && !is_clean(*value))
    return no_fact(kUnexpected);
  return value;
}

Fact<std::string> cpu_model(const Fact<std::string>& cpuinfo) {
  auto model = clean_field(cpuinfo, "model name");
  if (model || model.error() != "not_reported")
    return model;
  // aarch64 kernels give numbers only.
  const auto implementer = clean_field(cpuinfo, "CPU implementer");
  const auto part = clean_field(cpuinfo, "CPU part");
  if (!implementer || !part)
    return model;
  return "implementer " + *implementer + " part " + *part;
}

Fact<bool> hypervisor(const Fact<std::string>& cpuinfo) {
  const auto flags = field_of(cpuinfo, "flags");
  if (!flags)
    return no_fact(flags.error());
  const auto words = split(*flags, ' ');
  return std::find(words.begin(), words.end(), "hypervisor") != words.end();
}

Fact<bool> read_flag(const std::string& path) {
  const auto number = read_number(path, 0, 1);
  if (!number)
    return no_fact(number.error());
  return *number == 1;
}

// intel_pstate has "no_turbo", the other drivers "boost".
Fact<bool> turbo(const std::string& cpu) {
  const auto no_turbo = read_flag(cpu + "/intel_pstate/no_turbo");
  if (no_turbo)
    return !*no_turbo;
  if (no_turbo.error() != "not_present")
    return no_turbo;
  return read_flag(cpu + "/cpufreq/boost");
}

// One governor, or all different ones sorted and joined by commas.
Fact<std::string> governors(const std::string& cpu) {
  std::set<std::string> names;
  for (int i = 0; i < kMaxCpusVisited; ++i) {
    const auto name = read_word(cpu + "/cpu" + std::to_string(i) + "/cpufreq/scaling_governor");
    if (!name && (name.error() != "not_present" || i == 0))
      return name;
    if (!name)
      break;
    names.insert(*name);
  }
  std::string joined;
  for (const auto& name : names)
    joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

Fact<std::int64_t> frequency_hz(const std::string& cpu, const char* file) {
  const auto khz = read_number(cpu + "/cpu0/cpufreq/" + file, 1, 100'000'000);
  if (!khz)
    return khz;
  return *khz * 1000;
}

Fact<std::int64_t> current_hz(const std::string& cpu, const Fact<std::string>& cpuinfo) {
  auto hz = frequency_hz(cpu, "scaling_cur_freq");
  if (hz || hz.error() != "not_present")
    return hz;
  const auto text = field_of(cpuinfo, "cpu MHz");
  if (!text)
    return hz;
  const auto mhz = to_decimal(*text);
  if (!mhz || *mhz < 1 || *mhz > 100'000)
    return no_fact(kUnexpected);
  return static_cast<std::int64_t>(std::llround(*mhz * 1e6));
}

void add_cpu(Json& host, const Roots& roots) {
  const std::string cpu = roots.sys + "/devices/system/cpu";
  const auto cpuinfo = read_prefix(roots.proc + "/cpuinfo", kCpuinfoBytes);
  host["cpu_model"] = fact_json(cpu_model(cpuinfo));
  host["hypervisor"] = fact_json(hypervisor(cpuinfo));
  host["logical_cpus"] = fact_json(read_word(cpu + "/online").and_then([](const std::string& list) {
    return count_cpu_list(list);
  }));
  const auto status = read_prefix(roots.proc + "/self/status", 16384);
  host["usable_cpus"] =
      fact_json(field_of(status, "Cpus_allowed_list").and_then([](const std::string& list) {
        return count_cpu_list(list);
      }));
  host["smt_active"] = fact_json(read_flag(cpu + "/smt/active"));
  host["turbo"] = fact_json(turbo(cpu));
  host["governor"] = fact_json(governors(cpu));
  host["frequency_driver"] = fact_json(read_word(cpu + "/cpu0/cpufreq/scaling_driver"));
  host["frequency_min_hz"] = fact_json(frequency_hz(cpu, "scaling_min_freq"));
  host["frequency_max_hz"] = fact_json(frequency_hz(cpu, "scaling_max_freq"));
  host["frequency_current_hz"] = fact_json(current_hz(cpu, cpuinfo));
}

Fact<std::int64_t> clock_resolution_ns() {
  timespec resolution{};
  if (::clock_getres(CLOCK_MONOTONIC, &resolution) != 0)
    return no_fact("read_error");
  return resolution.tv_sec * 1'000'000'000 + resolution.tv_nsec;
}

Fact<std::string> architecture() {
  utsname names{};
  if (::uname(&names) != 0)
    return no_fact("read_error");
  return std::string(names.machine);
}

Fact<std::string> os_name(const std::string& etc) {
  const auto text = read_prefix(etc + "/os-release", 16384);
  if (!text)
    return text;
  for (const auto line : split(*text, '\n')) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (line.substr(0, kKey.size()) != kKey)
      continue;
    auto value = trim(line.substr(kKey.size()));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    if (!is_clean(value))
      return no_fact(kUnexpected);
    return std::string(value);
  }
  return no_fact("not_reported");
}

// The bracketed choice of "always [madvise] never".
Fact<std::string> huge_pages(const std::string& sys) {
  const auto text = read_word(sys + "/kernel/mm/transparent_hugepage/enabled");
  if (!text)
    return text;
  const auto open = text->find('[');
  const auto close = text->find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos || close == open + 1)
    return no_fact(kUnexpected);
  return text->substr(open + 1, close - open - 1);
}

void add_kernel(Json& host, const Roots& roots) {
  const std::string kernel = roots.proc + "/sys/kernel";
  const std::string clock = roots.sys + "/devices/system/clocksource/clocksource0";
  host["architecture"] = fact_json(architecture());
  host["kernel_release"] = fact_json(read_word(kernel + "/osrelease"));
  host["os_name"] = fact_json(os_name(roots.etc));
  host["boot_id"] = fact_json(read_word(kernel + "/random/boot_id"));
  host["aslr"] = fact_json(read_number(kernel + "/randomize_va_space", 0, 2));
  host["clock_source"] = fact_json(read_word(clock + "/current_clocksource"));
  host["clock_resolution_ns"] = fact_json(clock_resolution_ns());
  host["transparent_hugepages"] = fact_json(huge_pages(roots.sys));
  host["page_size_bytes"] = observed(static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE)));
  host["perf_event_paranoid"] = fact_json(read_number(kernel + "/perf_event_paranoid", -1, 4));
}

void add_load(Json& host, const Roots& roots) {
  constexpr std::int64_t kMaxTasks = INT64_C(1) << 32;
  const auto line = read_word(roots.proc + "/loadavg");
  const auto parts = line ? split(*line, ' ') : std::vector<std::string_view>{};
  const auto load = [&](std::size_t index) -> Fact<double> {
    if (!line)
      return no_fact(line.error());
    if (parts.size() < 4)
      return no_fact(kUnexpected);
    return to_decimal(parts[index]);
  };
  host["load1"] = fact_json(load(0));
  host["load5"] = fact_json(load(1));
  host["load15"] = fact_json(load(2));
  Fact<std::int64_t> runnable = no_fact(line ? kUnexpected : line.error());
  if (parts.size() >= 4)
    runnable = to_number(parts[3].substr(0, parts[3].find('/')), 0, kMaxTasks);
  host["runnable_tasks"] = fact_json(runnable);

  const auto stat = read_prefix(roots.proc + "/stat", 4096);
  const auto ticks = stat ? parse_ticks(*stat) : std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(INT64_MAX);
  const bool fits = ticks && ticks->total <= kMax;
  const Json reason = not_available(stat ? kUnexpected : stat.error());
  host["steal_ticks"] = fits ? observed(static_cast<std::int64_t>(ticks->steal)) : reason;
  host["total_ticks"] = fits ? observed(static_cast<std::int64_t>(ticks->total)) : reason;
}

// "12345 kB" in bytes.
Fact<std::int64_t> memory_field(const Fact<std::string>& meminfo, std::string_view key) {
  const auto text = field_of(meminfo, key);
  if (!text)
    return no_fact(text.error());
  const std::string_view value = *text;
  if (value.size() < 4 || value.substr(value.size() - 3) != " kB")
    return no_fact(kUnexpected);
  const auto kib = to_number(value.substr(0, value.size() - 3), 0, INT64_C(1) << 50);
  if (!kib)
    return kib;
  return *kib * 1024;
}

void add_memory(Json& host, const Roots& roots) {
  const auto meminfo = read_prefix(roots.proc + "/meminfo", 16384);
  const auto swap_total = memory_field(meminfo, "SwapTotal");
  const auto swap_free = memory_field(meminfo, "SwapFree");
  host["memory_total_bytes"] = fact_json(memory_field(meminfo, "MemTotal"));
  host["memory_available_bytes"] = fact_json(memory_field(meminfo, "MemAvailable"));
  host["swap_total_bytes"] = fact_json(swap_total);
  if (!swap_total || !swap_free)
    host["swap_used_bytes"] = not_available(!swap_total ? swap_total.error() : swap_free.error());
  else if (*swap_free > *swap_total)
    host["swap_used_bytes"] = not_available(kUnexpected);
  else
    host["swap_used_bytes"] = observed(*swap_total - *swap_free);
}

template <typename T>
Json limit_json(const Fact<T>& limit) {
  if (!limit && limit.error() == "unlimited")
    return observed("unlimited");
  return fact_json(limit);
}

void add_cgroup(Json& host, const Roots& roots) {
  const auto cgroup = read_cgroup(roots);
  if (!cgroup) {
    for (const char* key : {"cgroup_version", "cgroup_cpu_limit", "cgroup_memory_limit_bytes"})
      host[key] = not_available(cgroup.error());
    return;
  }
  host["cgroup_version"] = observed(cgroup->version);
  host["cgroup_cpu_limit"] = limit_json(cgroup->cpus);
  host["cgroup_memory_limit_bytes"] = limit_json(cgroup->memory);
}

// Whether this process could count its own user-mode instructions.
Json perf_counters() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long fd = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) {
    const char* name = ::strerrorname_np(errno);
    return not_available(std::string("perf_unavailable:") + (name != nullptr ? name : "unknown"));
  }
  const Fd owned(static_cast<int>(fd));
  return observed(true);
}

}  // namespace

std::vector<int> usable_cpus() {
  std::vector<int> out;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed))
        out.push_back(cpu);
  return out;
}

Json collect(const Roots& roots) {
  Json host = Json::object();
  add_cpu(host, roots);
  add_kernel(host, roots);
  add_load(host, roots);
  add_memory(host, roots);
  add_cgroup(host, roots);
  host["perf_counters"] = perf_counters();
  return host;
}

}  // namespace assay::host
