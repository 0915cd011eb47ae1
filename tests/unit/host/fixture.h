// A /proc, /sys and /etc of our own in a temporary directory.
#pragma once

#include "assay/host/host.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay::host {

class HostTree : public ::testing::Test {
 protected:
  HostTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-host-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    root_ = pattern;
  }
  ~HostTree() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  Roots roots() const { return {root_ + "/proc", root_ + "/sys", root_ + "/etc"}; }
  std::string path(const std::string& name) const { return root_ + "/" + name; }

  void put(const std::string& name, const std::string& bytes) {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }
  void drop(const std::string& name) { std::filesystem::remove_all(path(name)); }

  // A quiet physical machine on which nothing blocks and nothing is advised.
  void put_good_host() {
    put("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU 9000 @ 3.00GHz\nflags\t\t: fpu sse2 avx2\n\n"
        "processor\t: 1\nmodel name\t: Example CPU 9000 @ 3.00GHz\nflags\t\t: fpu sse2 avx2\n\n");
    put("proc/self/status", "Name:\tassay\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n");
    put("proc/self/cgroup", "0::/\n");
    put("proc/loadavg", "0.25 0.50 1.75 2/345 6789\n");
    put("proc/stat", "cpu  100 0 50 800 20 0 25 5 0 0\ncpu0 1 0 1 1 1 0 1 1 0 0\n");
    put("proc/meminfo",
        "MemTotal:       16000000 kB\nMemFree:         1000 kB\nMemAvailable:   12000000 kB\n"
        "SwapTotal:       2000000 kB\nSwapFree:        2000000 kB\n");
    put("proc/sys/kernel/osrelease", "6.1.0-example\n");
    put("proc/sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000001\n");
    put("proc/sys/kernel/randomize_va_space", "2\n");
    put("proc/sys/kernel/perf_event_paranoid", "-1\n");
    const std::string cpu = "sys/devices/system/cpu/";
    put(cpu + "online", "0-3\n");
    put(cpu + "smt/active", "0\n");
    put(cpu + "intel_pstate/no_turbo", "1\n");
    for (const char* name : {"cpu0", "cpu1", "cpu2", "cpu3"})
      put(cpu + name + "/cpufreq/scaling_governor", "performance\n");
    put(cpu + "cpu0/cpufreq/scaling_driver", "intel_pstate\n");
    put(cpu + "cpu0/cpufreq/scaling_min_freq", "800000\n");
    put(cpu + "cpu0/cpufreq/scaling_max_freq", "3000000\n");
    put(cpu + "cpu0/cpufreq/scaling_cur_freq", "2999999\n");
    put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    put("etc/os-release", "ID=example\nPRETTY_NAME=\"Example Linux 1\"\n");
  }

 private:
  std::string root_;
};

inline Json value(const Json& host, const char* key) {
  return host.at(key).at("value");
}
inline std::string reason(const Json& host, const char* key) {
  return host.at(key).value("reason", "");
}

}  // namespace assay::host
