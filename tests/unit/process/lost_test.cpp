// Helpers that are missing, of another build, or die; and stop signals.
#include "support.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>

namespace assay::process::testing {
namespace {

using Lost = LauncherTest;

Result<Launcher> start_with(const std::string& path) {
  LauncherOptions options;
  options.helper_path = path;
  return Launcher::start(options);
}

TEST(Start, a_helper_of_another_build_is_refused_by_both_names) {
  const auto launcher = start_with(fixture("assay-launch-foreign"));
  ASSERT_FALSE(launcher);
  EXPECT_EQ(launcher.error().code, ErrorCode::launcher);
  const std::string message = launcher.error().message();
  EXPECT_NE(message.find("assay-launch speaks protocol 1 of build 0000000000000000"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("this assay speaks protocol 1 of build"), std::string::npos);
}

TEST(Start, a_missing_helper_or_another_program_is_a_clear_error) {
  for (const std::string path : {"/no/such/assay-launch", "/bin/true", "/dev/null"}) {
    const auto launcher = start_with(path);
    ASSERT_FALSE(launcher) << path;
    EXPECT_EQ(launcher.error().code, ErrorCode::launcher);
    EXPECT_NE(launcher.error().message().find(path), std::string::npos)
        << launcher.error().message();
  }
  const auto unnamed = start_with("");  // beside this test program there is none
  ASSERT_FALSE(unnamed);
  EXPECT_NE(unnamed.error().message().find("tests/assay-launch"), std::string::npos);
}

TEST(Start, the_helper_started_by_hand_explains_itself) {
  const std::string command = helper() + " worker 1 2 >/dev/null 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

TEST(Start, a_closed_launcher_leaves_no_process_behind) {
  int guard = 0;
  int worker = 0;
  {
    auto launcher = start_with(helper());
    ASSERT_TRUE(launcher);
    guard = launcher->guard_pid();
    worker = launcher->helper_pid();
    EXPECT_EQ(kill(worker, 0), 0);
  }
  EXPECT_EQ(kill(guard, 0), -1);
  EXPECT_EQ(kill(worker, 0), -1);
}

TEST_F(Lost, a_helper_killed_by_what_it_runs_is_launcher_lost_and_nothing_survives) {
  const std::string token = unique_token();
  RunRequest deadly = request({"sh", "-c", "setsid sleep 600 & kill -KILL $PPID; sleep 600"});
  deadly.environment = {{"ASSAY_TEST_TOKEN", token}};
  const auto result = launcher_->run(deadly);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::launcher);
  EXPECT_NE(result.error().message().find("launcher_lost"), std::string::npos);
  EXPECT_TRUE(processes_with(token).empty());
  const auto again = launcher_->run(request({"true"}));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("launcher_lost"), std::string::npos);
}

struct Deaths {
  bool worker;
  const char* no_cgroup;
};
class LostHelpers : public LauncherTest, public ::testing::WithParamInterface<Deaths> {
 protected:
  void SetUp() override {
    setenv("ASSAY_NO_CGROUP", GetParam().no_cgroup, 1);
    LauncherTest::SetUp();
    unsetenv("ASSAY_NO_CGROUP");
  }
};

TEST_P(LostHelpers, leave_nothing_behind_when_the_guard_dies_alone_or_with_the_worker) {
  const std::string token = unique_token();
  RunRequest deadly =
      request({"sh", "-c", "setsid sleep 600 & kill -KILL $GUARD $WORKER; sleep 600"});
  deadly.environment = {
      {"ASSAY_TEST_TOKEN", token},
      {"GUARD", std::to_string(launcher_->guard_pid())},
      {"WORKER", GetParam().worker ? std::to_string(launcher_->helper_pid()) : ""}};
  const auto result = launcher_->run(deadly);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("launcher_lost"), std::string::npos);
  EXPECT_TRUE(processes_with(token).empty());
}
TEST_P(LostHelpers, that_are_stopped_are_not_waited_for) {
  const std::string token = unique_token();
  const bool worker = GetParam().worker;
  RunRequest stopping =
      request({"sh", "-c", "setsid sleep 600 & kill -STOP $GUARD $WORKER; sleep 600"});
  stopping.environment = {{"ASSAY_TEST_TOKEN", token},
                          {"GUARD", std::to_string(launcher_->guard_pid())},
                          {"WORKER", worker ? std::to_string(launcher_->helper_pid()) : ""}};
  const auto result = launcher_->run(stopping);
  ASSERT_FALSE(result);
  const std::string message = result.error().message();
  EXPECT_NE(message.find("launcher_lost"), std::string::npos) << message;
  const std::string held = worker ? "assay-launch" : "assay-guard";
  EXPECT_NE(message.find(held + " was stopped by a signal"), std::string::npos) << message;
  EXPECT_TRUE(processes_with(token).empty());
}

TEST_P(LostHelpers, that_are_stopped_between_runs_still_end) {
  const int guard = launcher_->guard_pid();
  const int worker = launcher_->helper_pid();
  kill_one(guard, SIGSTOP);
  if (GetParam().worker)
    kill_one(worker, SIGSTOP);
  launcher_.reset();
  EXPECT_EQ(kill(guard, 0), -1);
  EXPECT_EQ(kill(worker, 0), -1);
}

INSTANTIATE_TEST_SUITE_P(EachWay, LostHelpers,
                         ::testing::Values(Deaths{false, "0"}, Deaths{true, "0"},
                                           Deaths{false, "1"}, Deaths{true, "1"}));

class StopSignal : public ::testing::TestWithParam<int> {};

TEST_P(StopSignal, ends_the_run_and_its_tree_and_allows_only_clean_up_afterwards) {
  const std::string token = unique_token();
  Driver driver(token, {"sh", "-c", "setsid sleep 600 & sleep 600"});
  for (int waited = 0; waited < 10000 && processes_with(token).size() < 2; ++waited)
    usleep(1000);
  kill_one(driver.pid(), GetParam());
  const std::string text = driver.read_rest();
  EXPECT_NE(text.find("error stopped by SIG" + std::string(sigabbrev_np(GetParam()))),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("later runs refused, clean-up ok"), std::string::npos) << text;
  EXPECT_TRUE(processes_with(token).empty());
  EXPECT_EQ(driver.wait(), 0);
}
INSTANTIATE_TEST_SUITE_P(EachSignal, StopSignal,
                         ::testing::Values(SIGINT, SIGTERM, SIGQUIT, SIGHUP));

}  // namespace
}  // namespace assay::process::testing
