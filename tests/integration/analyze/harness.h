// Runs the built `assay analyze` in a directory of its own.
#pragma once

#include "assay/base/files.h"
#include "assay/base/json.h"
#include "assay/base/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace assay {

class AnalyzeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/assay-analyze-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    directory_ = path;
  }
  void TearDown() override {
    const std::string command = "rm -r '" + directory_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  struct Ended {
    int code = -1;
    std::string out, err;
    Json json() const { return Json::parse(out); }
  };
  Ended run(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {std::string(ASSAY_BINARY_DIR) + "/assay", "analyze"};
    argv.insert(argv.end(), words.begin(), words.end());
    const std::string command = "timeout 120 " + join_command(argv) + " >" + directory_ +
                                "/out 2>" + directory_ + "/err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, *read_file(directory_ + "/out"),
            *read_file(directory_ + "/err")};
  }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = directory_ + "/" + name;
    EXPECT_TRUE(replace_file(path, text).has_value());
    return path;
  }
  std::string directory_;
};

}  // namespace assay
