#include <gmock/gmock.h>

#include <cstdlib>
#include <unistd.h>

#include "cli/cli.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

ProgressLine::State state(std::int64_t done, int batch, double seconds) {
  return {done, 60, batch, 10, "candidate", seconds};
}

TEST(Progress, says_how_far_and_how_long) {
  EXPECT_EQ(progress_text(state(12, 2, 3.5)),
            "12/60 pairs (20 %), batch 2 of 10, ETA 14 s, candidate");
  EXPECT_EQ(progress_text(state(1, 1, 100)),
            "1/60 pairs (1 %), batch 1 of 10, ETA 1 h 38 min, candidate");
  EXPECT_EQ(progress_text({3, 60, 0, 0, "", 30, "verdicts"}),
            "3/60 verdicts (5 %), ETA 9 min 30 s");
}

TEST(Progress, gives_no_eta_before_the_first_and_after_the_last_pair) {
  EXPECT_EQ(progress_text(state(0, 1, 9)), "0/60 pairs (0 %), batch 1 of 10, candidate");
  EXPECT_EQ(progress_text(state(60, 10, 9)), "60/60 pairs (100 %), batch 10 of 10, candidate");
  EXPECT_EQ(progress_text({0, 0, 0, 0, "", 0}), "0/0 pairs");
}

TEST(Progress, shows_hostile_case_names_escaped) {
  const auto text = progress_text({1, 2, 0, 0, "\x1b[2J\n" + std::string(300, 'n'), 1});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_LT(text.size(), 100U);
}

class ProgressOutput : public testing::Test {
 protected:
  std::vector<std::string> written_;
  ProgressLine::Sink sink_ = [this](std::string_view text) { written_.emplace_back(text); };
};

TEST_F(ProgressOutput, off_a_terminal_is_one_plain_line_per_batch_or_five_seconds) {
  Style style;
  ProgressLine line(style, sink_);
  line.update(state(1, 1, 0.1));
  line.update(state(2, 1, 0.2));  // too soon
  line.update(state(7, 2, 0.3));  // a new batch
  line.update(state(8, 2, 5.2));  // too soon
  line.update(state(9, 2, 5.3));  // five seconds
  line.finish();
  ASSERT_EQ(written_.size(), 3U);
  for (const auto& text : written_) {
    EXPECT_EQ(text.rfind("assay: ", 0), 0U);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

TEST_F(ProgressOutput, off_a_terminal_many_batches_make_few_lines) {
  Style style;
  ProgressLine line(style, sink_);
  for (int batch = 1; batch <= 1000; ++batch)
    line.update({batch, 1000, batch, 1000, "calibrating", 0.01 * batch});
  line.finish();
  EXPECT_EQ(written_.size(), 3U);  // the first, the one after five seconds, the last
}

TEST_F(ProgressOutput, on_a_terminal_rewrites_one_line_and_erases_it_at_the_end) {
  Style style;
  style.interactive = true;
  {
    ProgressLine line(style, sink_);
    line.update(state(1, 1, 0.10));
    line.update(state(2, 1, 0.15));  // too soon
    line.update(state(3, 1, 0.21));
    line.update(state(60, 10, 0.22));  // the last one is always shown
  }
  ASSERT_EQ(written_.size(), 4U);
  for (const auto& text : written_) {
    EXPECT_EQ(text[0], '\r');
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(written_.back(), "\r\x1b[K");
}

TEST_F(ProgressOutput, never_exceeds_the_terminal) {
  Style style;
  style.interactive = true;
  style.columns = 40;
  ProgressLine line(style, sink_);
  line.update(state(12, 2, 3.5));
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_LE(written_[0].size(), 39U + 4U);
}

TEST_F(ProgressOutput, is_silent_when_asked) {
  Style style;
  style.silent = true;
  ProgressLine line(style, sink_);
  line.update(state(1, 1, 0.1));
  line.finish();
  EXPECT_TRUE(written_.empty());
}

class Styles : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      saved_.emplace_back(name,
                          value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  static constexpr const char* kNames[] = {"NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"};
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

TEST_F(Styles, that_are_named_outrank_the_environment) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(resolve_style("color")->color);
  EXPECT_FALSE(resolve_style("color")->interactive);
  EXPECT_TRUE(resolve_style("full")->interactive);
  EXPECT_FALSE(resolve_style("nocolor")->color);
  // Without colours is no reason to rewrite lines in a file; the test's stderr may be a terminal.
  EXPECT_EQ(resolve_style("nocolor")->interactive, ::isatty(STDERR_FILENO) == 1);
  EXPECT_TRUE(resolve_style("none")->silent);
  EXPECT_FALSE(resolve_style("basic")->color || resolve_style("basic")->interactive);
}

TEST_F(Styles, that_do_not_exist_are_refused_with_those_that_do) {
  const auto style = resolve_style("rainbow");
  ASSERT_FALSE(style.has_value());
  EXPECT_THAT(style.error().message(), HasSubstr("--style"));
  EXPECT_THAT(style.error().message(), HasSubstr("nocolor"));
}

TEST_F(Styles, draw_unicode_only_in_a_utf_8_locale) {
  EXPECT_FALSE(resolve_style("auto")->unicode);
  ::setenv("LANG", "en_US.UTF-8", 1);
  EXPECT_TRUE(resolve_style("auto")->unicode);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(resolve_style("auto")->unicode);
  ::setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(resolve_style("auto")->unicode);
}

TEST(Errors, exit_2_and_interruptions_130) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_error({ErrorCode::io, "cannot read", "file\x1b"}), 2);
  const auto text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("assay: file"));
  EXPECT_THAT(text, HasSubstr("cannot read"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_error({ErrorCode::interrupted, "stopped"}), 130);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(interrupted_exit_code(15), 143);
  EXPECT_EQ(interrupted_exit_code(2), 130);
}

TEST(Columns, are_those_of_the_environment_where_stdout_is_no_terminal) {
  if (::isatty(STDOUT_FILENO) == 1)
    GTEST_SKIP() << "stdout is a terminal";
  const auto columns = [](const char* text) {
    ::setenv("COLUMNS", text, 1);
    return resolve_style("auto")->columns;
  };
  EXPECT_EQ(columns("72"), 72);
  EXPECT_EQ(columns("7"), 40);
  EXPECT_EQ(columns("100000"), 400);
  for (const char* none : {"", "wide", "-5", "0"})
    EXPECT_EQ(columns(none), 100) << none;
  ::unsetenv("COLUMNS");
}

}  // namespace
}  // namespace assay::cli
