// Names and commands are attacker-controlled: they stay text in every format.
#include "fixtures.h"

#include "assay/report/render.h"

#include <gtest/gtest.h>

#include "report/view.h"

namespace assay::report::test {
namespace {

Json with_name(const std::string& name) {
  Json report = fixture("fail");
  report["cases"][0]["name"] = name;
  return report;
}

TEST(ReportNames, control_bytes_bidi_marks_and_bad_utf8_become_visible) {
  const std::string out = safe_text(
      "a\x1b[31m\n\xe2\x80\xae"
      "b\xff\xc2\x9b");
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_EQ(out.find('\n'), std::string::npos);
  EXPECT_EQ(out.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(out.find("\xc2\x9b"), std::string::npos);
  EXPECT_TRUE(is_valid_utf8(out));
}

TEST(ReportNames, characters_that_hide_or_join_others_become_visible) {
  // Soft hyphen, Mongolian vowel separator, zero-width space, invisible times, private use, tag.
  for (const char* hidden : {"\xc2\xad", "\xe1\xa0\x8e", "\xe2\x80\x8b", "\xe2\x81\xa2",
                             "\xee\x80\x80", "\xf3\xa0\x81\x81"})
    EXPECT_EQ(safe_text(std::string("a") + hidden).substr(0, 3), "a\\u");
}

TEST(ReportNames, ascii_mode_escapes_everything_beyond_ascii) {
  for (const char c : safe_text("é漢\xf0\x9f\x98\x80", 0, true))
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(ReportNames, a_long_name_is_cut_in_the_middle_to_the_width_asked_for) {
  const std::string out = safe_text("head" + std::string(300, 'x') + "tail", 20);
  EXPECT_EQ(display_width(out), 20U);
  EXPECT_EQ(out.rfind("head", 0), 0U);
  EXPECT_EQ(out.substr(out.size() - 4), "tail");
}

TEST(ReportNames, wide_characters_count_twice_and_combining_marks_nothing) {
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);
  EXPECT_EQ(display_width(safe_text("漢字漢字漢字", 7)), 7U);
}

TEST(ReportNames, two_long_names_that_differ_in_the_middle_stay_distinct_in_tables) {
  Json report = fixture("many");
  for (std::size_t i = 1; i < 4; ++i)
    report["cases"][i] = report["cases"][0];
  const std::string half(150, 'n');
  report["cases"][0]["name"] = half + "A" + half;
  report["cases"][1]["name"] = half + "B" + half;
  const std::vector<std::string> lines = lines_of(markdown(report));
  EXPECT_NE(lines[4], lines[5]);
  const std::string text = terminal(report, {.columns = 100});
  EXPECT_NE(text.find("Case 1 of 4"), std::string::npos);
  EXPECT_NE(text.find("Case 2 of 4"), std::string::npos);
}

TEST(ReportNames, a_name_cannot_add_a_cell_or_a_row_to_a_markdown_table) {
  const std::vector<std::string> lines = lines_of(markdown(with_name("a|b\n| x | y |")));
  int pipes = 0;
  for (std::size_t i = 0; i < lines[4].size(); ++i)
    pipes += lines[4][i] == '|' && (i == 0 || lines[4][i - 1] != '\\');
  EXPECT_EQ(pipes, 10);
  EXPECT_EQ(lines[5], "");
}

TEST(ReportNames, a_name_cannot_make_a_link_markup_or_a_mention_in_markdown) {
  const std::string out = markdown(with_name("[x](http://example.org) <b> @team `c` *d* #1"));
  for (const char* raw : {"<b", "@team", " `c`", " *d*", " #1"})
    EXPECT_EQ(out.find(raw), std::string::npos) << raw;
  for (const char* raw : {"](", "://"})
    for (std::size_t at = out.find(raw); at != std::string::npos; at = out.find(raw, at + 1))
      EXPECT_EQ(out[at - 1], '\\') << raw;
  EXPECT_NE(out.find("\\]("), std::string::npos);
}

TEST(ReportNames, a_name_cannot_add_a_cell_to_asciidoc_or_org_tables) {
  EXPECT_NE(asciidoc(with_name("a|b")).find("a&#124;b"), std::string::npos);
  EXPECT_NE(orgmode(with_name("a|b")).find("a\\vert{}b"), std::string::npos);
}

TEST(ReportNames, a_name_cannot_leave_its_xml_attribute) {
  const std::string out = junit(with_name("\"/><evil a='&'>\x01"));
  EXPECT_EQ(xml_defect(out), "");
  EXPECT_EQ(out.find("<evil"), std::string::npos);
  EXPECT_NE(out.find("&quot;/&gt;&lt;evil a=&apos;&amp;&apos;&gt;"), std::string::npos);
}

TEST(ReportNames, a_name_cannot_issue_a_workflow_command) {
  const std::string out = github_annotations(with_name("a,line=1::b\n::error::c%0A"));
  for (const std::string& line : lines_of(out)) {
    EXPECT_EQ(line.rfind("::", 0), 0U);
    const std::size_t end = line.find("::", 2);
    ASSERT_NE(end, std::string::npos);
    const std::string property = line.substr(2, end - 2);
    EXPECT_EQ(property.find(','), std::string::npos) << property;
    EXPECT_EQ(property.find(':'), std::string::npos) << property;
    EXPECT_EQ(line.find("%0A"), std::string::npos) << line;
  }
  EXPECT_NE(out.find("%250A"), std::string::npos);
}

TEST(ReportNames, no_fixture_harms_any_output) {
  for (const std::string& name : kFixtures)
    for (const Rendering& rendering : render_all(fixture(name), sample_fixture("failed")))
      EXPECT_EQ(harm_in(rendering), "") << name;
}

}  // namespace
}  // namespace assay::report::test
