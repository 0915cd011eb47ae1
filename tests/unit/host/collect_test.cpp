#include "fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sys/stat.h>
#include <vector>

namespace assay::host {
namespace {

class Collect : public HostTree {};

// What every field must look like, whatever the files say.
void expect_well_formed(const Json& host) {
  for (const auto& [key, field] : host.items()) {
    const std::string grade = field.at("grade");
    if (grade == "observed") {
      EXPECT_FALSE(field.at("value").is_null()) << key;
      EXPECT_FALSE(field.contains("reason")) << key;
    } else {
      EXPECT_EQ(grade, "not_available") << key;
      EXPECT_TRUE(field.at("value").is_null()) << key;
      EXPECT_THAT(field.at("reason").get<std::string>(),
                  testing::MatchesRegex("[a-z_]+(:[A-Z0-9]+)?"))
          << key;
    }
  }
  canonical_json(host);  // aborts on text that is not UTF-8 and on numbers that are not finite
}

TEST(UsableCpus, are_as_many_as_the_kernel_says_each_once_and_in_order) {
  const std::vector<int> cpus = usable_cpus();
  EXPECT_EQ(collect().at("usable_cpus").at("value"), cpus.size());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
}

TEST_F(Collect, reads_every_fact_of_a_complete_host) {
  put_good_host();
  const Json host = collect(roots());
  expect_well_formed(host);
  const std::map<std::string, Json> expected = {{"cpu_model", "Example CPU 9000 @ 3.00GHz"},
                                                {"hypervisor", false},
                                                {"logical_cpus", 4},
                                                {"usable_cpus", 4},
                                                {"smt_active", false},
                                                {"turbo", false},
                                                {"governor", "performance"},
                                                {"frequency_driver", "intel_pstate"},
                                                {"frequency_min_hz", 800000000},
                                                {"frequency_max_hz", 3000000000},
                                                {"frequency_current_hz", 2999999000},
                                                {"kernel_release", "6.1.0-example"},
                                                {"os_name", "Example Linux 1"},
                                                {"boot_id", "00000000-0000-4000-8000-000000000001"},
                                                {"aslr", 2},
                                                {"clock_source", "tsc"},
                                                {"transparent_hugepages", "madvise"},
                                                {"perf_event_paranoid", -1},
                                                {"load1", 0.25},
                                                {"load5", 0.5},
                                                {"load15", 1.75},
                                                {"runnable_tasks", 2},
                                                {"steal_ticks", 5},
                                                {"total_ticks", 1000},
                                                {"memory_total_bytes", 16384000000},
                                                {"memory_available_bytes", 12288000000},
                                                {"swap_total_bytes", 2048000000},
                                                {"swap_used_bytes", 0},
                                                {"cgroup_version", 2},
                                                {"cgroup_cpu_limit", "unlimited"},
                                                {"cgroup_memory_limit_bytes", "unlimited"}};
  for (const auto& [key, expected_value] : expected)
    EXPECT_EQ(value(host, key.c_str()), expected_value) << key;
}

TEST_F(Collect, gives_a_reason_for_every_fact_of_an_empty_host) {
  const Json host = collect(roots());
  expect_well_formed(host);
  for (const auto& [key, field] : host.items()) {
    // These four come from system calls.
    if (key == "architecture" || key == "clock_resolution_ns" || key == "page_size_bytes" ||
        key == "perf_counters")
      continue;
    EXPECT_EQ(field.value("reason", ""), "not_present") << key;
  }
}

TEST_F(Collect, has_the_same_fields_on_a_complete_and_on_an_empty_host) {
  const auto keys = [](const Json& host) {
    std::vector<std::string> names;
    for (const auto& [key, field] : host.items())
      names.push_back(key);
    return names;
  };
  const auto empty = keys(collect(roots()));
  put_good_host();
  EXPECT_EQ(keys(collect(roots())), empty);
}

TEST_F(Collect, refuses_hostile_contents_of_any_file) {
  const std::vector<std::string> hostile = {"",
                                            "\n",
                                            std::string(1 << 20, 'x'),
                                            std::string(1 << 20, '9'),
                                            std::string("\xff\xfe\x80\n"),
                                            std::string("a\0b\n", 4),
                                            "-1\n",
                                            "nan\n",
                                            "1e999\n",
                                            "99999999999999999999\n",
                                            "\x1b[31mred\n",
                                            std::string(4000, ':'),
                                            std::string(4000, ',')};
  put_good_host();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("")))
    if (entry.is_regular_file())
      files.push_back(std::filesystem::relative(entry.path(), path("")).string());
  ASSERT_GT(files.size(), 20U);
  for (const auto& file : files) {
    for (const auto& bytes : hostile) {
      put(file, bytes);
      expect_well_formed(collect(roots()));
      examine(roots(), Nanoseconds(0));
    }
    put_good_host();
  }
}

TEST_F(Collect, refuses_text_that_is_too_long_or_not_clean) {
  put_good_host();
  put("proc/sys/kernel/osrelease", std::string(300, 'k') + "\n");
  put("etc/os-release", "PRETTY_NAME=\"bad \xc3 name\"\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\nhpet\n");
  const Json host = collect(roots());
  EXPECT_EQ(reason(host, "kernel_release"), "unexpected_content");
  EXPECT_EQ(reason(host, "os_name"), "unexpected_content");
  EXPECT_EQ(reason(host, "clock_source"), "unexpected_content");
}

TEST_F(Collect, does_not_hang_on_a_fifo_nor_read_a_directory) {
  put_good_host();
  drop("proc/loadavg");
  ASSERT_EQ(::mkfifo(path("proc/loadavg").c_str(), 0600), 0);
  drop("etc/os-release");
  std::filesystem::create_directory(path("etc/os-release"));
  const Json host = collect(roots());
  EXPECT_EQ(reason(host, "load1"), "not_a_file");
  EXPECT_EQ(reason(host, "os_name"), "not_a_file");
  EXPECT_FALSE(LoadMeter(roots()).read().load1.has_value());
}

TEST_F(Collect, never_turns_an_absent_field_into_zero) {
  put_good_host();
  put("proc/meminfo", "MemTotal:       16000000 kB\nSwapTotal:       2000000 kB\n");
  const Json host = collect(roots());
  EXPECT_EQ(reason(host, "memory_available_bytes"), "not_reported");
  EXPECT_EQ(reason(host, "swap_used_bytes"), "not_reported");
}

TEST_F(Collect, refuses_more_free_swap_than_there_is) {
  put_good_host();
  put("proc/meminfo", "SwapTotal:  1 kB\nSwapFree:  2 kB\n");
  EXPECT_EQ(reason(collect(roots()), "swap_used_bytes"), "unexpected_content");
}

TEST_F(Collect, names_every_governor_when_cpus_differ) {
  put_good_host();
  put("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(value(collect(roots()), "governor"), "performance,powersave");
}

TEST_F(Collect, reads_turbo_from_either_driver) {
  put_good_host();
  put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  EXPECT_EQ(value(collect(roots()), "turbo"), true);
  drop("sys/devices/system/cpu/intel_pstate");
  EXPECT_EQ(reason(collect(roots()), "turbo"), "not_present");
  put("sys/devices/system/cpu/cpufreq/boost", "1\n");
  EXPECT_EQ(value(collect(roots()), "turbo"), true);
}

TEST_F(Collect, falls_back_to_the_numbers_of_an_aarch64_cpu) {
  put_good_host();
  put("proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: "
      "0xd0c\n");
  const Json host = collect(roots());
  EXPECT_EQ(value(host, "cpu_model"), "implementer 0x41 part 0xd0c");
  EXPECT_EQ(reason(host, "hypervisor"), "not_reported");
}

TEST_F(Collect, sees_a_hypervisor_only_as_a_whole_flag) {
  put_good_host();
  put("proc/cpuinfo", "flags\t: fpu hypervisor sse2\ncpu MHz\t: 2596.152\n");
  EXPECT_EQ(value(collect(roots()), "hypervisor"), true);
  put("proc/cpuinfo", "flags\t: fpu hypervisor_like\n");
  EXPECT_EQ(value(collect(roots()), "hypervisor"), false);
}

TEST_F(Collect, takes_the_frequency_from_cpuinfo_where_there_is_no_cpufreq) {
  put_good_host();
  drop("sys/devices/system/cpu/cpu0/cpufreq");
  put("proc/cpuinfo", "processor: 0\ncpu MHz\t\t: 2596.152\n");
  EXPECT_EQ(value(collect(roots()), "frequency_current_hz"), 2596152000);
}

TEST_F(Collect, counts_cpus_of_lists_with_holes) {
  put_good_host();
  put("sys/devices/system/cpu/online", "0-2,5,8-9\n");
  EXPECT_EQ(value(collect(roots()), "logical_cpus"), 6);
  for (const char* bad : {"0-", "3-1", "1,1", "-", "0,,1", "0-2,1", "a"}) {
    put("sys/devices/system/cpu/online", std::string(bad) + "\n");
    EXPECT_EQ(reason(collect(roots()), "logical_cpus"), "unexpected_content") << bad;
  }
}

TEST_F(Collect, perf_is_usable_or_says_which_error_stands_in_the_way) {
  const Json perf = collect().at("perf_counters");
  if (perf.at("value").is_null()) {
    EXPECT_THAT(perf.at("reason").get<std::string>(),
                testing::MatchesRegex("perf_unavailable:E[A-Z0-9]+"));
  } else {
    EXPECT_EQ(perf.at("value"), true);
  }
}

TEST(CollectHere, names_neither_host_nor_home) {
  const std::string text = canonical_json(collect());
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  if (std::string(name).size() >= 6) {
    EXPECT_EQ(text.find(name), std::string::npos);
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string(home).size() > 1) {
    EXPECT_EQ(text.find(home), std::string::npos);
  }
  EXPECT_TRUE(collect().at("logical_cpus").at("value").is_number_integer());
}

}  // namespace
}  // namespace assay::host
