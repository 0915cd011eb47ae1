// docs/reference/reason-codes.md is complete: every code that the sources can emit has its row.
#include "fixture.h"

#include "assay/base/files.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace assay::verdict {
namespace {

std::string source(const std::string& path) {
  const auto bytes = read_file(std::string(ASSAY_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(bytes.has_value()) << path;
  return bytes ? *bytes : "";
}

std::set<std::string> words(const std::string& path, const std::regex& pattern) {
  std::set<std::string> found;
  const std::string text = source(path);
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.insert((*it)[1]);
  return found;
}

std::set<std::string> documented() {
  std::set<std::string> codes;
  const std::string text = source("docs/reference/reason-codes.md");
  const std::regex row("\\n\\| `([a-z0-9_]+)` \\|");
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it)
    EXPECT_TRUE(codes.insert((*it)[1]).second) << (*it)[1] << " has two rows";
  return codes;
}

struct Emitter {
  const char* path;
  const char* pattern;  // its first group is a code
};

// Every snake_case word in quotes of these files is a code unless it is one of `no_codes`.
std::set<std::string> emitted() {
  constexpr const char* kAnyWord = "\"([a-z0-9]+(?:_[a-z0-9]+)+)\"";
  const Emitter emitters[] = {
      {"src/verdict/figures.cpp", kAnyWord},
      {"src/verdict/verdicts.cpp", kAnyWord},
      {"src/verdict/case_data.cpp", kAnyWord},
      {"src/verdict/report.cpp", kAnyWord},
      {"src/verdict/case_diagnostics.cpp", "report\\(\"([a-z0-9_]+)\""},
      {"src/verdict/case_report.cpp", "push_back\\(\\s*\\{\"([a-z0-9_]+)\""},
      {"src/verdict/analyze.cpp",
       "(?:insert\\(|refused_gate\\((?:cap|\\*options\\.cap), )\"([a-z0-9_]+)\""},
      {"src/verdict/sample.cpp", "\"(ended_by_signal|not_available)\""},
      {"src/stats/gate.cpp", "emplace_back\\(\"([a-z0-9_]+)\""},
      {"src/stats/tail.cpp", "\"([a-z0-9]+(?:_[a-z0-9]+)+)\""},
      {"src/stats/calibration.cpp", "(?:emplace_back|push_back)\\(\"([a-z0-9_]+)\""},
      {"src/compare/record.cpp", "absent\\([^;]*\"([a-z]+_[a-z_]+)\"\\);"},
      {"src/compare/campaign.cpp", "ending\\.reason = \"([a-z_]+)\""},
      {"src/report/sentences.cpp", "\\n    \\{\"([a-z0-9_]+)\","},
  };
  std::set<std::string> codes;
  for (const Emitter& emitter : emitters) {
    const auto found = words(emitter.path, std::regex(emitter.pattern));
    EXPECT_FALSE(found.empty()) << emitter.path << " holds no code: has the pattern aged?";
    codes.insert(found.begin(), found.end());
  }
  return codes;
}

// Keys, statuses and units that stand in quotes beside the codes.
const std::set<std::string>& no_codes() {
  static const std::set<std::string> kWords = {"no_difference",
                                               "elapsed_ns",
                                               "peak_rss_bytes",
                                               "system_ns",
                                               "user_ns",
                                               "half_width_percent",
                                               "at_batches",
                                               "half_width_at_percent",
                                               "n_pairs",
                                               "n_batches",
                                               "p_t",
                                               "p_flip",
                                               "p_holm",
                                               "ruled_out_above_percent",
                                               "run_columns",
                                               "batches_planned",
                                               "batches_used",
                                               "pairs_per_batch",
                                               "layout_padding",
                                               "one_sided_alpha",
                                               "runs_planned",
                                               "runs_recorded",
                                               "exit_code",
                                               "reason_codes",
                                               "observed_subset",
                                               "rejected_runs",
                                               "rejected_count",
                                               "archive_id",
                                               "created_utc",
                                               "stdout_sha256",
                                               "tool_version"};
  return kWords;
}

TEST(ReasonCodes, every_code_in_the_sources_is_documented) {
  const std::set<std::string> known = documented();
  const std::set<std::string> found = emitted();
  EXPECT_GT(found.size(), 60U);
  for (const std::string& code : found)
    EXPECT_TRUE(known.count(code) == 1 || no_codes().count(code) == 1)
        << code << " has no row in docs/reference/reason-codes.md";
}

TEST(ReasonCodes, every_rejection_is_documented_as_a_blocker) {
  const std::set<std::string> known = documented();
  for (const char* code : {"run_failed", "run_timeout", "run_output_limit", "run_launch_error",
                           "wrong_output", "noisy_stderr"})
    EXPECT_EQ(known.count(code), 1U) << code;
}

TEST(ReasonCodes, every_code_of_a_messy_report_is_documented) {
  CompareInputs in =
      make_inputs({.batches = 3,
                   .base_ns = 1e6,
                   .gates = {.wall_cap = 1.05, .cpu_cap = 1.05, .rss_cap = 1.05, .tail = true}});
  edit(
      in, [](const Sample& s) { return s.seq % 5 == 0; }, [](Sample& s) { s.status = "timeout"; });
  edit(
      in, [](const Sample& s) { return s.seq % 7 == 0; },
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
