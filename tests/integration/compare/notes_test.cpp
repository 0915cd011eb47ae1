// What is said beside a measurement, so that nobody takes it for another one.
#include "harness.h"

#include <gmock/gmock.h>

namespace assay::testing_compare {
namespace {

using testing::HasSubstr;

class Notes : public CompareTest {};

TEST_F(Notes, what_only_a_shell_would_expand_is_noted_and_passed_on) {
  const auto note = [this](const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compare", "--dry-run", command, "true"};
    args.insert(args.end(), more.begin(), more.end());
    const Finished done = assay(args);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.err;
  };
  for (const char* word : {"$HOME/f", "*.txt", "f?", "~/f", "`pwd`", "\"$X\"", "${X}", "a$(id)"})
    EXPECT_THAT(note(std::string("echo ") + word), HasSubstr("add -S default")) << word;
  for (const char* word : {"'$HOME'", "\\*", "'*.txt'", "\"f?\"", "a~", "'`'", "5$", "\\$X"})
    EXPECT_EQ(note(std::string("echo ") + word), "") << word;
  EXPECT_EQ(note("echo $HOME", {"-S", "default"}), "");
}

TEST_F(Notes, a_program_of_an_unknown_format_is_told_what_it_lacks) {
  write("bare", "\x7f\x45LF of nothing that runs\n", 0755);
  const Finished done = compare({"--batches", "1", "--pairs", "1", "./bare", "true"});
  EXPECT_THAT(done.err,
              HasSubstr("Exec format error; a script needs a first line such as #!/bin/sh"));
}

}  // namespace
}  // namespace assay::testing_compare
