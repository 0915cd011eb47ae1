#include "fixtures.h"

#include "assay/base/files.h"
#include "assay/report/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
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

struct PageRow {
  std::string where, sentence;
};

// The cells of every row of docs/reference/reason-codes.md, by code.
std::map<std::string, PageRow> page_rows() {
  const auto page = read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/reference/reason-codes.md");
  EXPECT_TRUE(page.has_value());
  std::map<std::string, PageRow> rows;
  for (const std::string& line : lines_of(page ? *page : "")) {
    if (line.rfind("| `", 0) != 0)
      continue;
    std::vector<std::string> cells;
    for (std::size_t from = 2, to = 0; (to = line.find(" |", from)) != std::string::npos;
         from = to + 3)
      cells.push_back(line.substr(from, to - from));
    EXPECT_EQ(cells.size(), 5U) << line;
    cells.resize(5);
    rows[cells[0].substr(1, cells[0].size() - 2)] = {cells[1], cells[3]};
  }
  return rows;
}

TEST(ReportSentences, the_reference_page_holds_the_same_codes_and_sentences) {
  const std::vector<std::string> known = known_reason_codes();
  const auto rows = page_rows();
  EXPECT_EQ(rows.size(), known.size());
  for (const std::string& code : known) {
    ASSERT_EQ(rows.count(code), 1U) << code;
    EXPECT_EQ(rows.at(code).sentence, reason_sentence(code)) << code;
  }
}

// A code that no source can emit is marked as such; one that is marked is not emitted.
TEST(ReportSentences, codes_that_nothing_emits_are_marked) {
  std::string sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR "/src"))
    if (entry.is_regular_file() && entry.path().filename() != "sentences.cpp")
      sources += read_file(entry.path().string()).value_or("");
  for (const auto& [code, row] : page_rows()) {
    // blocker_of() puts "run_" in front of an outcome.
    std::string quoted = "\"";
    quoted.append(code).append("\"");
    const bool composed = code.rfind("run_", 0) == 0;
    const bool emitted = composed || sources.find(quoted) != std::string::npos;
    EXPECT_EQ(!emitted, row.where.rfind("not emitted by this version", 0) == 0) << code;
  }
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
