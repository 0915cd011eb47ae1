#include "fixture.h"

#include "assay/host/bounds.h"

#include <set>

namespace assay::host {
namespace {

class Doctor : public HostTree {
 protected:
  void SetUp() override { put_good_host(); }

  Finding finding(const std::string& id) {
    for (auto& found : examine(roots(), Nanoseconds(0)))
      if (found.id == id)
        return found;
    ADD_FAILURE() << "no finding " << id;
    return {};
  }
  void expect(const std::string& id, Severity severity, const std::string& in_fix) {
    const auto found = finding(id);
    EXPECT_EQ(severity_name(found.severity), severity_name(severity)) << found.observed;
    EXPECT_NE(found.fix.find(in_fix), std::string::npos) << found.fix;
    EXPECT_FALSE(found.observed.empty());
  }
};

TEST_F(Doctor, finds_nothing_on_a_quiet_well_set_up_host) {
  put("proc/stat", "cpu  1000 0 50 8000 20 0 25 5 0 0\n");
  for (const auto& found : examine(roots(), Nanoseconds(0))) {
    if (found.id == "perf_unavailable")  // asked of the real kernel
      continue;
    EXPECT_EQ(found.severity, Severity::ok) << found.id << ": " << found.observed;
    EXPECT_EQ(found.fix, "") << found.id;
  }
}

TEST_F(Doctor, says_unknown_and_neither_blocks_nor_passes_without_facts) {
  for (const char* root : {"proc", "sys", "etc"})
    drop(root);
  for (const auto& found : examine(roots(), Nanoseconds(0))) {
    if (found.id == "perf_unavailable" || found.id == "clock_resolution_coarse")
      continue;
    EXPECT_EQ(found.severity, Severity::not_available) << found.id;
    EXPECT_NE(found.observed.find("not_present"), std::string::npos) << found.observed;
  }
}

TEST_F(Doctor, gives_every_finding_its_own_id_in_a_fixed_order) {
  const auto ids = [&] {
    std::vector<std::string> names;
    for (const auto& found : examine(roots(), Nanoseconds(0)))
      names.push_back(found.id);
    return names;
  };
  const auto good = ids();
  EXPECT_EQ(std::set<std::string>(good.begin(), good.end()).size(), good.size());
  drop("sys");
  EXPECT_EQ(ids(), good);
}

TEST_F(Doctor, blocks_on_load_only_above_the_bound) {
  // 4 usable CPUs: the bound is 2.40.
  ASSERT_EQ(kMaxLoadPerCpu, 0.6);
  put("proc/loadavg", "2.40 0 0 1/2 3\n");
  expect("load_high", Severity::ok, "");
  put("proc/loadavg", "2.41 0 0 1/2 3\n");
  expect("load_high", Severity::blocks, "ps ");
}

TEST_F(Doctor, blocks_on_steal_only_above_the_bound) {
  ASSERT_EQ(kMaxStealShare, 0.01);
  put("proc/stat", "cpu  990 0 0 0 0 0 0 10 0 0\n");
  expect("steal", Severity::ok, "");
  put("proc/stat", "cpu  989 0 0 0 0 0 0 11 0 0\n");
  expect("steal", Severity::blocks, "dedicated");
}

TEST_F(Doctor, blocks_when_memory_runs_out) {
  put("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 40000 kB\n");
  expect("memory_low", Severity::blocks, "ps ");
}

TEST_F(Doctor, advises_on_swap_in_use) {
  put("proc/meminfo", "SwapTotal: 2000 kB\nSwapFree: 1000 kB\n");
  expect("swap_in_use", Severity::advice, "swapoff");
}

TEST_F(Doctor, blocks_below_one_cpu_of_quota_and_advises_below_all) {
  put("sys/fs/cgroup/cpu.max", "99000 100000\n");
  expect("cgroup_cpu_limited", Severity::blocks, "quota");
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  expect("cgroup_cpu_limited", Severity::advice, "quota");
  put("sys/fs/cgroup/cpu.max", "400000 100000\n");
  expect("cgroup_cpu_limited", Severity::ok, "");
}

TEST_F(Doctor, advises_on_a_memory_limit_below_the_machines_memory) {
  put("sys/fs/cgroup/memory.max", "104857600\n");
  expect("cgroup_memory_limited", Severity::advice, "memory limit");
}

TEST_F(Doctor, names_the_switch_of_the_driver_that_is_there) {
  put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  expect("turbo", Severity::advice,
         "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
  drop("sys/devices/system/cpu/intel_pstate");
  put("sys/devices/system/cpu/cpufreq/boost", "1\n");
  expect("turbo", Severity::advice, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
}

TEST_F(Doctor, advises_on_governor_smt_clock_source_and_huge_pages) {
  put("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
  put("sys/devices/system/cpu/smt/active", "1\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  expect("governor", Severity::advice, "cpupower frequency-set -g performance");
  expect("smt_active", Severity::advice, "smt/control");
  expect("clock_source_slow", Severity::advice, "current_clocksource");
  expect("thp", Severity::advice, "madvise");
}

TEST_F(Doctor, blocks_on_a_clock_that_only_counts_jiffies) {
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "jiffies\n");
  expect("clock_source_slow", Severity::blocks, "tsc");
}

TEST_F(Doctor, advises_when_only_one_cpu_is_usable) {
  put("proc/self/status", "Cpus_allowed_list:\t3\n");
  expect("single_cpu", Severity::advice, "second CPU");
}

TEST_F(Doctor, reports_address_space_randomisation_without_advising_it_off) {
  for (const char* level : {"0\n", "1\n", "2\n"}) {
    put("proc/sys/kernel/randomize_va_space", level);
    const auto found = finding("aslr");
    EXPECT_EQ(found.severity, Severity::ok);
    EXPECT_EQ(found.fix, "");
  }
}

}  // namespace
}  // namespace assay::host
