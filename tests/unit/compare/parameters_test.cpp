#include "compare/parameters.h"

#include "assay/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string expanded(const std::string& text, const ParameterPoint& point) {
  std::set<std::string> used;
  auto out = expand(text, point, "candidate", used);
  return out ? *out : "error: " + out.error().message();
}

TEST(Parameters, lists_make_every_combination_with_the_last_one_varying_fastest) {
  const auto points = parameter_points({{"a", {"1", "2"}}, {"b", {"x", "y"}}});
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 4U);
  EXPECT_EQ((*points)[0], (ParameterPoint{{"a", "1"}, {"b", "x"}}));
  EXPECT_EQ((*points)[1], (ParameterPoint{{"a", "1"}, {"b", "y"}}));
  EXPECT_EQ((*points)[3], (ParameterPoint{{"a", "2"}, {"b", "y"}}));
}

TEST(Parameters, without_lists_there_is_one_point_and_braces_are_left_alone) {
  const auto points = parameter_points({});
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 1U);
  EXPECT_EQ(expanded("awk '{print}' {n}", points->front()), "awk '{print}' {n}");
}

TEST(Parameters, names_and_values_that_cannot_be_told_apart_are_refused) {
  EXPECT_FALSE(parameter_points({{"1a", {"1"}}}));
  EXPECT_FALSE(parameter_points({{"", {"1"}}}));
  EXPECT_FALSE(parameter_points({{"a b", {"1"}}}));
  EXPECT_FALSE(parameter_points({{"a", {}}}));
  EXPECT_FALSE(parameter_points({{"a", {"1", "1"}}}));
  EXPECT_FALSE(parameter_points({{"a", {"1"}}, {"a", {"2"}}}));
  EXPECT_FALSE(parameter_points({{"a", {std::string("x\0y", 3)}}}));
  EXPECT_FALSE(parameter_points({{"a", std::vector<std::string>(1001, "")}}));
}

TEST(Parameters, a_reference_becomes_its_value_wherever_it_stands) {
  EXPECT_EQ(expanded("{n} -j{n} {m}", {{"n", "4"}, {"m", "a b"}}), "4 -j4 a b");
  EXPECT_EQ(expanded("{n}", {{"n", "{n}"}}), "{n}") << "values are not expanded again";
}

TEST(Parameters, an_unknown_reference_is_an_error_that_names_it_and_the_known_ones) {
  const std::string text = expanded("./prog {size}", {{"n", "4"}});
  EXPECT_THAT(text, HasSubstr("candidate"));
  EXPECT_THAT(text, HasSubstr("{size}"));
  EXPECT_THAT(text, HasSubstr("known: n"));
  EXPECT_THAT(text, HasSubstr("-L size"));
}

TEST(Parameters, doubled_braces_shell_variables_and_other_braces_are_text) {
  EXPECT_EQ(expanded("{{n}} {n}", {{"n", "4"}}), "{n} 4");
  EXPECT_EQ(expanded("{{print}} {n}", {{"n", "4"}}), "{print} 4");
  EXPECT_EQ(expanded("${HOME} { n } {} {n", {{"n", "4"}}), "${HOME} { n } {} {n");
  EXPECT_EQ(expanded("{print $1} {1}", {{"n", "4"}}), "{print $1} {1}");
}

TEST(Parameters, used_names_are_collected) {
  std::set<std::string> used;
  ASSERT_TRUE(expand("{a}", {{"a", "1"}, {"b", "2"}}, "x", used));
  EXPECT_THAT(used, ElementsAre("a"));
}

TEST(Parameters, scans_are_exact_in_decimal_and_include_both_ends) {
  EXPECT_THAT(*scan_values("1", "4", "1"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(*scan_values("0", "0.3", "0.1"), ElementsAre("0.0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(*scan_values("-1", "1", "0.5"), ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(*scan_values("1", "6", "2"), ElementsAre("1", "3", "5"));
  EXPECT_THAT(*scan_values("7", "7", "2"), ElementsAre("7"));
}

TEST(Parameters, scans_refuse_what_is_no_number_empty_or_endless) {
  for (const char* bad : {"", "nan", "inf", "1e3", "0x10", "-", ".", "1.2.3", "1.0000000001",
                          "99999999999999999999", "1 "})
    EXPECT_FALSE(scan_values(bad, "4", "1")) << bad;
  EXPECT_FALSE(scan_values("4", "1", "1"));
  EXPECT_FALSE(scan_values("1", "4", "0"));
  EXPECT_FALSE(scan_values("1", "4", "-1"));
  EXPECT_FALSE(scan_values("0", "1000000", "1"));
}

}  // namespace
}  // namespace assay::compare
