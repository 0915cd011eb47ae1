#include "fixtures.h"

#include "assay/report/render.h"

#include <gtest/gtest.h>

namespace assay::report::test {
namespace {

// A reader of RFC 4180 written without looking at the writer.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string cell;
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else if (c == '"') {
        in_quotes = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == ',' || c == '\r') {
      rows.back().push_back(cell);
      cell.clear();
    } else if (c == '\n') {
      rows.emplace_back();
    } else {
      cell += c;
    }
  }
  rows.pop_back();
  return rows;
}

std::size_t column(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    if (rows[0][i] == name)
      return i;
  ADD_FAILURE() << "no column " << name;
  return 0;
}

TEST(ReportCsv, every_sample_is_a_row_with_all_columns) {
  const auto samples = sample_fixture("failed");
  const auto rows = read_csv(csv(samples));
  ASSERT_EQ(rows.size(), samples.size() + 1);
  for (const auto& row : rows)
    EXPECT_EQ(row.size(), rows[0].size());
  for (const char* name : {"elapsed_ns", "user_ns", "system_ns", "peak_rss_bytes", "minor_faults",
                           "voluntary_switches", "status", "seq", "position", "exit_code"})
    column(rows, name);
}

TEST(ReportCsv, null_is_an_empty_cell_and_its_reason_stands_beside_it) {
  const auto rows = read_csv(csv(sample_fixture("failed")));
  EXPECT_EQ(rows[5][column(rows, "load1")], "");
  EXPECT_EQ(rows[5][column(rows, "reasons")],
            R"({"load1":"not_available","steal_share":"not_available"})");
}

TEST(ReportCsv, a_text_that_starts_like_a_formula_is_neutralised) {
  const auto rows = read_csv(csv(sample_fixture("failed")));
  EXPECT_EQ(rows[7][column(rows, "case")], "'=HYPERLINK(\"x\",\"y\")\r\nnext");
  for (const char* name : {"=1", "+1", "-1", "@x", "\tx"})
    EXPECT_EQ(read_csv(csv({Json{{"case", name}}.dump()}))[1][3], std::string("'") + name);
}

TEST(ReportCsv, a_negative_number_stays_a_number) {
  EXPECT_EQ(read_csv(csv({R"({"exit_code":-1})"}))[1][8], "-1");
}

Json hyperfine_of(const Json& report, const std::vector<std::string>& samples) {
  auto value = parse_json(hyperfine_json(report, samples), "export");
  return value ? (*value)["results"] : Json();
}

TEST(ReportHyperfine, only_accepted_measured_runs_enter_in_seconds) {
  const Json results = hyperfine_of(fixture("failed"), sample_fixture("failed"));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["command"], "./old --input f");
  EXPECT_EQ(results[0]["times"], Json::array({0.251, 0.2505}));
  EXPECT_EQ(results[1]["times"], Json::array({0.256, 0.257}));
  EXPECT_DOUBLE_EQ(results[1]["mean"].get<double>(), 0.2565);
  EXPECT_DOUBLE_EQ(results[1]["median"].get<double>(), 0.2565);
  EXPECT_NEAR(results[1]["stddev"].get<double>(), 0.00070710678, 1e-10);
  EXPECT_EQ(results[1]["min"], 0.256);
  EXPECT_EQ(results[1]["max"], 0.257);
  EXPECT_EQ(results[1]["exit_codes"], Json::array({0, 0}));
  EXPECT_EQ(results[1]["memory_usage_byte"], Json::array({1900544, 1900544}));
  EXPECT_DOUBLE_EQ(results[1]["user"].get<double>(), 0.2555);
}

TEST(ReportHyperfine, one_run_has_no_standard_deviation) {
  Json report = fixture("failed");
  const Json results = hyperfine_of(report, {sample_fixture("failed")[2]});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(results[0]["stddev"].is_null());
}

TEST(ReportHyperfine, parameters_are_kept) {
  Json report = fixture("many");
  report["cases"][0]["name"] = "candidate";
  const Json results = hyperfine_of(report, {sample_fixture("failed")[2]});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]["parameters"], (Json{{"N", "10"}}));
}

TEST(ReportHyperfine, runs_beyond_a_cut_list_of_rejections_are_left_out) {
  Json report = fixture("failed");
  report["rejected_runs"] = Json::array({Json{{"seq", 3}}});
  report["rejected_count"] = 50;
  const Json results = hyperfine_of(report, sample_fixture("failed"));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]["times"], Json::array({0.251}));
}

TEST(ReportHyperfine, a_mean_over_some_runs_only_is_null) {
  std::vector<std::string> samples = {sample_fixture("failed")[2], sample_fixture("failed")[5]};
  Json second = Json::parse(samples[1]);
  second["user_ns"] = nullptr;
  second["peak_rss_bytes"] = nullptr;
  samples[1] = second.dump();
  const Json results = hyperfine_of(fixture("failed"), samples);
  EXPECT_TRUE(results[0]["user"].is_null());
  EXPECT_FALSE(results[0].contains("memory_usage_byte"));
}

}  // namespace
}  // namespace assay::report::test
