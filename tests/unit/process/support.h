// Shared by the tests of src/process.
#pragma once

#include "assay/process/launcher.h"

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>
#include <vector>

namespace assay::process::testing {

inline std::string helper() {
  return ASSAY_BINARY_DIR "/assay-launch";
}
inline std::string fixture(const std::string& name) {
  return ASSAY_BINARY_DIR "/tests/" + name;
}
inline std::string probe() {
  return fixture("process_probe");
}

// A launcher per test; `request` has a hang guard far beyond what any test needs.
class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LauncherOptions options;
    options.helper_path = helper();
    auto started = Launcher::start(options);
    ASSERT_TRUE(started) << started.error().message();
    launcher_ = std::make_unique<Launcher>(std::move(*started));
  }

  static RunRequest request(std::vector<std::string> argv) {
    RunRequest result;
    result.argv = std::move(argv);
    result.timeout = Nanoseconds(INT64_C(60) * 1000000000);
    return result;
  }

  RunResult run(const RunRequest& what) {
    auto result = launcher_->run(what);
    if (!result) {
      ADD_FAILURE() << result.error().message();
      return {};
    }
    return std::move(*result);
  }
  RunResult run(std::vector<std::string> argv) { return run(request(std::move(argv))); }

  std::unique_ptr<Launcher> launcher_;
};

// A text that no other process on the machine carries.
std::string unique_token();
// Living processes whose environment holds the token.
std::vector<int> processes_with(const std::string& token);
// kill(2) for one process only: 0, 1 and negative numbers, which mean many, are a failed test.
void kill_one(int pid, int signal_number);
// Waits (a hang guard, not a measurement) until none is left; returns those that stay.
std::vector<int> survivors(const std::string& token, int wait_ms);

// A directory that goes away with the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Creates it with that content and mode.
  std::string write(const std::string& name, const std::string& content, mode_t mode = 0644) const;

 private:
  std::string path_;
};

// launch_driver as a child: its lines on stdout, its processes, its signals.
class Driver {
 public:
  Driver(const std::string& token, const std::vector<std::string>& program,
         bool without_cgroup = false);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  int pid() const { return pid_; }
  int guard() const { return guard_; }
  int worker() const { return worker_; }
  bool has_cgroup() const { return cgroup_ != 0; }
  // The rest of what it prints, to the end.
  std::string read_rest();
  // Its exit status after it ended.
  int wait();

 private:
  int pid_ = -1;
  int output_ = -1;
  int guard_ = -1;
  int worker_ = -1;
  int cgroup_ = 0;
};

}  // namespace assay::process::testing
