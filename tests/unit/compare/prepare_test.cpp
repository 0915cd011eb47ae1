#include "compare/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Prepare : public testing::Test {
 protected:
  Prepare() {
    std::string pattern = testing::TempDir() + "/prepare-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
    options_.commands = {"true", "true"};
    options_.no_archive = true;
  }
  ~Prepare() override { std::filesystem::remove_all(dir_); }

  std::string file(const std::string& name, const std::string& bytes, mode_t mode = 0644) {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path) << bytes;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string error() {
    const auto prepared = prepare(options_);
    return prepared ? "" : prepared.error().message();
  }

  std::string dir_;
  CompareOptions options_;
};

TEST_F(Prepare, one_command_is_refused_with_an_example) {
  options_.commands = {"true"};
  EXPECT_THAT(error(), HasSubstr("give the second command"));
  EXPECT_THAT(error(), HasSubstr("assay compare './old"));
}

TEST_F(Prepare, words_are_split_as_a_shell_would_without_a_shell) {
  options_.commands = {"true", "true 'a b' \"c\" $HOME"};
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  EXPECT_THAT(prepared->cases[0].sides[1].argv, ElementsAre("true", "a b", "c", "$HOME"));
}

TEST_F(Prepare, a_shell_gets_the_whole_text) {
  options_.shell = "sh -e";
  options_.commands = {"true", "false | true"};
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  EXPECT_THAT(prepared->cases[0].sides[1].argv, ElementsAre("sh", "-e", "-c", "false | true"));
}

TEST_F(Prepare, errors_name_the_command_and_the_word) {
  options_.commands = {"true", "./does-not-exist --x"};
  EXPECT_THAT(error(), HasSubstr("candidate './does-not-exist --x'"));
  options_.commands = {"true 'open", "true"};
  EXPECT_THAT(error(), HasSubstr("reference 'true 'open'"));
  EXPECT_THAT(error(), HasSubstr("word 2"));
  options_.commands = {"true", "true", "no-such-program-anywhere"};
  EXPECT_THAT(error(), HasSubstr("candidate-2"));
  options_.commands = {"true", file("plain", "x")};
  EXPECT_THAT(error(), HasSubstr("candidate"));
  options_.commands = {"true", "true"};
  options_.prepare = {"no-such-program-anywhere"};
  EXPECT_THAT(error(), HasSubstr("--prepare"));
  options_.prepare.clear();
  options_.setup = "no-such-program-anywhere";
  EXPECT_THAT(error(), HasSubstr("--setup"));
}

TEST_F(Prepare, each_candidate_and_parameter_point_is_a_case) {
  options_.commands = {"true {n}", "true -x {n}", "true -y {n}"};
  options_.parameters = {{"n", {"1", "2"}}};
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  EXPECT_THAT(prepared->plan.cases, ElementsAre("candidate-1{n=1}", "candidate-1{n=2}",
                                                "candidate-2{n=1}", "candidate-2{n=2}"));
  EXPECT_THAT(prepared->cases[3].sides[0].argv, ElementsAre("true", "2"));
  EXPECT_THAT(prepared->cases[3].sides[1].argv, ElementsAre("true", "-y", "2"));
  EXPECT_EQ(prepared->cases[3].parameters.at("n"), "2");
}

TEST_F(Prepare, an_unused_parameter_is_noted_and_an_unknown_one_refused) {
  options_.parameters = {{"n", {"1", "2"}}};
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  ASSERT_EQ(prepared->notices.size(), 1U);
  EXPECT_THAT(prepared->notices[0], HasSubstr("parameter n"));
  options_.commands[1] = "true {m}";
  EXPECT_THAT(error(), HasSubstr("{m}"));
}

TEST_F(Prepare, names_come_from_the_flags_or_the_roles) {
  options_.names = {"old", "new"};
  auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  EXPECT_THAT(prepared->plan.cases, ElementsAre("new"));
  EXPECT_EQ(prepared->cases[0].sides[0].name, "old");
  options_.reference_name = "base";
  prepared = prepare(options_);
  EXPECT_EQ(prepared->cases[0].sides[0].name, "base");
  options_.names = {"a", "b", "c"};
  EXPECT_THAT(error(), HasSubstr("--command-name"));
}

TEST_F(Prepare, the_oracle_must_exist_and_fit_the_output_bound) {
  options_.oracle_file = dir_ + "/missing";
  EXPECT_THAT(error(), HasSubstr("--oracle"));
  options_.oracle_file = dir_;
  EXPECT_THAT(error(), HasSubstr("no regular file"));
  options_.oracle_file = file("big", std::string(5000, 'x'));
  options_.stdout_bound = 4999;
  EXPECT_THAT(error(), HasSubstr("--max-output"));
  options_.stdout_bound = 5000;
  EXPECT_EQ(error(), "");
  EXPECT_EQ(prepare(options_)->cases[0].oracle->size(), 5000U);
  options_.oracle_command = "true";
  EXPECT_THAT(error(), HasSubstr("--oracle-cmd"));
}

TEST_F(Prepare, the_oracle_may_differ_by_parameter) {
  file("out-1", "one");
  file("out-2", "two");
  options_.commands = {"true {n}", "true {n}"};
  options_.parameters = {{"n", {"1", "2"}}};
  options_.oracle_file = dir_ + "/out-{n}";
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared) << prepared.error().message();
  EXPECT_EQ(prepared->cases[0].oracle, "one");
  EXPECT_EQ(prepared->cases[1].oracle, "two");
}

TEST_F(Prepare, output_that_an_oracle_checks_cannot_be_hidden) {
  options_.oracle_file = file("o", "x");
  for (const char* mode : {"null", "inherit", "somefile"}) {
    options_.output = {mode};
    EXPECT_THAT(error(), HasSubstr("--output")) << mode;
  }
  options_.output = {"pipe"};
  EXPECT_EQ(error(), "");
}

TEST_F(Prepare, input_output_and_archive_places_are_checked) {
  options_.input = dir_ + "/missing";
  EXPECT_THAT(error(), HasSubstr("--input"));
  options_.input = file("in", "data");
  EXPECT_TRUE(prepare(options_)->cases.front().input_sha256);
  options_.output = {dir_ + "/no/such/place"};
  EXPECT_THAT(error(), HasSubstr("--output"));
  options_.output.clear();
  options_.no_archive = false;
  options_.archive = dir_;
  EXPECT_THAT(error(), HasSubstr("exists already"));
  options_.archive = dir_ + "/in/x";
  EXPECT_THAT(error(), HasSubstr("no directory"));
  options_.archive = dir_ + "/new/x";
  EXPECT_EQ(error(), "");
  options_.no_archive = true;
  EXPECT_THAT(error(), HasSubstr("--no-archive"));
}

TEST_F(Prepare, hooks_and_outputs_are_given_once_or_once_per_command) {
  options_.commands = {"true", "true", "true"};
  options_.prepare = {"true a", "true b", "true c"};
  auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  EXPECT_THAT(prepared->cases[1].sides[1].prepare, ElementsAre("true", "c"));
  EXPECT_THAT(prepared->cases[1].sides[0].prepare, ElementsAre("true", "a"));
  options_.prepare = {"true a"};
  prepared = prepare(options_);
  EXPECT_THAT(prepared->cases[1].sides[1].prepare, ElementsAre("true", "a"));
  options_.prepare = {"true a", "true b"};
  EXPECT_THAT(error(), HasSubstr("--prepare"));
}

TEST_F(Prepare, numbers_out_of_range_are_refused) {
  options_.stdout_bound = 0;
  EXPECT_THAT(error(), HasSubstr("--max-output"));
  options_.stdout_bound = 1;
  options_.timeout_ns = 0;
  EXPECT_THAT(error(), HasSubstr("--timeout"));
  options_.timeout_ns.reset();
  options_.seed = -1;
  EXPECT_THAT(error(), HasSubstr("--seed"));
  options_.seed = 1;
  options_.cpus = {100000};
  EXPECT_THAT(error(), HasSubstr("--cpu"));
}

TEST_F(Prepare, a_word_that_only_a_shell_would_act_on_is_noted) {
  options_.commands = {"true | true", "true"};
  const auto prepared = prepare(options_);
  ASSERT_TRUE(prepared);
  ASSERT_EQ(prepared->notices.size(), 1U);
  EXPECT_THAT(prepared->notices[0], HasSubstr("-S default"));
  options_.shell = "sh";
  EXPECT_THAT(prepare(options_)->notices, IsEmpty());
}

TEST_F(Prepare, a_given_seed_is_kept_and_a_missing_one_drawn) {
  options_.seed = 42;
  EXPECT_EQ(prepare(options_)->plan.seed, 42);
  options_.seed.reset();
  const auto one = prepare(options_)->plan.seed;
  EXPECT_GE(one, 0);
  EXPECT_NE(one, prepare(options_)->plan.seed);
}

}  // namespace
}  // namespace assay::compare
