#include "support.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/wait.h>

namespace assay::process::testing {
namespace {

constexpr std::int64_t kKibibyte = 1024;
constexpr std::int64_t kMebibyte = 1 << 20;

using Isolation = LauncherTest;
using PeakMemory = LauncherTest;
using Times = LauncherTest;

TEST_F(Isolation, only_the_three_standard_descriptors_reach_the_program) {
  const int leaky = open("/dev/null", O_RDONLY);  // not close-on-exec, after the helper's start
  EXPECT_EQ(run({probe(), "fds"}).out.bytes, "0\n1\n2\n");
  close(leaky);
}

TEST(IsolationAtStart, descriptors_open_when_the_helper_starts_do_not_leak) {
  const int leaky = open("/dev/null", O_RDONLY);
  const int far_up = fcntl(leaky, F_DUPFD, 500);
  LauncherOptions options;
  options.helper_path = helper();
  auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher);
  RunRequest request;
  request.argv = {probe(), "fds"};
  EXPECT_EQ(launcher->run(request)->out.bytes, "0\n1\n2\n");
  close(leaky);
  close(far_up);
}

TEST(IsolationAtStart, blocked_and_ignored_signals_do_not_reach_the_program) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  sigprocmask(SIG_SETMASK, &blocked, &before);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  LauncherOptions options;
  options.helper_path = helper();
  auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher);
  RunRequest request;
  request.argv = {probe(), "signals"};
  EXPECT_EQ(launcher->run(request)->out.bytes, "");
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(Isolation, the_program_has_its_own_group_and_no_terminal) {
  EXPECT_EQ(run({probe(), "group"}).out.bytes, "1\n");
}

TEST_F(Isolation, a_signal_to_its_whole_group_does_not_hit_the_launcher) {
  EXPECT_EQ(run({"sh", "-c", "kill -KILL 0"}).outcome, Outcome::failed);
  EXPECT_EQ(run({"true"}).outcome, Outcome::ok);
}

TEST_F(Isolation, a_run_is_pinned_where_asked_and_nowhere_else) {
  const std::string everywhere = run({probe(), "cpus"}).out.bytes;
  const std::string first = everywhere.substr(0, everywhere.find('\n'));
  RunRequest pinned = request({probe(), "cpus"});
  pinned.cpus = {std::atoi(first.c_str())};
  EXPECT_EQ(run(pinned).out.bytes, first + "\n");
  EXPECT_EQ(run({probe(), "cpus"}).out.bytes, everywhere);
}

TEST(IsolationAtStart, the_helpers_own_cpus_are_not_inherited_by_the_program) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::string everywhere;
  int first = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before))
      continue;
    everywhere += std::to_string(cpu) + "\n";
    first = first < 0 ? cpu : first;
  }
  LauncherOptions options;
  options.helper_path = helper();
  options.own_cpus = {first};
  auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher);
  cpu_set_t during;
  sched_getaffinity(0, sizeof during, &during);
  EXPECT_EQ(CPU_COUNT(&during), 1);
  RunRequest request;
  request.argv = {probe(), "cpus"};
  EXPECT_EQ(launcher->run(request)->out.bytes, everywhere);
  sched_setaffinity(0, sizeof before, &before);
}

// sharkdp/hyperfine#821, JacquesCarette/panbench#196, davidsd/hyperion#4
TEST_F(PeakMemory, issue_04_of_the_tool_never_shows_in_what_it_measures) {
  const std::size_t size = std::size_t{500} << 20;
  const std::unique_ptr<char[]> ballast(new char[size]);
  std::memset(ballast.get(), 1, size);
  for (int i = 0; i < 5; ++i) {
    EXPECT_LE(run({fixture("process_noop")}).peak_rss.value, 1536 * kKibibyte);
    EXPECT_LT(run({"true"}).peak_rss.value, 2 * kMebibyte);
    EXPECT_LT(run({"dash", "-c", "true"}).peak_rss.value, 2 * kMebibyte);
    EXPECT_LT(run({"bash", "-c", "exec " + fixture("process_noop")}).peak_rss.value, 6 * kMebibyte);
  }
  EXPECT_EQ(ballast[size / 2], 1);
}

TEST_F(PeakMemory, of_a_large_run_never_shows_in_the_next) {
  const std::int64_t large = run({probe(), "memory", "200"}).peak_rss.value;
  const std::int64_t small = run({probe(), "memory", "1"}).peak_rss.value;
  EXPECT_GE(large, 200 * kMebibyte);
  EXPECT_LT(large, 206 * kMebibyte);
  EXPECT_GE(small, 1 * kMebibyte);
  EXPECT_LT(small, 6 * kMebibyte) << "its C++ library included";
}

TEST_F(PeakMemory, of_the_helper_does_not_grow_with_what_it_captures) {
  RunRequest chatty = request({probe(), "write", std::to_string(64 * kMebibyte)});
  chatty.stdout_bound = Bytes(64 * kMebibyte);
  EXPECT_EQ(run(chatty).out.total, 64 * kMebibyte);
  EXPECT_LE(run({fixture("process_noop")}).peak_rss.value, 1536 * kKibibyte);
}

TEST_F(Times, are_never_zero_or_negative) {
  std::int64_t before = 0;
  for (int i = 0; i < 200; ++i) {
    const RunResult result = run({"true"});
    ASSERT_EQ(result.outcome, Outcome::ok);
    ASSERT_GT(result.elapsed.value, 0);
    ASSERT_GT(result.start.value, before);
    before = result.start.value + result.elapsed.value;
  }
}

TEST_F(Times, cpu_time_includes_children_that_were_waited_for) {
  const RunResult result =
      run({"sh", "-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true"});
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_GT(result.user.value, 0);
}

}  // namespace
}  // namespace assay::process::testing
