#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace {

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr)
    return "popen failed";
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), n);
  const int status = pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "exit status " + text;
}

TEST(Digest, every_rule_gives_the_recorded_bits) {
  const std::string golden_path =
      std::string(ASSAY_SOURCE_DIR) + "/tests/unit/stats/stats_digest.txt";
  std::ifstream file(golden_path);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(golden.empty()) << golden_path;
  std::istringstream got(output_of("'" ASSAY_BINARY_DIR "/helpers/stats_digest'"));
  std::istringstream expected(golden);
  std::string got_line;
  std::string expected_line;
  int number = 0;
  while (std::getline(expected, expected_line)) {
    ++number;
    ASSERT_TRUE(std::getline(got, got_line)) << "ends before line " << number;
    ASSERT_EQ(got_line, expected_line) << "line " << number << " of " << golden_path;
  }
  EXPECT_FALSE(std::getline(got, got_line)) << "more than the recorded " << number << " lines";
}

}  // namespace
