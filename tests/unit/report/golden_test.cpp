// Renderings of the hand-written fixtures, byte for byte. tools/approve_goldens.sh rewrites them.
#include "fixtures.h"

#include "assay/base/files.h"
#include "assay/report/render.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::report::test {
namespace {

void expect_golden(const std::string& name, const std::string& actual) {
  if (std::getenv("ASSAY_APPROVE_GOLDENS") != nullptr) {
    ASSERT_TRUE(replace_file(golden_path(name), actual)) << name;
    return;
  }
  EXPECT_EQ(read_golden(name), actual)
      << "report-" << name << " changed; look at it and run tools/approve_goldens.sh";
}

TEST(ReportGolden, every_fixture_renders_as_approved_in_a_terminal_of_100_columns) {
  for (const std::string& name : kFixtures)
    expect_golden(name + ".txt", terminal(fixture(name), {.columns = 100}));
}

TEST(ReportGolden, the_plain_ascii_rendering_is_as_approved) {
  for (const char* name : {"fail", "failed", "hostile", "nulls"})
    expect_golden(std::string(name) + ".ascii.txt",
                  terminal(fixture(name), {.unicode = false, .columns = 80, .verbose = true}));
}

TEST(ReportGolden, the_coloured_rendering_is_as_approved) {
  for (const char* name : {"fail", "pass-typical"})
    expect_golden(std::string(name) + ".colour.txt",
                  terminal(fixture(name), {.color = true, .columns = 120}));
}

TEST(ReportGolden, every_fixture_renders_as_approved_in_junit_and_annotations) {
  for (const std::string& name : kFixtures) {
    expect_golden(name + ".xml", junit(fixture(name)));
    expect_golden(name + ".github.txt", github_annotations(fixture(name)));
  }
}

TEST(ReportGolden, markup_tables_are_as_approved) {
  for (const char* fixture_name : {"many", "hostile", "nulls", "fail"}) {
    const std::string name = fixture_name;
    expect_golden(name + ".md", markdown(fixture(name)));
    expect_golden(name + ".adoc", asciidoc(fixture(name)));
    expect_golden(name + ".org", orgmode(fixture(name)));
  }
}

TEST(ReportGolden, sample_exports_are_as_approved) {
  expect_golden("failed.csv", csv(sample_fixture("failed")));
  expect_golden("failed.hyperfine.json",
                hyperfine_json(fixture("failed"), sample_fixture("failed")));
}

TEST(ReportGolden, junit_files_are_valid_for_an_independent_xml_parser) {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "xmllint is not installed (apt install libxml2-utils)";
  for (const std::string& name : kFixtures) {
    const std::string command = "xmllint --noout '" + golden_path(name + ".xml") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << name;
  }
}

}  // namespace
}  // namespace assay::report::test
