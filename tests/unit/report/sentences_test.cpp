#include "fixtures.h"

#include "assay/base/files.h"
#include "assay/report/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace assay::report::test {
namespace {

TEST(ReportSentences, codes_are_sorted_unique_snake_case_and_each_has_a_sentence) {
  const std::vector<std::string> codes = known_reason_codes();
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
  EXPECT_EQ(std::set<std::string>(codes.begin(), codes.end()).size(), codes.size());
  for (const std::string& code : codes) {
    EXPECT_EQ(code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    const std::string sentence = reason_sentence(code);
    ASSERT_FALSE(sentence.empty()) << code;
    EXPECT_EQ(sentence.back(), '.') << code;
    EXPECT_EQ(sentence.find("  "), std::string::npos) << code;
  }
}

TEST(ReportSentences, an_unknown_code_has_no_sentence_and_stands_for_itself) {
  EXPECT_EQ(reason_sentence("no_such_code"), "");
  EXPECT_EQ(reason_sentence(""), "");
  Json report = fixture("fail");
  report["reason_codes"].push_back("no_such_code");
  EXPECT_NE(terminal(report, {}).find("- no_such_code\n"), std::string::npos);
}

TEST(ReportSentences, the_reference_page_and_the_table_hold_the_same_codes) {
  const auto page = read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/reference/reason-codes.md");
  ASSERT_TRUE(page) << page.error().message();
  std::set<std::string> listed;
  for (const std::string& line : lines_of(*page))
    if (line.rfind("| `", 0) == 0)
      listed.insert(line.substr(3, line.find('`', 3) - 3));
  const std::vector<std::string> known = known_reason_codes();
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()), listed);
}

TEST(ReportSentences, each_code_of_a_report_is_explained_once) {
  Json report = fixture("inconclusive");
  report["blockers"] = Json::array({"one_batch_decides"});
  report["limits"].push_back("below_resolution");
  const std::string text = terminal(report, {});
  for (const char* code : {"one_batch_decides: ", "below_resolution: "}) {
    const std::string item = std::string("  - ") + code;
    const std::size_t first = text.find(item);
    ASSERT_NE(first, std::string::npos) << code;
    EXPECT_EQ(text.find(item, first + 1), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace assay::report::test
