// The same kills, with the command `assay compare` in the place of a program of the tests.
//
// assay gives what it measures its own environment; the token that marks the payload is handed over
// with `env`, so that assay and its helpers do not carry it.
#include "rounds.h"

#include "assay/base/text.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <vector>

#include "unit/process/support.h"

namespace assay::process::testing {
namespace {

std::string proc_file(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The child of that name; -1 without one.
pid_t child_named(pid_t parent, const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 1 || proc_file(pid, "comm") != name + "\n")
      continue;
    const std::string stat = proc_file(pid, "stat");
    // PID (NAME) STATE PARENT
    const std::size_t state = stat.rfind(") ");
    if (state != std::string::npos && std::atoi(stat.c_str() + state + 4) == parent)
      return pid;
  }
  return -1;
}

// `assay compare` on the payload, which never ends: its first run lasts until somebody is killed.
class Command {
 public:
  Command(const std::string& token, const std::string& program, bool without_cgroup) {
    const std::string measured = join_command({"env", "ASSAY_TEST_TOKEN=" + token, program});
    std::vector<std::string> words = {ASSAY_BINARY_DIR "/assay",
                                      "compare",
                                      "--no-archive",
                                      "--style",
                                      "none",
                                      measured,
                                      measured};
    std::vector<char*> argv;
    for (std::string& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0)
      return;
    setenv("ASSAY_NO_CGROUP", without_cgroup ? "1" : "0", 1);
    setenv("XDG_STATE_HOME", directory_.file("state").c_str(), 1);
    setenv("TMPDIR", directory_.file("").c_str(), 1);
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; ++fd)
      dup2(null, fd);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~Command() {
    if (pid_ > 1) {
      kill_one(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Call once the payload runs: the helpers are there then, and they stay until somebody is killed.
  void find_helpers() {
    guard_ = child_named(pid_, "assay-guard");
    worker_ = child_named(guard_, "assay-launch");
    ASSERT_GT(guard_, 1);
    ASSERT_GT(worker_, 1);
  }
  pid_t pid() const { return pid_; }
  pid_t guard() const { return guard_; }
  pid_t worker() const { return worker_; }
  // The worker's last word is the path of the cgroup, empty where there is none.
  bool has_cgroup() const {
    return proc_file(worker_, "cmdline").find("/assay." + std::to_string(guard_) + ".") !=
           std::string::npos;
  }
  // The exit code of an assay that nobody has killed; -1 when it hangs.
  int exit_code() {
    int status = 0;
    for (int waited = 0; waited < kHangGuardMs; ++waited, usleep(1000))
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    return -1;
  }

 private:
  TempDir directory_;
  pid_t pid_ = -1;
  pid_t guard_ = -1;
  pid_t worker_ = -1;
};

enum class Victim { assay, worker, guard, assay_and_worker, assay_and_guard, all };

std::vector<pid_t> victims(const Command& command, Victim victim) {
  switch (victim) {
    case Victim::assay:
      return {command.pid()};
    case Victim::worker:
      return {command.worker()};
    case Victim::guard:
      return {command.guard()};
    case Victim::assay_and_worker:
      return {command.pid(), command.worker()};
    case Victim::assay_and_guard:
      return {command.pid(), command.guard()};
    case Victim::all:
      return {command.pid(), command.guard(), command.worker()};
  }
  return {};
}

std::size_t kill_once(Victim victim, bool without_cgroup, Tally* tally) {
  const std::string token = unique_token();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::size_t left = 0;
  {
    Command command(token, fixture("treekill_payload"), without_cgroup);
    wait_for_payload(token);
    command.find_helpers();
    if (!::testing::Test::HasFatalFailure()) {
      tally->cgroup = command.has_cgroup();
      kill_in_turn(victims(command, victim));
      // As in treekill_test.cpp.
      left = survivors(token, victim == Victim::all ? 1000 : kHangGuardMs).size();
      if (victim == Victim::worker || victim == Victim::guard) {
        EXPECT_EQ(command.exit_code(), 2) << "a helper is lost: no measurement goes on";
      }
    }
  }
  clean_up();
  return left;
}

class CommandTreeKill : public ::testing::TestWithParam<bool> {
 protected:
  static Tally measured(const char* name, Victim victim) {
    const Tally tally = play([=](Tally* round) { return kill_once(victim, GetParam(), round); });
    print(name, tally);
    return tally;
  }
};

TEST_P(CommandTreeKill, nothing_survives_the_death_of_assay_compare) {
  EXPECT_EQ(measured("assay compare: assay", Victim::assay).survivors, 0);
}

TEST_P(CommandTreeKill, nothing_survives_the_death_of_one_of_its_helpers) {
  EXPECT_EQ(measured("assay compare: assay-launch", Victim::worker).survivors, 0);
  EXPECT_EQ(measured("assay compare: its guard", Victim::guard).survivors, 0);
}

TEST_P(CommandTreeKill, nothing_survives_the_death_of_assay_compare_and_one_of_its_helpers) {
  EXPECT_EQ(measured("assay compare: assay, assay-launch", Victim::assay_and_worker).survivors, 0);
  EXPECT_EQ(measured("assay compare: assay, the guard", Victim::assay_and_guard).survivors, 0);
}

// Nobody is left to act: counted, as in treekill_test.cpp.
TEST_P(CommandTreeKill, the_death_of_all_three_is_counted) {
  EXPECT_EQ(measured("assay compare: assay, both helpers", Victim::all).rounds, rounds());
}

INSTANTIATE_TEST_SUITE_P(Cgroup, CommandTreeKill, ::testing::Values(false, true),
                         [](const auto& item) { return item.param ? "without" : "with"; });

}  // namespace
}  // namespace assay::process::testing
