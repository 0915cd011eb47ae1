#include "assay/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> split(std::string_view command) {
  const Result<std::vector<std::string>> words = split_command(command);
  EXPECT_TRUE(words) << (words ? "" : words.error().message());
  return words.value_or(std::vector<std::string>{});
}

std::string split_error(std::string_view command) {
  const Result<std::vector<std::string>> words = split_command(command);
  EXPECT_FALSE(words);
  if (words)
    return "";
  EXPECT_EQ(words.error().code, ErrorCode::invalid_argument);
  return words.error().what;
}

TEST(SplitCommand, splits_at_blanks_and_newlines) {
  EXPECT_THAT(split("  ./a\t-n  1\n--x "), ElementsAre("./a", "-n", "1", "--x"));
}

TEST(SplitCommand, quotes_keep_blanks_and_join_to_the_word_around_them) {
  EXPECT_THAT(split(R"(a'b c'd"e f" '' "")"), ElementsAre("ab cde f", "", ""));
  EXPECT_THAT(split("'a\nb' \"c\nd\""), ElementsAre("a\nb", "c\nd"));
}

TEST(SplitCommand, backslash_follows_the_posix_rules) {
  EXPECT_THAT(split(R"(a\ b \" \' \\ \$x)"), ElementsAre("a b", "\"", "'", "\\", "$x"));
  EXPECT_THAT(split(R"("a\"b" "\\" "\$" "\`" "\n" "\'")"),
              ElementsAre("a\"b", "\\", "$", "`", "\\n", "\\'"));
  EXPECT_THAT(split(R"('\n' '\')"), ElementsAre("\\n", "\\"));
  EXPECT_THAT(split("a\\\nb \\\n c \"d\\\ne\""), ElementsAre("ab", "c", "de"));
}

TEST(SplitCommand, expands_nothing) {
  EXPECT_THAT(split("$HOME * ~ `x` a|b # c"),
              ElementsAre("$HOME", "*", "~", "`x`", "a|b", "#", "c"));
}

TEST(SplitCommand, passes_long_names_and_bytes_that_are_not_utf8) {
  const std::string name(300, 'n');
  EXPECT_THAT(split("./" + name + " \xff\xfe"), ElementsAre("./" + name, "\xff\xfe"));
}

TEST(SplitCommand, names_the_word_and_the_quote_that_is_unbalanced) {
  EXPECT_THAT(split_error("./a 'b"),
              HasSubstr("word 2 has an unbalanced single quote (') at byte 5"));
  EXPECT_THAT(split_error("./a b c\"d e"), HasSubstr("word 3 has an unbalanced double quote (\")"));
  EXPECT_THAT(split_error("\"a\\\""), HasSubstr("word 1 has an unbalanced double quote"));
  EXPECT_THAT(split_error("a b\\"), HasSubstr("word 2 ends in a backslash"));
}

TEST(SplitCommand, refuses_an_empty_command_and_a_nul_byte) {
  EXPECT_THAT(split_error(""), HasSubstr("empty"));
  EXPECT_THAT(split_error(" \n\t"), HasSubstr("empty"));
  EXPECT_THAT(split_error("\\\n"), HasSubstr("empty"));
  EXPECT_THAT(split_error(std::string_view("a\0b", 3)), HasSubstr("NUL"));
}

TEST(JoinCommand, quotes_only_what_needs_it) {
  EXPECT_EQ(join_command({"./a", "--x=1", "b c", "", "it's", "$x"}),
            R"(./a --x=1 'b c' '' 'it'\''s' '$x')");
}

TEST(JoinCommand, is_the_inverse_of_splitting) {
  const std::vector<std::string> argv = {"a",    "",     " ",    "\n",
                                         "'",    "\"",   "\\",   "a'b\"c\\d",
                                         "~",    "\xff", "*",    std::string(300, 'x'),
                                         "$(x)", "#",    "\t'\t"};
  EXPECT_EQ(split(join_command(argv)), argv);
}

TEST(Printable, shows_controls_and_bad_bytes_as_escapes) {
  EXPECT_EQ(printable("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x\xc2\x85"),
            "\\u202ex\\u0085");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(Printable, cuts_in_the_middle_by_code_points) {
  EXPECT_EQ(printable("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(printable("abcdefghijk", 10), "abcd...ijk");
  EXPECT_EQ(printable("abcdefghijk", 3), "...");
  EXPECT_EQ(printable("abcdefghijk", 1), ".");
  const std::string umlauts = "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc";
  EXPECT_EQ(printable(umlauts, 6), umlauts);
  EXPECT_EQ(printable(umlauts, 5), "\xc3\xa4...\xc3\xbc");
}

TEST(Printable, never_cuts_through_an_escape) {
  EXPECT_EQ(printable("\n\n\n\n\n\n", 8), "\\n...\\n");
}

TEST(ParseInteger, takes_whole_numbers_inside_the_bounds_only) {
  EXPECT_EQ(parse_integer("60", 1, 100, "--pairs").value(), 60);
  EXPECT_EQ(parse_integer("1", 1, 100, "--pairs").value(), 1);
  EXPECT_EQ(parse_integer("100", 1, 100, "--pairs").value(), 100);
  EXPECT_EQ(parse_integer("-5", -10, 10, "x").value(), -5);
  for (const char* bad : {"", "0", "101", " 5", "5 ", "+5", "-0", "5.0", "1e1", "0x5", "nan", "-",
                          "99999999999999999999", "5\n"})
    EXPECT_FALSE(parse_integer(bad, bad[0] == '-' ? -9 : 1, 100, "--pairs")) << bad;
}

TEST(ParseInteger, the_error_names_the_option_the_range_and_the_text) {
  const Error error = parse_integer("a\nb", 1, 100, "--pairs").error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "--pairs: expected a whole number from 1 to 100, got 'a\\nb'");
}

TEST(ParseNumber, takes_finite_decimals_inside_the_bounds_only) {
  EXPECT_EQ(parse_number("1.05", 0, 10, "--cap").value(), 1.05);
  EXPECT_EQ(parse_number("1e-3", 0, 10, "--cap").value(), 0.001);
  EXPECT_EQ(parse_number("10", 0, 10, "--cap").value(), 10);
  EXPECT_EQ(parse_number("-2.5", -3, 10, "--cap").value(), -2.5);
  for (const char* bad : {"", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "10.001", "+1",
                          " 1", "1 ", "1%", "0x1p3", "-0", "-0.0", "1,5"})
    EXPECT_FALSE(parse_number(bad, bad[0] == '-' ? -9 : 0, 10, "--cap")) << bad;
  EXPECT_EQ(parse_number("nan", 0, 10, "--cap").error().message(),
            "--cap: expected a number from 0 to 10, got 'nan'");
}

}  // namespace
}  // namespace assay
