// Whatever a report lacks, every renderer still answers, and never with nan or inf.
#include "fixtures.h"

#include "assay/report/render.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace assay::report::test {
namespace {

constexpr int kMutantsPerFixture = 60;

std::vector<Json> odd_values() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {nullptr,
          true,
          0,
          -1,
          1.5,
          INT64_MAX,
          INT64_MIN,
          UINT64_MAX,
          1e308,
          -1e308,
          5e-324,
          std::nan(""),
          infinity,
          -infinity,
          "",
          "PASS",
          "text | <&>\"' % : , \r\n\x1b[31m \xff\xfe \xe2\x80\xae ::error::",
          std::string(400, 'w'),
          Json::array(),
          Json::object(),
          Json::array({nullptr, 1, Json::object()})};
}

// Every place in the report, as (parent, key or index).
void collect(Json& value, std::vector<Json*>& parents) {
  if (!value.is_structured())
    return;
  if (!value.empty())
    parents.push_back(&value);
  for (auto& item : value.items())
    collect(item.value(), parents);
}

void mutate_once(Json& report, std::mt19937& random) {
  std::vector<Json*> parents;
  collect(report, parents);
  if (parents.empty())
    return;
  Json& parent = *parents[random() % parents.size()];
  const auto member =
      std::next(parent.begin(), static_cast<std::ptrdiff_t>(random() % parent.size()));
  static const std::vector<Json> odd = odd_values();
  const std::size_t choice = random() % (odd.size() + 1);
  if (choice == odd.size())
    parent.erase(member);
  else
    *member = odd[choice];
}

void expect_harmless(const Json& report, const std::string& name) {
  const std::vector<std::string> samples = sample_fixture("failed");
  for (const Rendering& rendering : render_all(report, samples)) {
    EXPECT_EQ(harm_in(rendering), "") << name << "\n" << rendering.text;
    EXPECT_FALSE(rendering.text.empty()) << name << " " << rendering.kind;
    if (rendering.kind == "terminal 40") {
      EXPECT_EQ(too_wide_line(rendering.text, 40), "") << name;
    }
    if (rendering.kind == "terminal 100") {
      EXPECT_EQ(too_wide_line(rendering.text, 100), "") << name;
    }
    if (rendering.kind == "junit") {
      EXPECT_EQ(xml_defect(rendering.text), "") << name << rendering.text;
    }
    if (rendering.kind == "hyperfine") {
      EXPECT_TRUE(parse_json(rendering.text, "export")) << name;
    }
    if (rendering.kind == "github") {
      for (const std::string& line : lines_of(rendering.text))
        EXPECT_EQ(line.rfind("::", 0), 0U) << name << ": " << line;
    }
  }
}

TEST(ReportProperty, a_report_with_any_member_dropped_or_replaced_still_renders) {
  std::mt19937 random(20260906);
  for (const std::string& name : kFixtures) {
    const Json original = fixture(name);
    for (int i = 0; i < kMutantsPerFixture && !testing::Test::HasFailure(); ++i) {
      Json report = original;
      const std::size_t changes = 1 + random() % 8;
      for (std::size_t k = 0; k < changes; ++k)
        mutate_once(report, random);
      expect_harmless(report, name + " mutant " + std::to_string(i));
    }
  }
}

TEST(ReportProperty, a_value_that_is_no_report_at_all_still_renders) {
  for (const Json& value : odd_values())
    expect_harmless(value, "odd value");
}

TEST(ReportProperty, colour_only_adds_to_the_plain_rendering) {
  for (const std::string& name : kFixtures) {
    const Json report = fixture(name);
    const std::string plain = terminal(report, {.columns = 90});
    const std::string coloured = terminal(report, {.color = true, .columns = 90});
    EXPECT_NE(plain, coloured) << name;
    // Painted cells keep their padding inside, so only trailing spaces may differ.
    std::string stripped;
    for (std::string line : lines_of(without_colour(coloured))) {
      line.erase(line.find_last_not_of(' ') + 1);
      stripped += line + "\n";
    }
    EXPECT_EQ(stripped, plain) << name;
  }
}

TEST(ReportProperty, sample_lines_of_any_shape_make_a_row_each) {
  const std::vector<std::string> samples = {
      "", "{", "null", "[1]", "{\"seq\":1e400}", "{\"seq\":7}", "\xff"};
  const std::string out = csv(samples);
  EXPECT_EQ(lines_of(out).size(), samples.size() + 1);
  EXPECT_EQ(harm_in({"csv", out}), "");
  EXPECT_NE(out.find("unreadable_sample"), std::string::npos);
}

}  // namespace
}  // namespace assay::report::test
