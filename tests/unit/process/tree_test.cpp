// No descendant survives a run.
#include "support.h"

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>

namespace assay::process::testing {
namespace {

class Tree : public LauncherTest {
 protected:
  RunRequest marked(std::vector<std::string> argv) {
    RunRequest result = request(std::move(argv));
    result.environment = {{"ASSAY_TEST_TOKEN", token_}};
    return result;
  }
  std::string token_ = unique_token();
};

std::int64_t size_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_size) : -1;
}

// containerd/containerd#2823: completion judged by the end of the pipe.
TEST_F(Tree, a_background_process_that_holds_the_pipe_neither_delays_nor_survives) {
  const RunResult result = run(marked({"sh", "-c", "(sleep 600 &) ; echo ok"}));
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.out.bytes, "ok\n");
  EXPECT_GE(result.descendants_left, 1);
  EXPECT_TRUE(processes_with(token_).empty());
  EXPECT_LT(result.elapsed.value, INT64_C(60) * 1000000000) << "hang guard";
}

// sosy-lab/benchexec#433: outputs must be frozen when they are read.
TEST_F(Tree, a_daemon_that_writes_a_file_is_gone_when_the_run_returns) {
  const TempDir directory;
  const std::string path = directory.file("written");
  const RunResult result = run(marked({probe(), "writer", path}));
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.descendants_left, 1);
  const std::int64_t size = size_of(path);
  EXPECT_GT(size, 0);
  EXPECT_TRUE(processes_with(token_).empty());
  usleep(20000);
  EXPECT_EQ(size_of(path), size);
}

// airspeed-velocity/asv#254: only the direct child is ended at the timeout.
TEST_F(Tree, a_timeout_ends_daemons_too) {
  RunRequest limited =
      marked({"sh", "-c", "setsid sh -c 'trap \"\" TERM; sleep 600' & setsid sleep 600 & wait"});
  limited.timeout = Nanoseconds(200 * 1000000);
  const RunResult result = run(limited);
  EXPECT_EQ(result.outcome, Outcome::timeout);
  EXPECT_GE(result.descendants_left, 2);
  EXPECT_TRUE(processes_with(token_).empty());
}

TEST_F(Tree, of_hundreds_of_processes_is_ended_however_it_is_shaped) {
  for (const std::string shape : {"wide", "deep"}) {
    const int size = shape == "wide" ? 500 : 100;  // depth takes a busy machine seconds to build
    const RunResult result = run(marked({probe(), shape, std::to_string(size)}));
    EXPECT_EQ(result.outcome, Outcome::ok);
    EXPECT_EQ(result.descendants_left, size) << shape;
    EXPECT_TRUE(processes_with(token_).empty());
  }
}

TEST_F(Tree, an_output_limit_ends_the_whole_tree) {
  const RunResult result = run(marked({"sh", "-c", "sleep 600 & yes"}));
  EXPECT_EQ(result.outcome, Outcome::output_limit);
  EXPECT_TRUE(processes_with(token_).empty());
}

TEST_F(Tree, a_stopped_descendant_is_ended_too) {
  const RunResult result = run(marked({"sh", "-c", probe() + " stop & sleep 0.05"}));
  EXPECT_EQ(result.descendants_left, 1);
  EXPECT_TRUE(processes_with(token_).empty());
}

TEST_F(Tree, other_children_of_the_tool_are_left_alone) {
  const pid_t own = fork();
  if (own == 0) {
    pause();
    _exit(0);
  }
  run(marked({"sh", "-c", "sleep 600 &"}));
  EXPECT_EQ(kill(own, 0), 0);
  kill_one(launcher_->helper_pid(), SIGKILL);
  EXPECT_FALSE(launcher_->run(request({"true"})));
  EXPECT_EQ(waitpid(own, nullptr, WNOHANG), 0);
  kill_one(own, SIGKILL);
  waitpid(own, nullptr, 0);
}

}  // namespace
}  // namespace assay::process::testing
