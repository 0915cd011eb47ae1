#include "compare/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using process::Outcome;
using testing::HasSubstr;
using testing::Not;

TEST(FailureText, differences_are_placed_to_the_byte_and_the_line) {
  EXPECT_EQ(difference_text("a\nbc\n", "a\nbX\n"),
            "first difference at byte 3 (line 2): expected \"c\\n\", got \"X\\n\"");
  EXPECT_EQ(difference_text("abc", "ab"),
            "first difference at byte 2 (line 1): expected \"c\", got the end");
  EXPECT_EQ(difference_text("", "x"),
            "first difference at byte 0 (line 1): expected the end, got \"x\"");
  EXPECT_EQ(difference_text("same", "same"), "no difference");
}

TEST(FailureText, the_end_of_stderr_is_shown_without_control_characters) {
  EXPECT_EQ(stderr_excerpt(""), "");
  EXPECT_EQ(stderr_excerpt("\n\n"), "");
  EXPECT_EQ(stderr_excerpt("one\ntwo\n"), "\n  | one\n  | two");
  const std::string many = stderr_excerpt("1\n2\n3\n4\n5\n6\n");
  EXPECT_THAT(many, HasSubstr("| ..."));
  EXPECT_THAT(many, HasSubstr("| 6"));
  EXPECT_THAT(many, Not(HasSubstr("| 2\n")));
  EXPECT_THAT(stderr_excerpt("\x1b[31mred\xff"), Not(HasSubstr("\x1b")));
}

class FailureTextOfRun : public testing::Test {
 protected:
  FailureTextOfRun() {
    verdict::PlanOptions options;
    options.batches = 10;
    options.pairs = 2;
    options.warmups = 1;
    options.cases = {"candidate"};
    plan_ = verdict::make_plan(options);
    one_.name = "candidate";
    one_.oracle = "right\n";
    result_.outcome = Outcome::failed;
    result_.exit_code = 3;
    result_.err.bytes = "broken on purpose\n";
  }

  // The n-th (from 1) measured run of the candidate.
  const verdict::PlannedRun& candidate_run(int n) const {
    for (const verdict::PlannedRun& run : plan_.runs)
      if (run.side == verdict::Side::candidate && run.phase == verdict::Phase::measurement &&
          --n == 0)
        return run;
    return plan_.runs.front();
  }
  std::string text(int n, std::string_view why) {
    return failure_text({one_, plan_, candidate_run(n), sample_, result_, why});
  }

  verdict::Plan plan_;
  PreparedCase one_;
  verdict::Sample sample_;
  process::RunResult result_;
};

TEST_F(FailureTextOfRun, names_side_number_code_and_stderr) {
  const std::string said = text(8, "failed");
  EXPECT_THAT(said, HasSubstr("candidate run 8 of 20"));
  EXPECT_THAT(said, HasSubstr("exit code 3"));
  EXPECT_THAT(said, HasSubstr("| broken on purpose"));
  EXPECT_THAT(said, HasSubstr("-i"));
}

TEST_F(FailureTextOfRun, names_the_signal) {
  result_.signal = 11;
  EXPECT_THAT(text(1, "failed"), HasSubstr("signal 11 (Segmentation fault)"));
}

TEST_F(FailureTextOfRun, says_where_a_wrong_output_parts_from_the_right_one) {
  result_.outcome = Outcome::ok;
  result_.out.bytes = "wrong\n";
  EXPECT_THAT(text(20, "wrong_output"), HasSubstr("expected \"right\\n\", got \"wrong\\n\""));
}

TEST_F(FailureTextOfRun, names_the_bound_that_ended_a_run) {
  result_.outcome = Outcome::timeout;
  EXPECT_THAT(text(1, "timeout"), HasSubstr("time limit"));
  result_.outcome = Outcome::output_limit;
  result_.bound_hit = "stdout";
  EXPECT_THAT(text(1, "output_limit"), HasSubstr("--max-output"));
}

TEST_F(FailureTextOfRun, stderr_is_called_empty_only_where_it_was_captured) {
  result_.err.bytes.clear();
  EXPECT_THAT(text(1, "failed"), Not(HasSubstr("stderr")));
  sample_.stderr_sha256 = std::string(64, '0');
  EXPECT_THAT(text(1, "failed"), HasSubstr("(stderr is empty)"));
}

}  // namespace
}  // namespace assay::compare
