#include "fixture.h"

namespace assay::host {
namespace {

class CgroupLimits : public HostTree {
 protected:
  void SetUp() override { put_good_host(); }
  Json cpu() { return value(collect(roots()), "cgroup_cpu_limit"); }
  Json memory() { return value(collect(roots()), "cgroup_memory_limit_bytes"); }
};

TEST_F(CgroupLimits, are_the_smallest_on_the_way_to_the_root) {
  put("proc/self/cgroup", "0::/machine.slice/box/inner\n");
  put("sys/fs/cgroup/machine.slice/cpu.max", "400000 100000\n");
  put("sys/fs/cgroup/machine.slice/memory.max", "1000000000\n");
  put("sys/fs/cgroup/machine.slice/box/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/machine.slice/box/memory.max", "max\n");
  put("sys/fs/cgroup/machine.slice/box/inner/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/machine.slice/box/inner/memory.max", "2000000000\n");
  EXPECT_EQ(cpu(), 1.5);
  EXPECT_EQ(memory(), 1000000000);
  EXPECT_EQ(value(collect(roots()), "cgroup_version"), 2);
}

TEST_F(CgroupLimits, are_unlimited_when_every_level_says_max) {
  put("proc/self/cgroup", "0::/box\n");
  put("sys/fs/cgroup/box/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/box/memory.max", "max\n");
  EXPECT_EQ(cpu(), "unlimited");
  EXPECT_EQ(memory(), "unlimited");
}

TEST_F(CgroupLimits, are_unknown_when_one_level_is_garbage) {
  put("proc/self/cgroup", "0::/box\n");
  put("sys/fs/cgroup/box/cpu.max", "lots\n");
  put("sys/fs/cgroup/box/memory.max", "-5\n");
  const Json host = collect(roots());
  EXPECT_EQ(reason(host, "cgroup_cpu_limit"), "unexpected_content");
  EXPECT_EQ(reason(host, "cgroup_memory_limit_bytes"), "unexpected_content");
}

TEST_F(CgroupLimits, of_a_path_outside_our_view_come_from_the_mount) {
  put("proc/self/cgroup", "0::/../elsewhere\n");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  put("sys/fs/elsewhere/cpu.max", "10000 100000\n");  // outside the mount: not ours
  EXPECT_EQ(cpu(), 0.5);
}

TEST_F(CgroupLimits, are_unknown_where_no_hierarchy_is_mounted) {
  drop("sys/fs/cgroup");
  EXPECT_EQ(reason(collect(roots()), "cgroup_cpu_limit"), "not_present");
}

TEST_F(CgroupLimits, of_version_1_come_from_each_controllers_own_path) {
  put("proc/self/cgroup", "4:memory:/m/x\n2:cpu,cpuacct:/c\n0::/\n");
  put("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "250000\n");
  put("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/memory/m/x/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096000\n");
  const Json host = collect(roots());
  EXPECT_EQ(value(host, "cgroup_version"), 1);
  EXPECT_EQ(value(host, "cgroup_cpu_limit"), 2.5);
  EXPECT_EQ(value(host, "cgroup_memory_limit_bytes"), 4096000);
}

TEST_F(CgroupLimits, of_version_1_are_unlimited_at_the_largest_number) {
  put("proc/self/cgroup", "4:memory:/m\n2:cpu:/\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cpu(), "unlimited");
  EXPECT_EQ(memory(), "unlimited");
}

TEST_F(CgroupLimits, keep_the_path_to_themselves) {
  put("proc/self/cgroup", "0::/user.slice/user-4242.slice\n");
  EXPECT_EQ(canonical_json(collect(roots())).find("4242"), std::string::npos);
}

}  // namespace
}  // namespace assay::host
