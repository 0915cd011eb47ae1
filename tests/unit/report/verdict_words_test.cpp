// What is said about a verdict, word for word where users rely on it.
#include "fixtures.h"

#include "assay/report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string sentence_of(const Json& report) {
  return verdict_sentence(report, report["cases"][0]);
}

Json& wall(Json& report) {
  return report["cases"][0]["verdicts"]["wall"];
}

TEST(VerdictWords, slower_names_the_estimate_and_the_interval) {
  EXPECT_EQ(sentence_of(fixture("no-gate")), "candidate slower by 2.13 % [1.42, 2.85]");
}

TEST(VerdictWords, faster_turns_sign_and_limits_around) {
  Json report = fixture("no-gate");
  wall(report).update(
      {{"finding", "faster"}, {"estimate", 0.968}, {"lower", 0.961}, {"upper", 0.975}});
  EXPECT_EQ(sentence_of(report), "candidate faster by 3.20 % [2.50, 3.90]");
}

TEST(VerdictWords, percents_have_the_digits_that_the_interval_can_carry) {
  EXPECT_THAT(sentence_of(fixture("fail")), HasSubstr("slower by 8.2 % [7.1, 9.3]"));
  Json report = fixture("no-gate");
  wall(report).update({{"estimate", 1.00213}, {"lower", 1.00204}, {"upper", 1.00222}});
  EXPECT_THAT(sentence_of(report), HasSubstr("slower by 0.213 % [0.204, 0.222]"));
}

TEST(VerdictWords, no_difference_says_what_is_ruled_out_at_which_level) {
  EXPECT_EQ(sentence_of(fixture("no-difference")),
            "no difference shown; differences above 0.49 % are ruled out at level 95 %");
}

TEST(VerdictWords, the_level_of_an_adaptive_look_is_printed_as_such) {
  Json report = fixture("no-difference");
  wall(report)["level"] = 0.9818;
  EXPECT_THAT(sentence_of(report), HasSubstr("at level 98.18 %"));
  EXPECT_THAT(terminal(report, {.columns = 140}), HasSubstr("98.18 % interval"));
}

TEST(VerdictWords, gates_say_status_cap_and_why) {
  EXPECT_THAT(
      sentence_of(fixture("fail")),
      HasSubstr("FAIL: above the cap 1.05 (at most 5 % slower); both tests at the cap agree"));
  EXPECT_THAT(sentence_of(fixture("pass")), HasSubstr("PASS: below the cap 1.02"));
  EXPECT_THAT(sentence_of(fixture("inconclusive")), HasSubstr("reasons: one_batch_decides"));
  EXPECT_THAT(sentence_of(fixture("inconclusive")),
              HasSubstr("INCONCLUSIVE: no verdict is given about the cap 1.05"));
  Json open = fixture("inconclusive");
  open["cases"][0]["verdicts"]["wall"]["reasons"] = Json::array({"host_not_calibrated"});
  EXPECT_THAT(sentence_of(open),
              HasSubstr("INCONCLUSIVE: the data leave both sides of the cap 1.05"));
  EXPECT_THAT(sentence_of(fixture("interrupted")),
              HasSubstr("INCOMPLETE: evidence is missing or unusable"));
}

TEST(VerdictWords, the_first_and_the_last_line_hold_the_finding_and_its_doubts) {
  const auto ends = [](const Json& report) {
    const std::string text = terminal(report, {.columns = 400});
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
    return std::pair(text.substr(0, text.find('\n')), text.substr(last, text.size() - last - 1));
  };
  Json report = fixture("no-gate");
  auto [first, last] = ends(report);
  EXPECT_THAT(first, HasSubstr("; candidate slower by 2.13 % [1.42, 2.85]"));
  EXPECT_THAT(last, HasSubstr("; candidate slower by 2.13 % [1.42, 2.85]"));
  Json& reasons = report["cases"][0]["verdicts"]["wall"]["reasons"];
  for (const auto& [code, said] :
       {std::pair("outputs_differ", "but the outputs differ"),
        std::pair("exits_differ", "but the two end in different ways"),
        std::pair("output_not_deterministic", "differ from run to run")}) {
    reasons = Json::array({code});
    std::tie(first, last) = ends(report);
    EXPECT_THAT(first, HasSubstr(said));
    EXPECT_THAT(last, HasSubstr(said));
  }
  Json changed = fixture("failed");
  changed["rejected_runs"] = Json::array();
  changed["rejected_count"] = 0;
  changed["ending"]["reason"] = "files_changed";
  std::tie(first, last) = ends(changed);
  EXPECT_THAT(last, HasSubstr("ERROR; A program or the input changed"));
  EXPECT_THAT(terminal(changed, {}), HasSubstr("\n  - files_changed: A program or the input"));
}

TEST(VerdictWords, a_row_is_about_the_figure_that_decides) {
  Json report = fixture("fail");
  Json& verdicts = report["cases"][0]["verdicts"];
  verdicts["wall"]["status"] = "PASS";
  verdicts["tail"]["status"] = "NOT_GATED";
  verdicts["cpu"]["status"] = "FAIL";
  verdicts["cpu"]["cap"] = 1.03;
  const std::string text = terminal(report, {.columns = 200});
  EXPECT_THAT(text, HasSubstr("FAIL (CPU time)  1.0798  [1.0781, 1.0816]"));
  EXPECT_THAT(text, HasSubstr("<= 1.03"));
  EXPECT_THAT(text, HasSubstr("Ratio and interval are of CPU time"));
  EXPECT_THAT(markdown(report), HasSubstr("Ratio and interval are of CPU time"));
}

TEST(VerdictWords, nothing_is_called_kept_where_no_archive_is) {
  const std::string text = terminal(fixture("failed"), {.archived = false});
  EXPECT_THAT(text, HasSubstr("none (--no-archive)"));
  EXPECT_THAT(text, Not(HasSubstr("kept in")));
}

TEST(VerdictWords, an_untried_tail_is_named_as_not_asked) {
  EXPECT_THAT(terminal(fixture("no-gate"), {}),
              HasSubstr("\n  tail: not asked (60 pairs can't show it)\n"));
}

TEST(VerdictWords, a_pass_beside_an_undecided_tail_is_about_the_typical_run_only) {
  Json report = fixture("pass-typical");
  EXPECT_THAT(sentence_of(report), HasSubstr("PASS (typical run only): "));
  EXPECT_THAT(terminal(report, {}), HasSubstr("assay comparison: PASS (typical run only)"));
  report["overall"]["status"] = "FAIL";
  EXPECT_THAT(terminal(report, {}), HasSubstr("assay comparison: FAIL; "));
  report["cases"][0]["verdicts"]["tail"]["status"] = "PASS";
  EXPECT_THAT(sentence_of(report), Not(HasSubstr("typical")));
}

TEST(VerdictWords, every_verdict_has_its_own_line_and_none_is_averaged) {
  const std::string text = terminal(fixture("fail"), {});
  for (const char* line :
       {"\n  wall time  FAIL: ", "\n  CPU time   candidate slower by 7.98 %",
        "\n  peak RSS   no difference shown", "\n  tail       FAIL: slow runs lift"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(VerdictWords, inconclusive_says_what_more_would_do_only_with_its_probability) {
  const std::string text = terminal(fixture("inconclusive"), {.columns = 1000});
  EXPECT_THAT(text,
              HasSubstr("40 batches in all would decide with probability 66 %; probability "
                        "50 % needs 24, 80 % needs 102; 40 batches would resolve about +-0.48 "
                        "% where now it is +-1.1 %"));
  Json report = fixture("inconclusive");
  Json& prediction = wall(report)["prediction"];
  prediction["probability"] = nullptr;
  prediction["b50"] = nullptr;
  prediction["b80"] = nullptr;
  EXPECT_THAT(terminal(report, {.columns = 1000}),
              HasSubstr("no number of batches within reach gives 80 %"));
}

TEST(VerdictWords, every_interval_has_method_level_n_and_batches) {
  const std::string text = terminal(fixture("no-gate"), {.columns = 1000});
  EXPECT_THAT(text, HasSubstr("clustered-signed-rank-v1, level 95 %, n = 60 pairs, B = 10 batches: "
                              "wall time ratio 1.0213 [1.0142, 1.0285]"));
  EXPECT_THAT(text, HasSubstr("hierarchical-percentile-v1, level 95 %, 2000 draws, seed 20260906: "
                              "ratio 1.0209 [1.0139, 1.0291] (not calibrated)"));
  EXPECT_THAT(text, Not(HasSubstr("disagree")));
  Json report = fixture("no-gate");
  report["cases"][0]["verdicts"]["cpu"]["n_pairs"] = 59;
  EXPECT_THAT(terminal(report, {.columns = 1000}),
              HasSubstr("n = 59 pairs, B = 10 batches: CPU time ratio 1.0198 [1.0181, 1.0216]\n"));
}

TEST(VerdictWords, disagreeing_methods_are_said_to_disagree) {
  EXPECT_THAT(terminal(fixture("no-difference"), {.columns = 1000}),
              HasSubstr("The two methods disagree here"));
}

TEST(VerdictWords, a_null_figure_is_not_available_with_its_reason) {
  EXPECT_THAT(terminal(fixture("inconclusive"), {.columns = 1000}),
              HasSubstr("the ratio is n/a (below_resolution)"));
}

TEST(VerdictWords, a_missing_status_is_never_taken_for_a_pass) {
  Json report = fixture("pass");
  wall(report).erase("status");
  EXPECT_THAT(sentence_of(report), HasSubstr("n/a: the report gives no status"));
  EXPECT_THAT(junit(report), HasSubstr("errors=\"1\""));
  report["overall"].erase("status");
  EXPECT_THAT(terminal(report, {}), HasSubstr("no verdict (n/a)"));
  EXPECT_THAT(github_annotations(report), HasSubstr("::error title=assay%3A no verdict (n/a)"));
}

TEST(VerdictWords, junit_counts_each_gate_and_absent_evidence_never_helps) {
  EXPECT_THAT(junit(fixture("pass")), HasSubstr("tests=\"3\" failures=\"0\" errors=\"0\""));
  EXPECT_THAT(junit(fixture("pass-typical")), HasSubstr("<failure type=\"inconclusive\""));
  EXPECT_THAT(junit(fixture("fail")), HasSubstr("tests=\"2\" failures=\"2\" errors=\"0\""));
  EXPECT_THAT(junit(fixture("interrupted")), HasSubstr("<error type=\"incomplete\""));
  EXPECT_THAT(junit(fixture("no-gate")), HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\""));
  Json report = fixture("no-gate");
  report["status"] = "interrupted";
  EXPECT_THAT(junit(report), Not(HasSubstr("errors=\"0\"")));
  report = fixture("pass");
  report["status"] = "failed";
  EXPECT_THAT(junit(report), HasSubstr("tests=\"4\" failures=\"0\" errors=\"1\""));
  report = fixture("pass");
  report["cases"] = Json::array();
  EXPECT_THAT(junit(report), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
}

TEST(VerdictWords, annotations_put_the_worst_first) {
  const std::vector<std::string> lines = lines_of(github_annotations(fixture("many")));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].rfind("::error ", 0), 0U);
  EXPECT_EQ(lines[1].rfind("::error ", 0), 0U);
  EXPECT_EQ(lines[2].rfind("::warning ", 0), 0U);
  EXPECT_EQ(lines[3].rfind("::notice ", 0), 0U);
}

}  // namespace
}  // namespace assay::report::test
