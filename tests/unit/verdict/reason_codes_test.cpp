// docs/reference/reason-codes.md is complete: every code that src/ can emit has its row.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "assay/base/files.h"
#include "fixture.h"

namespace assay::verdict {
namespace {

std::string source(const std::string& path) {
  const auto bytes = read_file(std::string(ASSAY_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(bytes.has_value()) << path;
  return bytes ? *bytes : "";
}

std::set<std::string> documented() {
  std::set<std::string> codes;
  const std::string text = source("docs/reference/reason-codes.md");
  const std::regex row("\\n\\| `([a-z0-9_]+)` \\|");
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it)
    EXPECT_TRUE(codes.insert((*it)[1]).second) << (*it)[1] << " has two rows";
  return codes;
}

// Literals at the places where a code is made.
std::set<std::string> emitted() {
  std::set<std::string> codes;
  const std::regex places[] = {
      std::regex(R"((?:insert|emplace_back|inconclusive|report|refused_gate)\(\s*(?:cap, |\*options\.cap, )?"([a-z0-9_]+)\")"),
      std::regex(R"(push_back\(\{\s*"([a-z0-9_]+)\")"),
      std::regex(R"(return \{(?:false|std::nullopt), "([a-z0-9_]+)\"\})"),
      std::regex(R"(fact\([^;]*"([a-z_]+)\"\);)"),
  };
  for (const char* path :
       {"src/verdict/verdicts.cpp", "src/verdict/figures.cpp", "src/verdict/report.cpp",
        "src/verdict/case_data.cpp", "src/verdict/case_report.cpp", "src/verdict/analyze.cpp",
        "src/verdict/case_diagnostics.cpp", "src/stats/gate.cpp", "src/stats/tail.cpp"}) {
    const std::string text = source(path);
    for (const std::regex& place : places)
      for (std::sregex_iterator it(text.begin(), text.end(), place), end; it != end; ++it)
        codes.insert((*it)[1]);
  }
  return codes;
}

TEST(ReasonCodes, every_code_in_the_sources_is_documented) {
  const std::set<std::string> known = documented();
  const std::set<std::string> found = emitted();
  EXPECT_GT(found.size(), 35U);
  for (const std::string& code : found)
    EXPECT_EQ(known.count(code), 1U) << code << " has no row in docs/reference/reason-codes.md";
}

TEST(ReasonCodes, every_rejection_is_documented_as_a_blocker) {
  const std::set<std::string> known = documented();
  for (const char* code : {"run_failed", "run_timeout", "run_output_limit", "run_launch_error",
                           "wrong_output", "noisy_stderr"})
    EXPECT_EQ(known.count(code), 1U) << code;
}

TEST(ReasonCodes, every_code_of_a_messy_report_is_documented) {
  CompareInputs in = make_inputs({.batches = 3,
                                  .base_ns = 1e6,
                                  .gates = {.wall_cap = 1.05, .cpu_cap = 1.05, .rss_cap = 1.05,
                                            .tail = true}});
  edit(in, [](const Sample& s) { return s.seq % 5 == 0; }, [](Sample& s) { s.status = "timeout"; });
  edit(in, [](const Sample& s) { return s.seq % 7 == 0; },
       [](Sample& s) { s.peak_rss_bytes = std::nullopt, s.user_ns = s.system_ns = 0; });
  in.ending = {"failed", "run_failed", 3};
  const std::set<std::string> known = documented();
  const Json report = derive(in);
  EXPECT_GT(report.at("reason_codes").size(), 10U);
  for (const Json& code : report.at("reason_codes"))
    EXPECT_EQ(known.count(code.get<std::string>()), 1U) << code;
}

}  // namespace
}  // namespace assay::verdict
