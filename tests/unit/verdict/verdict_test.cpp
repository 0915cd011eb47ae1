// The rules behind the verdicts: findings, families, tails, looks, subsets.
#include "fixture.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

Gates wall(double cap) {
  return {.wall_cap = cap};
}

void keep_batches(CompareInputs& in, std::int64_t batches) {
  std::erase_if(in.samples, [&](const Sample& s) { return s.batch >= batches; });
}

TEST(Verdict, a_calibrated_host_is_not_called_uncalibrated) {
  CompareInputs in = make_inputs({.gates = wall(1.05)});
  in.calibration = {{"archive_id", "id"}, {"calibration", {{"wall", {{"state", "DIRECT"}}}}}};
  const Json report = derive(in);
  EXPECT_FALSE(has(report.at("reason_codes"), "host_not_calibrated"));
  EXPECT_EQ(report.at("calibration").at("states").at("wall"), "DIRECT");
}

TEST(Verdict, a_calibration_without_a_state_for_a_kind_leaves_the_host_uncalibrated_for_it) {
  CompareInputs in = make_inputs({.gates = wall(1.05)});
  in.calibration =
      Json{{"calibration", {{"wall", {{"state", "INCOMPLETE"}}}, {"cpu", {{"state", "DIRECT"}}}}}};
  EXPECT_TRUE(has(derive(in).at("verdicts").at("wall").at("reasons"), "host_not_calibrated"));
  in.policy.gates = {.cpu_cap = 1.05};
  EXPECT_FALSE(has(derive(in).at("verdicts").at("cpu").at("reasons"), "host_not_calibrated"));
}

TEST(Verdict, a_record_that_was_passed_over_is_a_limit_with_its_reason) {
  for (const char* code :
       {"calibration_expired", "calibration_of_another_host", "calibration_unreadable"}) {
    CompareInputs in = make_inputs({});
    in.host = {{"calibration", {{"value", nullptr}, {"reason", code}}}};
    EXPECT_TRUE(has(derive(in).at("limits"), code));
    EXPECT_TRUE(has(derive(in).at("limits"), "host_not_calibrated"));
    in.calibration = Json{{"archive_id", "id"}};
    EXPECT_FALSE(has(derive(in).at("limits"), code)) << "one is cited";
  }
  CompareInputs in = make_inputs({});
  const Json plain = derive(in);
  for (const Json& host : {Json{{"calibration", {{"reason", "no_record"}}}},
                           Json{{"calibration", {{"reason", 7}}}}, Json{{"calibration", 7}}}) {
    in.host = host;
    EXPECT_EQ(derive(in), plain);
  }
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

TEST(Finding, needs_enough_batches_for_the_flip_to_find_anything) {
  const Json five = derive(make_inputs({.batches = 5, .ratio = 1.5})).at("verdicts").at("wall");
  EXPECT_TRUE(five.at("finding").is_null());
  EXPECT_TRUE(five.at("ruled_out_above_percent").is_null());
  EXPECT_TRUE(has(five.at("reasons"), "too_few_batches"));
  const Json six = derive(make_inputs({.batches = 6, .ratio = 1.5})).at("verdicts").at("wall");
  EXPECT_EQ(six.at("finding"), "slower");
}

// Multiplies the candidate's times by a factor per batch; every figure without noise is exact.
CompareInputs with_batch_factors(const std::vector<double>& factors) {
  CompareInputs in = make_inputs({.batches = static_cast<int>(factors.size()), .noise = 0.0002});
  edit(in, is_candidate, [&](Sample& s) {
    s.elapsed_ns = static_cast<std::int64_t>(static_cast<double>(*s.elapsed_ns) *
                                             factors[static_cast<std::size_t>(s.batch)]);
  });
  return in;
}

// One small batch leans the other way: t rejects, but 2 of the 64 sign patterns reach the sum.
TEST(Finding, an_interval_that_excludes_one_without_both_tests_is_no_claim) {
  const Json v =
      derive(with_batch_factors({1.1, 1.1, 1.1, 1.1, 1.1, 0.999})).at("verdicts").at("wall");
  EXPECT_EQ(v.at("finding"), "no_difference");
  EXPECT_GT(v.at("lower").get<double>(), 1);
  EXPECT_TRUE(has(v.at("reasons"), "tests_disagree"));
}

TEST(Finding, one_batch_that_decides_is_named) {
  const Json some =
      derive(with_batch_factors({1.1, 1.1, 1.1, 1.1, 1.1, 1.1})).at("verdicts").at("wall");
  EXPECT_EQ(some.at("finding"), "slower");
  EXPECT_TRUE(has(some.at("reasons"), "one_batch_decides"));  // five batches cannot show it
  const Json many = derive(make_inputs({.ratio = 1.1})).at("verdicts").at("wall");
  EXPECT_FALSE(has(many.at("reasons"), "one_batch_decides"));
}

TEST(Finding, the_batch_that_decides_is_named_with_its_ratio) {
  const Json report = derive(with_batch_factors({1.1, 1.1, 1.3, 1.1, 1.1, 1.1}));
  int found = 0;
  for (const Json& diagnostic : report.at("diagnostics")) {
    if (diagnostic.at("code") != "one_batch_decides" ||
        diagnostic.at("detail").get<std::string>().rfind("wall time: batch 2, where ", 0) != 0)
      continue;
    ++found;
    EXPECT_NEAR(diagnostic.at("value").get<double>(), 1.3, 0.02);
  }
  EXPECT_EQ(found, 1) << report.at("diagnostics").dump();
  const Json even = derive(make_inputs({.ratio = 1.1}));
  for (const Json& diagnostic : even.at("diagnostics"))
    EXPECT_NE(diagnostic.at("code"), "one_batch_decides");
}

TEST(Gate, one_batch_that_decides_is_named) {
  CompareInputs eight = make_inputs({.batches = 8, .gates = wall(1.05)});
  const Json v = derive(eight).at("verdicts").at("wall");
  EXPECT_EQ(v.at("status"), "PASS");
  // One batch at the cap itself among eight leaves 2^-7 for the rest: still decided.
  EXPECT_FALSE(has(v.at("reasons"), "one_batch_decides"));
  edit(
      eight, [](const Sample& s) { return is_candidate(s) && (s.batch == 3 || s.batch == 5); },
      [](Sample& s) { s.elapsed_ns = *s.elapsed_ns * 1049 / 1000; });
  edit(
      eight, [](const Sample& s) { return is_candidate(s) && s.batch == 6; },
      [](Sample& s) { s.elapsed_ns = *s.elapsed_ns * 1058 / 1000; });
  const Json fragile = derive(eight).at("verdicts").at("wall");
  EXPECT_EQ(has(fragile.at("reasons"), "one_batch_decides"), fragile.at("status") == "PASS")
      << fragile.dump();
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
  EXPECT_FALSE(has(report.at("reason_codes"), "interval_not_defined"));
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
  EXPECT_TRUE(has(report.at("verdicts").at("tail").at("reasons"), "interval_not_defined"));
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
  EXPECT_DOUBLE_EQ(report.at("scope").at("one_sided_alpha").get<double>(), 0.0091);
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
