// Every verdict, with the reason and the exit code it must carry.
#include "fixture.h"

#include <gtest/gtest.h>

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
         in.calibration = Json{{"calibration", {{"wall", {{"state", "FAILED"}}}}}};
       },
       {"INCONCLUSIVE", {"host_calibration_failed"}, 4}},
      {"a calibrated host",
       gated,
       [](CompareInputs& in) {
         in.calibration = Json{{"calibration", {{"wall", {{"state", "DIRECT"}}}}}};
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

}  // namespace
}  // namespace assay::verdict
