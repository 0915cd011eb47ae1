// Drives the built `assay` as a user would, in a directory of its own.
#pragma once

#include "assay/base/json.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay::testing_compare {

struct Finished {
  int exit_code = -1;  // 128 + signal when killed by one
  std::string out, err;
  long peak_rss_kib = 0;
};

// A process that is still running.
class Running {
 public:
  Running(pid_t pid, int out, int err) : pid_(pid), out_(out), err_(err) {}
  pid_t pid() const { return pid_; }
  // Reads both streams to their ends and reaps. Kills it and fails the test after two minutes.
  Finished wait();

 private:
  pid_t pid_;
  int out_, err_;
};

// Each test has an empty working directory `dir` that disappears with it.
class CompareTest : public ::testing::Test {
 protected:
  CompareTest();
  ~CompareTest() override;

  using Environment = std::map<std::string, std::string>;
  Running start(const std::vector<std::string>& args);
  Finished assay(const std::vector<std::string>& args) { return start(args).wait(); }
  // assay compare ARGS with an archive at dir/archive.
  Finished compare(std::vector<std::string> args);

  // "…/payload WORDS": one command word for compare.
  std::string payload(const std::string& words) const;
  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  void write(const std::string& name, const std::string& bytes, mode_t mode = 0644) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;

  Json report(const std::string& archive = "archive") const;
  std::vector<Json> lines(const std::string& name, const std::string& archive = "archive") const;
  std::vector<Json> samples() const { return lines("samples.jsonl"); }
  // Those of one side that were measured, in order.
  std::vector<Json> measured(const std::string& side) const;

  // Called in the child between fork and exec.
  std::function<void()> before_exec_;
  Environment environment_;
  std::string dir_;
};

// Waits until `condition` holds; false after a minute.
bool eventually(const std::function<bool()>& condition);
// The processes that a process has started and not yet reaped.
std::vector<pid_t> children_of(pid_t parent);
// How many processes have `token` in their command line, this one left out.
int processes_with(const std::string& token);

}  // namespace assay::testing_compare
