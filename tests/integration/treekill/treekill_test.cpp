// SIGKILL to assay, to assay-launch or to both, in the middle of a run of the worst tenant. assay
// is played by a small program that holds a launcher; command_test.cpp has the command itself.
//
// 5 rounds each, 50 with ASSAY_LONG=1. A scan of every environment in /proc for the run's token is
// the judge. Counts are printed; (c) is judged as well where a process is left that can act.
#include "rounds.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <sys/prctl.h>
#include <vector>

#include "unit/process/support.h"

namespace assay::process::testing {
namespace {

enum class Victim { assay, launch, guard, assay_and_launch, assay_and_guard, all };

std::vector<int> victims(const Driver& driver, Victim victim) {
  switch (victim) {
    case Victim::assay:
      return {driver.pid()};
    case Victim::launch:
      return {driver.worker()};
    case Victim::guard:
      return {driver.guard()};
    case Victim::assay_and_launch:
      return {driver.pid(), driver.worker()};
    case Victim::assay_and_guard:
      return {driver.pid(), driver.guard()};
    case Victim::all:
      return {driver.pid(), driver.guard(), driver.worker()};
  }
  return {};
}

// Returns how many processes of the payload outlive the kill.
std::size_t kill_once(Victim victim, bool without_cgroup, Tally* tally) {
  const std::string token = unique_token();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::size_t left = 0;
  {
    Driver driver(token, {fixture("treekill_payload")}, without_cgroup);
    tally->cgroup = driver.has_cgroup();
    wait_for_payload(token);
    kill_in_turn(victims(driver, victim));
    // Where somebody can still act the wait ends early; where nobody can, a second shows it.
    left = survivors(token, victim == Victim::all ? 1000 : kHangGuardMs).size();
  }
  clean_up();
  return left;
}

Tally measure(Victim victim, bool without_cgroup) {
  return play([=](Tally* tally) { return kill_once(victim, without_cgroup, tally); });
}

class TreeKill : public ::testing::TestWithParam<bool> {};

TEST_P(TreeKill, nothing_survives_the_death_of_assay) {
  const Tally tally = measure(Victim::assay, GetParam());
  print("(a) assay", tally);
  EXPECT_EQ(tally.survivors, 0);
}

TEST_P(TreeKill, nothing_survives_the_death_of_assay_launch) {
  const Tally tally = measure(Victim::launch, GetParam());
  print("(b) assay-launch", tally);
  EXPECT_EQ(tally.survivors, 0);
  const Tally guard = measure(Victim::guard, GetParam());
  print("(b) its guard", guard);
  EXPECT_EQ(guard.survivors, 0);
}

TEST_P(TreeKill, nothing_survives_the_death_of_assay_and_one_of_its_helpers) {
  const Tally worker = measure(Victim::assay_and_launch, GetParam());
  print("(c) assay and assay-launch", worker);
  EXPECT_EQ(worker.survivors, 0);
  const Tally guard = measure(Victim::assay_and_guard, GetParam());
  print("(c) assay and the guard", guard);
  EXPECT_EQ(guard.survivors, 0);
}

// With nobody left to act, only the kernel's parent-death signal is: daemons outlive it. Printed,
// and the next campaign ends them where there was a cgroup.
TEST_P(TreeKill, the_death_of_all_three_is_counted) {
  const Tally all = measure(Victim::all, GetParam());
  print("(c) assay and both helpers", all);
  EXPECT_EQ(all.rounds, rounds());
}

TEST_P(TreeKill, the_program_itself_never_outlives_all_three) {
  const std::string token = unique_token();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  {
    Driver driver(token, {"sleep", "600"}, GetParam());
    for (int waited = 0; waited < kHangGuardMs && processes_with(token).empty(); ++waited)
      usleep(1000);
    for (const int pid : victims(driver, Victim::all))
      kill_one(pid, SIGKILL);
    EXPECT_TRUE(survivors(token, kHangGuardMs).empty());
  }
  clean_up();
}

INSTANTIATE_TEST_SUITE_P(Cgroup, TreeKill, ::testing::Values(false, true),
                         [](const auto& item) { return item.param ? "without" : "with"; });

TEST(TreeKillStale, the_next_start_ends_what_three_deaths_left_in_a_cgroup) {
  const std::string token = unique_token();
  bool had_cgroup = false;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  {
    Driver driver(token, {fixture("treekill_payload")});
    had_cgroup = driver.has_cgroup();
    wait_for_payload(token);
    for (const int pid : victims(driver, Victim::all))
      kill_one(pid, SIGKILL);
  }
  if (had_cgroup) {
    const Driver next(unique_token(), {"true"});
    EXPECT_TRUE(survivors(token, kHangGuardMs).empty());
  }
  clean_up();
  if (!had_cgroup)
    GTEST_SKIP() << "no writable cgroup v2 here";
}

}  // namespace
}  // namespace assay::process::testing
