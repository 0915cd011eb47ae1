#include "fixtures.h"

#include "assay/report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "report/table.h"
#include "report/view.h"

namespace assay::report::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Terminal, figures_behind_the_verdict_are_shown_where_asked_for) {
  const std::string brief = terminal(fixture("pass-typical"), {});
  const std::string verbose = terminal(fixture("pass-typical"), {.verbose = true});
  for (const char* only : {"wall median", "\n  noise      ratio sd"}) {
    EXPECT_EQ(brief.find(only), std::string::npos) << only;
    EXPECT_NE(verbose.find(only), std::string::npos) << only;
  }
  for (const std::string& text : {brief, verbose})
    for (const char* both : {"./old --input f", "./new --input f", "method 2", "not prove"})
      EXPECT_NE(text.find(both), std::string::npos) << both;
}

TEST(Terminal, no_line_is_wider_than_the_terminal) {
  for (const std::string& name : kFixtures)
    for (const int columns : {40, 60, 80, 100, 133, 200})
      for (const bool unicode : {true, false})
        EXPECT_EQ(too_wide_line(terminal(fixture(name), {.unicode = unicode, .columns = columns}),
                                static_cast<std::size_t>(columns)),
                  "")
            << name << " " << columns;
}

TEST(Terminal, plain_ascii_has_no_byte_beyond_ascii) {
  for (const std::string& name : kFixtures)
    for (const char c : terminal(fixture(name), {.unicode = false}))
      ASSERT_LT(static_cast<unsigned char>(c), 0x80) << name;
}

TEST(Terminal, without_colour_there_is_no_escape) {
  EXPECT_THAT(terminal(fixture("fail"), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal(fixture("fail"), {.color = true}), HasSubstr("\x1b[1;31mFAIL"));
}

TEST(Terminal, the_time_unit_follows_the_size_unless_one_is_named) {
  const Json report = fixture("no-gate");
  EXPECT_THAT(terminal(report, {}), HasSubstr("251.3 ms"));
  EXPECT_THAT(terminal(report, {.time_unit = "second"}), HasSubstr("0.251 s"));
  EXPECT_THAT(terminal(report, {.time_unit = "microsecond"}), HasSubstr("251300 us"));
  Json slow = report;
  slow["cases"][0]["candidate"]["median_ns"] = 2.5e9;
  EXPECT_THAT(terminal(slow, {.columns = 200}), HasSubstr("251.3 ms    2500 ms"));
  EXPECT_EQ(time_text(999, time_unit("", 999)), "999 ns");
  EXPECT_EQ(time_text(1e3, time_unit("", 1e3)), "1.000 us");
  EXPECT_EQ(time_text(999e6, time_unit("", 999e6)), "999.0 ms");
  EXPECT_EQ(time_text(1e9, time_unit("", 1e9)), "1.000 s");
}

TEST(Terminal, figures_that_are_not_finite_are_absent) {
  const Json value = {{"a", std::nan("")}, {"b", UINT64_MAX}, {"c", "1"}};
  EXPECT_FALSE(number_at(value, {"a"}));
  EXPECT_FALSE(integer_at(value, {"b"}));
  EXPECT_FALSE(number_at(value, {"c"}));
  EXPECT_FALSE(number_at(value, {"c", "d"}));
}

TEST(Terminal, mean_time_order_sorts_by_the_candidates_mean) {
  const Json report = fixture("many");
  const std::string given = terminal(report, {.sort = "command"});
  EXPECT_LT(given.find("{N=10}"), given.find("{N=10000}"));
  Json swapped = report;
  swapped["cases"][0]["candidate"]["mean_ns"] = 1e12;
  const std::string sorted = terminal(swapped, {.sort = "mean-time"});
  EXPECT_GT(sorted.find("{N=10}"), sorted.find("{N=10000}"));
}

TEST(Terminal, an_interrupted_campaign_says_what_is_kept) {
  const std::string text = terminal(fixture("interrupted"), {.columns = 300});
  EXPECT_THAT(text, HasSubstr("INTERRUPTED, INCOMPLETE"));
  EXPECT_THAT(text, HasSubstr("45 of 140 planned runs are recorded"));
  EXPECT_THAT(text, HasSubstr("Observed subset"));
}

TEST(Terminal, a_failed_campaign_names_the_runs_that_failed) {
  const std::string text = terminal(fixture("failed"), {.columns = 300});
  // A word of its own: FAIL is a verdict.
  EXPECT_THAT(text, testing::StartsWith("assay comparison: ERROR"));
  EXPECT_THAT(text, testing::Not(HasSubstr("FAILED")));
  EXPECT_THAT(text, HasSubstr("run 7 (batch 1, pair 3, measurement, candidate of candidate): "
                              "failed, exit code 3"));
  EXPECT_THAT(text, HasSubstr("timeout, signal 9"));
}

TEST(Terminal, what_ended_the_campaign_is_named) {
  EXPECT_THAT(terminal(fixture("interrupted"), {.columns = 300}),
              HasSubstr("stopped before its plan was done (sigint, interrupted, "
                        "planned_runs_missing); 45 of 140 planned runs are recorded"));
}

TEST(Terminal, an_adaptive_campaign_says_after_how_many_batches_it_stopped) {
  Json report = fixture("pass");
  report["scope"]["stopped_at_look"] = 8;
  report["scope"]["batches_used"] = 8;
  const std::string text = terminal(report, {.columns = 300});
  EXPECT_THAT(text, HasSubstr(", stopped after 8 batches\n"));
}

TEST(Terminal, probabilities_carry_two_digits) {
  EXPECT_EQ(probability_text(0.6194), "62 %");
  EXPECT_EQ(probability_text(0.034567), "3.5 %");
  EXPECT_EQ(probability_text(0.9999), "> 99 %");
  EXPECT_EQ(probability_text(0.994), "99 %");
  EXPECT_EQ(probability_text(0.0004), "< 0.1 %");
  EXPECT_EQ(probability_text(0), "0 %");
  EXPECT_EQ(probability_text(1), "100 %");
  EXPECT_EQ(probability_text(std::nullopt), "n/a");
}

TEST(Terminal, several_candidates_are_ranked_and_listed_with_their_commands) {
  Json report = fixture("many");
  EXPECT_THAT(terminal(report, {.columns = 300}),
              HasSubstr("; 2 reference ./sort-old 100, candidate ./sort-new 100; 3 "));
  // Other parameter points are other questions: no order among them.
  EXPECT_THAT(terminal(report, {.columns = 300}), testing::Not(HasSubstr("Ranking")));
  for (Json& one : report["cases"])
    one["parameters"] = Json::object();
  EXPECT_THAT(terminal(report, {.columns = 400}),
              HasSubstr("fastest first: 4 ./sort-new{N=10000} 0.8021, reference 1.0000, "
                        "1 ./sort-new{N=10} 1.0021, 2 ./sort-new{N=100} 1.0512, "
                        "3 ./sort-new{N=1000} 1.4439 ("));
}

TEST(Terminal, a_calibrated_host_is_named_with_its_states) {
  EXPECT_THAT(terminal(fixture("no-gate"), {.columns = 300}),
              HasSubstr("calibrated 2026-09-01T08:00:00Z: wall time BY DESIGN, CPU time "
                        "DIRECT"));
}

TEST(Terminal, diagnostics_carry_their_figures) {
  EXPECT_THAT(terminal(fixture("fail"), {.columns = 400}), HasSubstr("Seen: 1.4 %."));
  EXPECT_THAT(terminal(fixture("no-difference"), {.columns = 400}), HasSubstr("Seen: 5.100 ms."));
}

TEST(Terminal, the_batch_that_decides_is_named) {
  Json report = fixture("inconclusive");
  report["diagnostics"].push_back(
      {{"code", "one_batch_decides"},
       {"case", "candidate"},
       {"value", 1.3},
       {"detail", "wall time: batch 2, where the ratio is 1.3000 (all batches: 1.0500)"}});
  EXPECT_THAT(terminal(report, {.columns = 600}),
              HasSubstr("Seen: wall time: batch 2, where the ratio is 1.3000 (all "
                        "batches: 1.0500)."));
}

TEST(Terminal, every_diagnostic_figure_has_its_unit) {
  Json report = fixture("fail");
  report["reason_codes"] = Json::array({"host_steal", "gaps_differ", "trend"});
  report["diagnostics"] =
      Json::array({Json{{"code", "host_steal"}, {"case", "c"}, {"value", 0.031}},
                   Json{{"code", "gaps_differ"}, {"case", "c"}, {"value", 2.5e6}},
                   Json{{"code", "trend"}, {"case", "c"}, {"value", 0.2}}});
  const std::string text = terminal(report, {.columns = 400});
  for (const char* figure : {"Seen: 3.1 %.", "Seen: 2.500 ms.", "Seen: 0.2 %."})
    EXPECT_THAT(text, HasSubstr(figure));
}

TEST(Terminal, methods_that_disagree_are_flagged_in_the_table) {
  Json report = fixture("no-difference");
  report["diagnostics"] = Json::array();
  EXPECT_THAT(terminal(report, {.columns = 200}), HasSubstr("  methods_disagree\n"));
}

TEST(Terminal, limits_stand_under_what_is_not_proved) {
  const std::string text = terminal(fixture("no-gate"), {});
  EXPECT_GT(text.find("other_workload_not_excluded:"), text.find("What this does not prove"));
}

// The header that is left of a table with a name of 20 cells, and the cells left for the name.
std::pair<std::string, std::size_t> fitted(std::size_t width) {
  Table table{{{"name"}, {"bb", true}, {"c", false, 2}, {"d", false, 2}, {"e", false, extra}},
              {{{std::string(20, 'x')}, {"2"}, {"3"}, {"4"}, {"5"}}}};
  const std::size_t cells = fit_columns(table, width);
  table.rows.clear();
  return {layout_table(table, false), cells};
}

TEST(TableLayout, a_row_is_one_line) {
  const Table table{{{"a"}, {"bb", true}, {"c"}}, {{{"1"}, {"2"}, {"3"}}}};
  EXPECT_EQ(layout_table(table, false), "a  bb  c\n1   2  3\n");
}

TEST(TableLayout, extra_columns_go_first_then_names_shrink_then_further_columns_go) {
  EXPECT_EQ(fitted(33), std::pair(std::string("name  bb  c  d  e\n"), std::size_t{20}));
  EXPECT_EQ(fitted(32), std::pair(std::string("name  bb  c  d\n"), std::size_t{20}));
  EXPECT_EQ(fitted(26), std::pair(std::string("name  bb  c  d\n"), std::size_t{16}));
  EXPECT_EQ(fitted(25), std::pair(std::string("name  bb\n"), std::size_t{20}));
  EXPECT_EQ(fitted(10), std::pair(std::string("name  bb\n"), std::size_t{6}));
}

TEST(Terminal, a_row_of_the_table_is_one_line_with_its_bar_at_80_columns) {
  for (const int columns : {80, 100}) {
    const std::string text = terminal(fixture("many"), {.unicode = false, .columns = columns});
    const std::size_t table = text.find("\ncase ");
    const std::size_t legend = text.find("\n  Bar: ");
    ASSERT_NE(table, std::string::npos);
    EXPECT_EQ(std::count(text.begin() + static_cast<std::ptrdiff_t>(table) + 1,
                         text.begin() + static_cast<std::ptrdiff_t>(legend) + 1, '\n'),
              5)
        << columns;
    EXPECT_THAT(text, HasSubstr("[      |^          o=]"));
  }
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

TEST(Terminal, the_last_line_is_the_verdict) {
  EXPECT_EQ(last_line(terminal(fixture("pass"), {})),
            "Verdict: PASS; candidate faster by 3.20 % [2.48, 3.89]\n");
  EXPECT_EQ(last_line(terminal(fixture("many"), {})),
            "Verdict: FAIL; of 4 cases 2 PASS, 1 INCONCLUSIVE, 1 FAIL\n");
  EXPECT_THAT(terminal(fixture("many"), {}),
              HasSubstr("\n  4 ./sort-new{N=10000}: PASS; candidate faster by 19.79 % [19.21, "
                        "20.35]\nVerdict"));
}

TEST(Terminal, the_gate_that_decides_is_the_one_that_is_named) {
  Json report = fixture("pass");
  Json& rss = report["cases"][0]["verdicts"]["rss"];
  rss["status"] = "FAIL";
  rss["finding"] = "bigger";
  rss["estimate"] = 1.35;
  rss["lower"] = 1.34;
  rss["upper"] = 1.36;
  EXPECT_THAT(last_line(terminal(report, {})),
              HasSubstr("; peak RSS: candidate bigger by 35.0 % [34.0, 36.0]\n"));
  EXPECT_THAT(terminal(report, {}), HasSubstr("FAIL (peak RSS)"));
  // A gate on CPU time alone: wall time has nothing to decide.
  Json& wall = report["cases"][0]["verdicts"]["wall"];
  wall["status"] = "NOT_GATED";
  rss["status"] = "PASS";
  rss["finding"] = "no_difference";
  EXPECT_THAT(last_line(terminal(report, {})), HasSubstr("peak RSS: no difference shown"));
}

TEST(IntervalBar, marks_estimate_interval_one_and_cap_at_their_places) {
  const Axis axis{0.905, 1.105, true};
  EXPECT_EQ(bar_text({1.04, 1.02, 1.06, 1.08}, axis, false), "[         | ==o== ^  ]");
  EXPECT_EQ(bar_text({1.04, 1.02, 1.06, 1.08}, axis, true), "[         │ ──●── ▲  ]");
}

TEST(IntervalBar, is_always_22_cells_wide_and_says_when_there_is_nothing) {
  const Axis axis{0.9, 1.1, true};
  for (const Bar& bar : {Bar{}, Bar{1.0, {}, {}, {}}, Bar{2.0, 0.1, 9.0, -4.0}, Bar{{}, 1, 1, 1}})
    EXPECT_EQ(display_width(bar_text(bar, axis, true)), 22U);
  EXPECT_THAT(bar_text({}, axis, false), HasSubstr("n/a"));
}

TEST(IntervalBar, the_axis_covers_every_figure_and_the_ratio_one) {
  const Axis axis = axis_for({{1.2, 1.1, 1.3, 1.05}, {0.8, 0.7, 0.9, {}}});
  EXPECT_TRUE(axis.valid);
  EXPECT_LT(axis.low, 0.7);
  EXPECT_GT(axis.high, 1.3);
  EXPECT_FALSE(axis_for({}).valid);
  EXPECT_FALSE(axis_for({{1e308, -1e308, 1e308, {}}}).valid);
  EXPECT_LT(axis_for({{1.2, 1.1, 1.3, {}}}).low, 1.0);
  EXPECT_EQ(axis_for({{40.0, 0.2, 90.0, {}}}).low, 0.0);  // no ratio is below
}

TEST(Wrapping, splits_words_that_are_longer_than_a_line_and_indents_the_rest) {
  EXPECT_EQ(wrap("aa bb cccccccccccccc", {"> ", 2, 2, 12}), "> aa bb\n  cccccccccc\n  cccc\n");
  EXPECT_EQ(wrap("", {"x", 1, 2, 12}), "x\n");
}

}  // namespace
}  // namespace assay::report::test
