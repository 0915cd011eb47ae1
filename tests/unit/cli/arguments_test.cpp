#include <gmock/gmock.h>

#include "cli/cli.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

TEST(Durations, are_seconds_or_carry_their_unit) {
  const std::vector<std::pair<std::string, std::int64_t>> good = {
      {"1", 1'000'000'000},   {"1.5", 1'500'000'000},  {"2s", 2'000'000'000},
      {"500ms", 500'000'000}, {"2m", 120'000'000'000}, {"0.5ms", 500'000},
      {"1e-3", 1'000'000},    {"720000m", -1},         {"2592000", 2'592'000'000'000'000},
      {"0.000000001", 1}};
  for (const auto& [text, nanoseconds] : good) {
    const auto time = parse_duration(text, "--timeout");
    if (nanoseconds < 0) {
      EXPECT_FALSE(time.has_value()) << text;
    } else {
      ASSERT_TRUE(time.has_value()) << text;
      EXPECT_EQ(time->value, nanoseconds) << text;
    }
  }
}

TEST(Durations, that_are_none_are_refused_with_the_flag_and_an_example) {
  for (const char* text : {"", "0", "-1", "-1s", "nan", "inf", "1h", "1 s", "s", "ms", "1e999",
                           "2592001", "1ss", "0.0000000001", "1s2", "0x10", "1,5"}) {
    const auto time = parse_duration(text, "--timeout");
    ASSERT_FALSE(time.has_value()) << text;
    EXPECT_EQ(time.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(time.error().where, "--timeout");
    EXPECT_THAT(time.error().what, HasSubstr("500ms"));
  }
}

TEST(Percentages, take_an_optional_sign_of_percent) {
  EXPECT_EQ(parse_percent("5", "--x").value(), 5.0);
  EXPECT_EQ(parse_percent("2.5%", "--x").value(), 2.5);
  EXPECT_EQ(parse_percent("0", "--x").value(), 0.0);
  for (const char* text : {"", "%", "-1", "5%%", "nan", "inf", "10001", "five", "1e9"})
    EXPECT_FALSE(parse_percent(text, "--x").has_value()) << text;
}

TEST(CpuLists, are_sorted_and_unique) {
  EXPECT_EQ(parse_cpu_list("3,0-1,1", "--cpu").value(), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(parse_cpu_list("4095", "--cpu").value(), (std::vector<int>{4095}));
  for (const char* text : {"", ",", "1,", "1-", "-1", "2-1", "4096", "a", "0-99999999999", "1 2"})
    EXPECT_FALSE(parse_cpu_list(text, "--cpu").has_value()) << text;
}

TEST(Nearest, suggests_only_what_is_near) {
  const std::vector<std::string> known = {"compare", "analyze", "calibrate", "doctor"};
  EXPECT_EQ(nearest("comapre", known), "compare");
  EXPECT_EQ(nearest("analyse", known), "analyze");
  EXPECT_EQ(nearest("docter", known), "doctor");
  EXPECT_EQ(nearest("evaluate", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), known), "");
}

class Arguments : public testing::Test {
 protected:
  Arguments() {
    describe(app_, "test", "A test.", {"assay test 1", "assay test 2"});
    add_integer(app_, "--pairs,--samples", pairs_, 1, 1000, "pairs");
    add_share(app_, "--level", level_, 0.5, 0.999, "level");
    add_percent(app_, "--resolve", resolve_, 0.1, 1000, "difference");
    add_percent_cap(app_, "--fail-if-slower", cap_, "cap");
    add_duration(app_, "--timeout", timeout_, "limit");
    app_.add_flag("--json", json_, "json");
  }
  // {exit code or -1, stdout, stderr}
  std::tuple<int, std::string, std::string> parse(const std::vector<std::string>& args) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto code = parse_arguments(app_, args);
    const auto err = testing::internal::GetCapturedStderr();
    return {code.value_or(-1), testing::internal::GetCapturedStdout(), err};
  }
  void expect_refused(const std::vector<std::string>& args, const std::string& part) {
    const auto [code, out, err] = parse(args);
    EXPECT_EQ(code, 2) << args[0];
    EXPECT_EQ(out, "");
    EXPECT_THAT(err, HasSubstr(part));
    EXPECT_THAT(err, HasSubstr("Try: assay test --help"));
  }

  CLI::App app_;
  std::optional<int> pairs_;
  std::optional<double> level_, cap_, resolve_;
  std::optional<std::int64_t> timeout_;
  bool json_ = false;
};

TEST_F(Arguments, reach_their_options) {
  const auto [code, out, err] =
      parse({"--samples", "7", "--level=0.9", "--fail-if-slower", "5%", "--timeout", "2s"});
  EXPECT_EQ(code, -1) << err;
  EXPECT_EQ(pairs_, 7);
  EXPECT_EQ(level_, 0.9);
  EXPECT_EQ(cap_, 1.05);
  EXPECT_EQ(timeout_, 2'000'000'000);
}

TEST_F(Arguments, of_a_relative_figure_take_a_sign_of_percent) {
  EXPECT_EQ(std::get<0>(parse({"--resolve", "5%", "--level", "95%"})), -1);
  EXPECT_EQ(resolve_, 5);
  EXPECT_EQ(level_, 0.95);
  expect_refused({"--resolve", "5%%"}, "--resolve");
  expect_refused({"--resolve", "0.05 %"}, "--resolve");
  expect_refused({"--resolve", "%"}, "--resolve");
  expect_refused({"--level", "0.95%"}, "--level");
}

TEST_F(Arguments, left_out_leave_options_empty) {
  EXPECT_EQ(std::get<0>(parse({})), -1);
  EXPECT_FALSE(pairs_ || level_ || cap_ || timeout_);
}

TEST_F(Arguments, print_help_with_the_examples_and_exit_0) {
  const auto [code, out, err] = parse({"--help"});
  EXPECT_EQ(code, 0);
  EXPECT_THAT(out, HasSubstr("assay test 1"));
  EXPECT_THAT(out, HasSubstr("assay test 2"));
  EXPECT_THAT(out, HasSubstr("--fail-if-slower"));
  EXPECT_EQ(err, "");
}

TEST_F(Arguments, help_names_each_value_and_takes_one_line_per_flag) {
  std::string text;
  std::vector<std::string> words;
  app_.add_option("-p,--prepare", text, "CMD before every run");
  app_.add_option("-P,--scan", text, "VAR MIN MAX: measure each step");
  app_.add_option("--output", text, "pipe|null|FILE (pipe)");
  app_.add_option("--format", text, "CSV or JSON");
  app_.add_option("--sort", text, "auto|name");
  app_.add_flag("-i,--ignore", json_, "=CODES: these are no failures");
  for (const char* flag : {"--export-json", "--export-csv"})
    app_.add_option(flag, text, "FILE, - is stdout");
  app_.add_option("COMMAND", words, "REFERENCE CANDIDATE");
  const std::string help = help_text(app_);
  EXPECT_THAT(help, HasSubstr("Usage: assay test [OPTIONS] COMMAND...\n"));
  for (const char* line : {"\n  -h, --help                     this text\n",
                           "\n  --pairs, --samples N           pairs\n",
                           "\n  -p, --prepare CMD              before every run\n",
                           "\n  -P, --scan VAR MIN MAX         measure each step\n",
                           "\n  --output pipe|null|FILE        (pipe)\n",
                           "\n  --format WORD                  CSV or JSON\n",
                           "\n  --sort WORD                    auto|name\n",
                           "\n  -i, --ignore[=CODES]           these are no failures\n",
                           "\n  --export-json, --export-csv FILE, - is stdout\n",
                           "\n  COMMAND                        REFERENCE CANDIDATE\n"})
    EXPECT_THAT(help, HasSubstr(line));
  EXPECT_THAT(help, testing::EndsWith("\n  assay test 2\n"));
}

TEST_F(Arguments, with_numbers_that_are_none_are_refused_by_name) {
  for (const char* bad : {"0", "-1", "1001", "1.5", "nan", "99999999999999999999", "", "7x", "0x7"})
    expect_refused({"--pairs", bad}, "--pairs");
  for (const char* bad : {"nan", "inf", "-0.9", "1", "0.4", "0,9"})
    expect_refused({"--level", bad}, "--level");
  expect_refused({"--fail-if-slower", "nan"}, "--fail-if-slower");
  expect_refused({"--timeout", "0"}, "--timeout");
}

TEST_F(Arguments, with_an_unknown_flag_name_the_nearest) {
  expect_refused({"--pair", "3"}, "did you mean --pairs?");
  expect_refused({"--jsn"}, "did you mean --json?");
  expect_refused({"--zzzzzzzz"}, "there is no flag --zzzzzzzz");
}

TEST_F(Arguments, too_many_or_incomplete_are_refused) {
  expect_refused({"word"}, "'word' is one word too many");
  expect_refused({"--pairs"}, "--pairs");
  expect_refused({"--pairs", "1", "--pairs", "2"},
                 "--pairs: given 2 times (1 and 2); it takes one value");
  expect_refused({"--pairs", "1", "--samples", "2"}, "--pairs: given 2 times");
}

TEST_F(Arguments, hostile_words_are_shown_escaped) {
  const auto [code, out, err] = parse({"--\x1b[31m\xff\n"});
  EXPECT_EQ(code, 2);
  EXPECT_EQ(err.find('\x1b'), std::string::npos);
  EXPECT_EQ(err.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace assay::cli
