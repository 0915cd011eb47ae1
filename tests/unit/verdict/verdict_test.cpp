// Every verdict, with the reason and the exit code it must carry.
#include "fixture.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::verdict {
namespace {

Gates wall(double cap) {
  return {.wall_cap = cap};
}

bool nth_run(const Sample& s, std::int64_t batch, std::int64_t pair, Side side) {
  return measured(s) && s.batch == batch && s.pair == pair && s.side == side;
}

void keep_batches(CompareInputs& in, std::int64_t batches) {
  std::erase_if(in.samples, [&](const Sample& s) { return s.batch >= batches; });
}

struct Expected {
  std::string status;                // of the kind below
  std::vector<std::string> reasons;  // each must be there
  int exit_code = 0;
  std::string kind = "wall";
  std::string campaign = "measured";
};
struct Scenario {
  std::string name;
  Knobs knobs;
  std::function<void(CompareInputs&)> change;
  Expected expected;
};

void nothing(CompareInputs&) {}

std::vector<Scenario> gate_scenarios() {
  return {
      {"equal sides pass", {.gates = wall(1.05)}, nothing, {"PASS", {"host_not_calibrated"}, 0}},
      {"ten percent fails", {.ratio = 1.10, .gates = wall(1.05)}, nothing, {"FAIL", {}, 1}},
      {"at the cap nothing is decided",
       {.ratio = 1.05, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"host_not_calibrated"}, 4}},
      {"no gate", {.ratio = 1.10}, nothing, {"NOT_GATED", {}, 0}},
      {"seven batches are too few",
       {.batches = 7, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"too_few_batches"}, 4}},
      {"three batches of twenty are too few to fail",
       {.batches = 3, .pairs = 20, .ratio = 1.2, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"too_few_batches", "fail_impossible_at_this_layout"}, 4}},
      {"two batches",
       {.batches = 2, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"too_few_batches"}, 4}},
      {"one batch has no interval",
       {.batches = 1, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"too_few_batches", "single_batch"}, 4}},
      {"one pair",
       {.batches = 1, .pairs = 1, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"single_batch", "zero_spread"}, 4}},
      {"blocks order is never gated",
       {.blocks_order = true, .ratio = 1.2, .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"order_unbalanced"}, 4}},
      {"seven cases at eight batches cannot fail",
       {.batches = 8,
        .cases = {"a", "b", "c", "d", "e", "f", "g"},
        .ratio = 1.2,
        .gates = wall(1.05)},
       nothing,
       {"INCONCLUSIVE", {"fail_impossible_at_this_layout", "not_significant_after_holm"}, 4}},
      {"six cases at eight batches can",
       {.batches = 8, .cases = {"a", "b", "c", "d", "e", "f"}, .ratio = 1.2, .gates = wall(1.05)},
       nothing,
       {"FAIL", {}, 1}},
      {"equal figures without any spread pass a cap above 1",
       {.noise = 0, .gates = {.rss_cap = 1.05}},
       nothing,
       {"PASS", {"zero_spread"}, 0, "rss"}},
      {"a bigger candidate fails the memory gate",
       {.ratio = 1.2, .gates = {.rss_cap = 1.05}},
       nothing,
       {"FAIL", {}, 1, "rss"}},
      {"cpu gate", {.ratio = 1.2, .gates = {.cpu_cap = 1.05}}, nothing, {"FAIL", {}, 1, "cpu"}},
      {"the other gates still inform",
       {.ratio = 1.2, .gates = {.cpu_cap = 1.5}},
       nothing,
       {"NOT_GATED", {}, 0, "wall"}},
  };
}

std::vector<Scenario> blocked_scenarios() {
  const auto status = [](const char* word) {
    return [word](CompareInputs& in) {
      edit(
          in, [](const Sample& s) { return nth_run(s, 3, 2, Side::candidate); },
          [word](Sample& s) { s.status = word; });
    };
  };
  const auto drop_digest = [](CompareInputs& in, Side side, bool once) {
    edit(
        in, [=](const Sample& s) { return s.side == side && (!once || nth_run(s, 0, 0, side)); },
        [](Sample& s) { s.stdout_sha256 = std::string(64, 'd'); });
  };
  const Knobs gated{.gates = wall(1.05)};
  return {
      {"a failed run",
       gated,
       status("failed"),
       {"INCOMPLETE", {"run_failed"}, 2, "wall", "failed"}},
      {"a timeout", gated, status("timeout"), {"INCOMPLETE", {"run_timeout"}, 2, "wall", "failed"}},
      {"too much output",
       gated,
       status("output_limit"),
       {"INCOMPLETE", {"run_output_limit"}, 2, "wall", "failed"}},
      {"a launch error",
       gated,
       status("launch_error"),
       {"INCOMPLETE", {"run_launch_error"}, 2, "wall", "failed"}},
      {"a failed run without a gate",
       {},
       status("failed"),
       {"NOT_GATED", {"run_failed"}, 2, "wall", "failed"}},
      {"a failed warm-up",
       gated,
       [](CompareInputs& in) {
         edit(
             in, [](const Sample& s) { return s.phase == Phase::warmup && s.batch == 4; },
             [](Sample& s) { s.status = "failed"; });
       },
       {"INCOMPLETE", {"run_failed"}, 2, "wall", "failed"}},
      {"wrong output once",
       gated,
       [=](CompareInputs& in) {
         in.policy.cases[0].oracle_sha256 = std::string(64, 'b');
         drop_digest(in, Side::candidate, true);
       },
       {"INCOMPLETE", {"wrong_output"}, 2, "wall", "failed"}},
      {"wrong output of every run leaves no pair",
       gated,
       [](CompareInputs& in) { in.policy.cases[0].oracle_sha256 = std::string(64, '0'); },
       {"INCOMPLETE", {"wrong_output", "no_complete_pairs"}, 2, "wall", "failed"}},
      {"noisy stderr where it must be empty",
       gated,
       [](CompareInputs& in) {
         in.policy.require_empty_stderr = true;
         edit(in, is_candidate, [](Sample& s) { s.stderr_bytes = 4; });
       },
       {"INCOMPLETE", {"noisy_stderr"}, 2, "wall", "failed"}},
      {"the right output passes",
       gated,
       [](CompareInputs& in) { in.policy.cases[0].oracle_sha256 = std::string(64, 'b'); },
       {"PASS", {}, 0}},
      {"outputs that differ under a gate",
       gated,
       [=](CompareInputs& in) { drop_digest(in, Side::candidate, false); },
       {"INCOMPLETE", {"outputs_differ"}, 3}},
      {"outputs that differ without a gate",
       {},
       [=](CompareInputs& in) { drop_digest(in, Side::candidate, false); },
       {"NOT_GATED", {"outputs_differ"}, 0}},
      {"output that differs once never passes",
       gated,
       [=](CompareInputs& in) { drop_digest(in, Side::candidate, true); },
       {"INCOMPLETE", {"output_not_deterministic"}, 3}},
      {"output nobody captured",
       gated,
       [](CompareInputs& in) {
         edit(in, measured, [](Sample& s) { s.stdout_sha256 = std::nullopt; });
       },
       {"PASS", {"output_not_checked"}, 0}},
      {"interrupted by SIGINT",
       gated,
       [](CompareInputs& in) {
         in.ending = {"interrupted", "sigint", 9};
         keep_batches(in, 9);
       },
       {"INCOMPLETE", {"interrupted"}, 130, "wall", "interrupted"}},
      {"interrupted by SIGTERM without a gate",
       {},
       [](CompareInputs& in) {
         in.ending = {"interrupted", "sigterm", 2};
         keep_batches(in, 2);
       },
       {"NOT_GATED", {"interrupted", "too_few_batches"}, 143, "wall", "interrupted"}},
      {"interrupted before the first pair",
       gated,
       [](CompareInputs& in) {
         in.ending = {"interrupted", "sigint", 0};
         in.samples.clear();
       },
       {"INCOMPLETE", {"interrupted", "no_complete_pairs"}, 130, "wall", "interrupted"}},
      {"the launcher died",
       gated,
       [](CompareInputs& in) {
         in.ending = {"interrupted", "launcher_lost", 9};
         keep_batches(in, 9);
       },
       {"INCOMPLETE", {"interrupted"}, 2, "wall", "interrupted"}},
      {"stopped at the first failure",
       gated,
       [](CompareInputs& in) {
         in.ending = {"failed", "run_failed", 9};
         keep_batches(in, 9);
       },
       {"INCOMPLETE", {"campaign_failed", "planned_runs_missing"}, 2, "wall", "failed"}},
      {"a planned pair without samples",
       gated,
       [](CompareInputs& in) {
         std::erase_if(in.samples,
                       [](const Sample& s) { return measured(s) && s.batch == 1 && s.pair == 1; });
       },
       {"INCOMPLETE", {"planned_runs_missing"}, 3}},
      {"half a pair",
       gated,
       [](CompareInputs& in) {
         std::erase_if(in.samples,
                       [](const Sample& s) { return nth_run(s, 1, 1, Side::candidate); });
       },
       {"INCOMPLETE", {"planned_runs_missing"}, 3}},
      {"zero CPU time once",
       {.gates = {.cpu_cap = 1.5}},
       [](CompareInputs& in) {
         edit(
             in, [](const Sample& s) { return nth_run(s, 0, 0, Side::candidate); },
             [](Sample& s) { s.user_ns = s.system_ns = 0; });
       },
       {"INCONCLUSIVE", {"below_resolution"}, 4, "cpu"}},
      {"zero elapsed time never divides",
       gated,
       [](CompareInputs& in) { edit(in, measured, [](Sample& s) { s.elapsed_ns = 0; }); },
       {"INCONCLUSIVE", {"below_resolution"}, 4}},
      {"missing CPU time",
       {.gates = {.cpu_cap = 1.5}},
       [](CompareInputs& in) {
         edit(
             in, [](const Sample& s) { return nth_run(s, 0, 0, Side::candidate); },
             [](Sample& s) { s.user_ns = std::nullopt; });
       },
       {"INCOMPLETE", {"figures_missing", "not_available"}, 3, "cpu"}},
      {"a peak RSS that the kernel rounded away",
       {.gates = {.rss_cap = 1.5}},
       [](CompareInputs& in) {
         edit(
             in, [](const Sample& s) { return nth_run(s, 0, 0, Side::candidate); },
             [](Sample& s) {
               s.peak_rss_bytes = std::nullopt;
               s.reasons["peak_rss_bytes"] = "rss_quantised";
             });
       },
       {"INCOMPLETE", {"figures_missing", "rss_quantised"}, 3, "rss"}},
      {"a peak RSS of zero",
       {.gates = {.rss_cap = 1.5}},
       [](CompareInputs& in) { edit(in, measured, [](Sample& s) { s.peak_rss_bytes = 0; }); },
       {"INCOMPLETE", {"figures_missing", "rss_quantised"}, 3, "rss"}},
      {"a host whose calibration failed",
       gated,
       [](CompareInputs& in) {
         in.calibration = {{"calibration", {{"wall", {{"state", "FAILED"}}}}}};
       },
       {"INCONCLUSIVE", {"host_calibration_failed"}, 4}},
      {"a calibrated host",
       gated,
       [](CompareInputs& in) {
         in.calibration = {{"calibration", {{"wall", {{"state", "DIRECT"}}}}}};
       },
       {"PASS", {}, 0}},
  };
}

void check(const Scenario& scenario) {
  SCOPED_TRACE(scenario.name);
  CompareInputs in = make_inputs(scenario.knobs);
  scenario.change(in);
  const Json report = derive(in);
  const Expected& expected = scenario.expected;
  const Json& v = report.at("verdicts").at(expected.kind);
  EXPECT_EQ(v.at("status"), expected.status) << v.dump();
  EXPECT_EQ(report.at("status"), expected.campaign);
  EXPECT_EQ(exit_code_of(report), expected.exit_code);
  for (const std::string& reason : expected.reasons) {
    EXPECT_TRUE(has(v.at("reasons"), reason)) << reason << " is not in " << v.at("reasons").dump();
    EXPECT_TRUE(has(report.at("reason_codes"), reason)) << reason;
  }
  if (report.at("gated") == true && report.at("overall").at("status") == "PASS") {
    EXPECT_TRUE(report.at("blockers").empty());
    EXPECT_EQ(expected.exit_code, 0);
  }
  canonical_json(report);  // every double is finite, every string UTF-8
}

TEST(Verdict, follows_the_gate_table) {
  for (const Scenario& scenario : gate_scenarios())
    check(scenario);
}

TEST(Verdict, follows_the_table_of_blocked_and_unobserved_campaigns) {
  for (const Scenario& scenario : blocked_scenarios())
    check(scenario);
}

TEST(Verdict, a_calibrated_host_is_not_called_uncalibrated) {
  CompareInputs in = make_inputs({.gates = wall(1.05)});
  in.calibration = {{"archive_id", "id"}, {"calibration", {{"wall", {{"state", "DIRECT"}}}}}};
  const Json report = derive(in);
  EXPECT_FALSE(has(report.at("reason_codes"), "host_not_calibrated"));
  EXPECT_EQ(report.at("calibration").at("states").at("wall"), "DIRECT");
}

TEST(Verdict, inconclusive_says_what_more_batches_would_do) {
  const Json v =
      derive(make_inputs({.ratio = 1.05, .gates = wall(1.05)})).at("verdicts").at("wall");
  const Json& p = v.at("prediction");
  ASSERT_TRUE(p.is_object()) << v.dump();
  EXPECT_EQ(p.at("at_batches"), 40);
  EXPECT_GT(p.at("probability").get<double>(), 0);
  EXPECT_LT(p.at("probability").get<double>(), 1);
  EXPECT_LT(p.at("half_width_at_percent").get<double>(), p.at("half_width_percent").get<double>());
  EXPECT_TRUE(p.at("b50").is_null() || p.at("b50").get<int>() > 10);
  EXPECT_EQ(has(v.at("reasons"), "unlikely_within_budget"),
            p.at("probability").get<double>() < 0.5);
}

TEST(Verdict, decided_verdicts_carry_no_prediction) {
  EXPECT_TRUE(derive(make_inputs({.gates = wall(1.05)}))
                  .at("verdicts")
                  .at("wall")
                  .at("prediction")
                  .is_null());
}

TEST(Verdict, a_host_too_noisy_for_the_declared_difference_says_so) {
  for (const bool gated : {true, false}) {
    Knobs knobs{.noise = 0.3};
    if (gated)
      knobs.gates = wall(1.0);
    CompareInputs in = make_inputs(knobs);
    in.policy.smallest_difference = 0.001;
    EXPECT_TRUE(has(derive(in).at("verdicts").at("wall").at("reasons"), "host_cannot_resolve"));
    in.policy.smallest_difference = 0.5;
    EXPECT_FALSE(has(derive(in).at("verdicts").at("wall").at("reasons"), "host_cannot_resolve"));
  }
}

TEST(Finding, needs_both_tests_at_ratio_one) {
  const auto finding = [](double ratio) {
    return derive(make_inputs({.ratio = ratio})).at("verdicts").at("wall");
  };
  EXPECT_EQ(finding(1.1).at("finding"), "slower");
  EXPECT_EQ(finding(0.9).at("finding"), "faster");
  const Json same = finding(1.0);
  EXPECT_EQ(same.at("finding"), "no_difference");
  const double lower = (same.at("lower").get<double>() - 1) * 100;
  const double upper = (same.at("upper").get<double>() - 1) * 100;
  EXPECT_NEAR(same.at("ruled_out_above_percent").get<double>(),
              std::max(std::abs(lower), std::abs(upper)), 1e-9);
  EXPECT_TRUE(finding(1.1).at("ruled_out_above_percent").is_null());
  EXPECT_EQ(derive(make_inputs({.ratio = 1.1})).at("verdicts").at("rss").at("finding"), "bigger");
  EXPECT_EQ(derive(make_inputs({.ratio = 0.9})).at("verdicts").at("rss").at("finding"), "smaller");
}

TEST(Finding, five_batches_exclude_one_but_the_flip_cannot_agree) {
  const Json v =
      derive(make_inputs({.batches = 5, .pairs = 12, .ratio = 1.1})).at("verdicts").at("wall");
  EXPECT_EQ(v.at("finding"), "no_difference");
  EXPECT_GT(v.at("lower").get<double>(), 1);
  EXPECT_TRUE(has(v.at("reasons"), "tests_disagree"));
  EXPECT_TRUE(has(v.at("reasons"), "too_few_batches"));
}

TEST(Finding, one_batch_that_decides_is_named) {
  CompareInputs in = make_inputs({.batches = 8, .pairs = 6, .noise = 0.002});
  // Seven batches lean up a little, two pairs of each against it; the eighth leans up strongly.
  edit(
      in, [](const Sample& s) { return measured(s) && is_candidate(s); },
      [](Sample& s) {
        const double lean = s.batch == 7 ? 1.2 : s.batch % 3 == 0 ? 0.9985 : 1.004;
        s.elapsed_ns = static_cast<std::int64_t>(static_cast<double>(*s.elapsed_ns) * lean);
      });
  const Json with = derive(in);
  std::set<std::string> seen;
  // The rule itself: the finding changes without the heaviest batch.
  for (const auto& reason : with.at("verdicts").at("wall").at("reasons"))
    seen.insert(reason.get<std::string>());
  const bool difference = with.at("verdicts").at("wall").at("finding") != "no_difference";
  EXPECT_TRUE(!difference || seen.count("one_batch_decides") == 1) << with.at("verdicts").dump();
}

// A case that fails alone keeps its FAIL only if it survives the family.
TEST(Holm, a_marginal_fail_becomes_inconclusive_in_a_family) {
  bool found = false;
  for (int step = 0; step <= 80 && !found; ++step) {
    const double ratio = 1.05 + 0.0002 * step;
    const auto shifted = [&](std::vector<std::string> names) {
      CompareInputs in =
          make_inputs({.cases = std::move(names), .noise = 0.02, .gates = wall(1.05)});
      edit(
          in, [](const Sample& s) { return is_candidate(s) && s.case_name == "a"; },
          [&](Sample& s) {
            s.elapsed_ns = static_cast<std::int64_t>(static_cast<double>(*s.elapsed_ns) * ratio);
          });
      return derive(in);
    };
    const Json family = shifted({"a", "b", "c", "d", "e"});
    const Json& v = family.at("cases").at(0).at("verdicts").at("wall");
    if (!has(v.at("reasons"), "not_significant_after_holm"))
      continue;
    found = true;
    EXPECT_EQ(v.at("status"), "INCONCLUSIVE");
    EXPECT_LE(std::max(v.at("p_t").get<double>(), v.at("p_flip").get<double>()), 0.025);
    EXPECT_GT(v.at("p_holm").get<double>(), 0.025);
    EXPECT_EQ(family.at("verdicts").at("wall").at("case"), "a");
    EXPECT_EQ(family.at("overall").at("status"), "INCONCLUSIVE");
    EXPECT_EQ(exit_code_of(family), 4);
  }
  EXPECT_TRUE(found);
}

TEST(Holm, one_case_alone_is_not_corrected) {
  const Json v = derive(make_inputs({.ratio = 1.1, .gates = wall(1.05)})).at("verdicts").at("wall");
  EXPECT_DOUBLE_EQ(v.at("p_holm").get<double>(),
                   std::max(v.at("p_t").get<double>(), v.at("p_flip").get<double>()));
}

TEST(Tail, is_computed_but_not_gated_unless_asked_for) {
  const Json report = derive(make_inputs({.gates = wall(1.05)}));
  EXPECT_EQ(status_of(report, "tail"), "NOT_GATED");
  EXPECT_TRUE(has(report.at("verdicts").at("tail").at("reasons"), "tail_not_asked"));
  EXPECT_TRUE(has(report.at("limits"), "tail_not_asked"));
  EXPECT_TRUE(report.at("cases").at(0).at("tail_detail").at("p_fail").is_number());
  EXPECT_EQ(report.at("overall").at("status"), "PASS");
  EXPECT_EQ(report.at("overall").at("typical_run_only"), false);
}

Knobs tail_knobs() {
  return {.batches = 20, .noise = 0.005, .gates = {.wall_cap = 1.05, .tail = true}};
}

TEST(Tail, a_campaign_without_slow_runs_passes_at_twenty_batches) {
  const Json report = derive(make_inputs(tail_knobs()));
  EXPECT_EQ(status_of(report, "tail"), "PASS") << report.at("verdicts").at("tail").dump();
  EXPECT_EQ(report.at("overall").at("status"), "PASS");
  EXPECT_EQ(exit_code_of(report), 0);
  EXPECT_FALSE(has(report.at("limits"), "tail_not_asked"));
}

TEST(Tail, doubled_runs_of_the_candidate_fail_although_the_typical_run_passes) {
  CompareInputs in = make_inputs(tail_knobs());
  edit(
      in, [](const Sample& s) { return measured(s) && is_candidate(s) && s.pair == 1; },
      [](Sample& s) { s.elapsed_ns = 2 * *s.elapsed_ns; });
  const Json report = derive(in);
  EXPECT_EQ(status_of(report, "wall"), "PASS");
  EXPECT_EQ(status_of(report, "tail"), "FAIL");
  EXPECT_EQ(report.at("overall").at("status"), "FAIL");
  EXPECT_EQ(exit_code_of(report), 1);
  EXPECT_NEAR(report.at("cases").at(0).at("tail_detail").at("excess_percent").get<double>(), 16.7,
              1);
}

TEST(Tail, sixty_pairs_leave_a_pass_of_the_typical_run_only) {
  Knobs knobs = tail_knobs();
  knobs.batches = 10;
  const Json report = derive(make_inputs(knobs));
  EXPECT_EQ(status_of(report, "wall"), "PASS");
  EXPECT_EQ(status_of(report, "tail"), "INCONCLUSIVE");
  EXPECT_TRUE(has(report.at("verdicts").at("tail").at("reasons"), "tail_needs_more_pairs"));
  EXPECT_EQ(report.at("overall").at("typical_run_only"), true);
  EXPECT_NE(report.at("overall").at("status"), "PASS");
  EXPECT_EQ(exit_code_of(report), 4);
}

TEST(Tail, a_failing_ratio_is_no_typical_run_pass) {
  Knobs knobs = tail_knobs();
  knobs.batches = 10;
  knobs.ratio = 1.2;
  const Json report = derive(make_inputs(knobs));
  EXPECT_EQ(report.at("overall").at("typical_run_only"), false);
  EXPECT_EQ(exit_code_of(report), 1);
}

Knobs adaptive(double ratio) {
  return {.batches = 20, .looks = {8, 12, 16, 20}, .ratio = ratio, .gates = wall(1.05)};
}

TEST(Adaptive, a_clear_case_is_decided_at_the_first_look_and_an_unclear_one_is_not) {
  for (const auto& [ratio, decided] :
       std::vector<std::pair<double, bool>>{{1.0, true}, {1.2, true}, {1.05, false}}) {
    CompareInputs in = make_inputs(adaptive(ratio));
    keep_batches(in, 8);
    const auto result = decided_at_look(in, 8);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(*result, decided) << ratio;
  }
}

TEST(Adaptive, without_a_gate_a_shown_difference_decides) {
  for (const auto& [ratio, decided] :
       std::vector<std::pair<double, bool>>{{1.0, false}, {1.2, true}, {0.8, true}}) {
    Knobs knobs = adaptive(ratio);
    knobs.gates = {};
    EXPECT_EQ(*decided_at_look(make_inputs(knobs), 8), decided) << ratio;
  }
}

TEST(Adaptive, a_failed_run_is_never_a_decision) {
  CompareInputs in = make_inputs(adaptive(1.0));
  edit(
      in, [](const Sample& s) { return s.seq == 3; }, [](Sample& s) { s.status = "failed"; });
  EXPECT_FALSE(*decided_at_look(in, 8));
}

TEST(Adaptive, a_stop_prints_the_level_it_was_judged_at) {
  CompareInputs in = make_inputs(adaptive(1.2));
  keep_batches(in, 8);
  in.ending = {"finished", "stopped_at_look", 8};
  const Json report = derive(in);
  EXPECT_EQ(report.at("scope").at("stopped_at_look"), 8);
  EXPECT_DOUBLE_EQ(report.at("scope").at("level").get<double>(), 1 - 0.0182);
  EXPECT_DOUBLE_EQ(report.at("verdicts").at("wall").at("level").get<double>(), 1 - 0.0182);
  EXPECT_EQ(status_of(report, "wall"), "FAIL");
  EXPECT_TRUE(report.at("blockers").empty()) << report.at("blockers").dump();
  EXPECT_EQ(exit_code_of(report), 1);
}

TEST(Adaptive, a_stop_that_is_no_planned_look_is_a_contradiction) {
  CompareInputs in = make_inputs(adaptive(1.2));
  in.ending = {"finished", "stopped_at_look", 9};
  EXPECT_FALSE(derive_compare_report(in).has_value());
  in.ending.batches_done = 8;  // samples go on to batch 19
  EXPECT_FALSE(derive_compare_report(in).has_value());
}

TEST(ObservedSubset, stands_beside_an_interrupted_campaign) {
  CompareInputs in = make_inputs({.ratio = 1.2, .gates = wall(1.05)});
  in.ending = {"interrupted", "sigint", 9};
  keep_batches(in, 9);
  const Json report = derive(in);
  const Json& subset = report.at("observed_subset");
  ASSERT_TRUE(subset.is_object());
  EXPECT_EQ(subset.at("status"), "FAIL");
  EXPECT_EQ(subset.at("kind"), "wall");
  EXPECT_EQ(subset.at("n_batches"), 9);
  EXPECT_EQ(subset.at("verdicts").at("wall").at("status"), "FAIL");
  EXPECT_EQ(report.at("overall").at("status"), "INCOMPLETE");
}

TEST(ObservedSubset, is_never_given_for_failed_runs_or_differing_outputs) {
  CompareInputs failed = make_inputs({.gates = wall(1.05)});
  edit(
      failed, [](const Sample& s) { return s.seq == 5; }, [](Sample& s) { s.status = "failed"; });
  EXPECT_TRUE(derive(failed).at("observed_subset").is_null());
  CompareInputs differing = make_inputs({.gates = wall(1.05)});
  edit(differing, is_candidate, [](Sample& s) { s.stdout_sha256 = std::string(64, 'f'); });
  EXPECT_TRUE(derive(differing).at("observed_subset").is_null());
  EXPECT_TRUE(derive(make_inputs({.gates = wall(1.05)})).at("observed_subset").is_null());
}

TEST(Overall, holds_the_worst_gate_and_the_case_that_decided_it) {
  CompareInputs in = make_inputs({.cases = {"a", "b", "c"}, .gates = wall(1.05)});
  edit(
      in, [](const Sample& s) { return s.case_name == "b" && is_candidate(s); },
      [](Sample& s) { s.elapsed_ns = *s.elapsed_ns * 12 / 10; });
  const Json report = derive(in);
  EXPECT_EQ(report.at("verdicts").at("wall").at("case"), "b");
  EXPECT_EQ(status_of(report, "wall"), "FAIL");
  EXPECT_EQ(report.at("cases").at(0).at("verdicts").at("wall").at("status"), "PASS");
  EXPECT_EQ(report.at("overall").at("status"), "FAIL");
}

}  // namespace
}  // namespace assay::verdict
