#include "assay/verdict/report.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

Json comparison(const std::string& status, bool gated, const Json& overall) {
  return {{"schema", {{"name", "assay.report.compare"}}},
          {"status", status},
          {"gated", gated},
          {"overall", {{"status", overall}}}};
}

TEST(ExitCode, follows_the_documented_table) {
  const std::vector<std::pair<Json, int>> table = {
      {comparison("measured", false, nullptr), 0},
      {comparison("measured", true, "PASS"), 0},
      {comparison("measured", true, "FAIL"), 1},
      {comparison("measured", true, "INCOMPLETE"), 3},
      {comparison("measured", true, "INCONCLUSIVE"), 4},
      {comparison("failed", true, "PASS"), 2},
      {comparison("failed", false, nullptr), 2},
      {comparison("interrupted", true, "INCOMPLETE"), 130},
      {comparison("interrupted", false, nullptr), 130},
  };
  for (const auto& [report, code] : table)
    EXPECT_EQ(exit_code_of(report), code) << report.dump();
}

TEST(ExitCode, what_is_missing_or_unknown_is_never_a_pass) {
  for (const Json& report :
       {Json(nullptr), Json::object(), Json::array(), comparison("odd", true, "PASS"),
        comparison("measured", true, nullptr), comparison("measured", true, "GREAT"),
        Json{{"status", 5}}, Json{{"status", "measured"}},
        Json{{"schema", 3}, {"status", "measured"}}})
    EXPECT_NE(exit_code_of(report), 0) << report.dump();
}

TEST(ExitCode, calibration_states) {
  const auto report = [](const char* wall, const char* cpu) {
    return Json{{"schema", {{"name", "assay.report.calibration"}}},
                {"status", "measured"},
                {"calibration", {{"wall", {{"state", wall}}}, {"cpu", {{"state", cpu}}}}}};
  };
  EXPECT_EQ(exit_code_of(report("DIRECT", "BY DESIGN")), 0);
  EXPECT_EQ(exit_code_of(report("BY DESIGN (provisional)", "BY DESIGN")), 0);
  EXPECT_EQ(exit_code_of(report("INCOMPLETE", "DIRECT")), 3);
  EXPECT_EQ(exit_code_of(report("INCOMPLETE", "FAILED")), 1);
}

TEST(ExitCode, an_analysis_follows_its_gates) {
  const auto report = [](std::vector<std::string> verdicts) {
    Json json = {{"schema", {{"name", "assay.analysis"}}}, {"cases", Json::array()}};
    for (const std::string& verdict : verdicts)
      json["cases"].push_back({{"gate", {{"verdict", verdict}}}});
    return json;
  };
  EXPECT_EQ(exit_code_of(report({})), 0);
  EXPECT_EQ(exit_code_of(report({"PASS"})), 0);
  EXPECT_EQ(exit_code_of(report({"PASS", "INCONCLUSIVE"})), 4);
  EXPECT_EQ(exit_code_of(report({"INCONCLUSIVE", "FAIL"})), 1);
}

}  // namespace
}  // namespace assay::verdict
