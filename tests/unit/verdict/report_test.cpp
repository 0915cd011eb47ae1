#include "fixture.h"

#include "assay/base/files.h"
#include "assay/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <malloc.h>

namespace assay::verdict {
namespace {

std::string bytes_of(const CompareInputs& in) {
  return canonical_json(derive(in)) + "\n";
}

TEST(Report, the_same_inputs_give_the_same_bytes) {
  const CompareInputs in = make_inputs({.cases = {"a", "b"}, .gates = {.wall_cap = 1.05}});
  EXPECT_EQ(bytes_of(in), bytes_of(in));
}

TEST(Report, the_order_in_which_samples_were_read_does_not_matter) {
  CompareInputs in = make_inputs({.cases = {"a", "b"}, .gates = {.wall_cap = 1.05}});
  edit(
      in, [](const Sample& s) { return s.seq % 17 == 0; }, [](Sample& s) { s.status = "timeout"; });
  const std::string expected = bytes_of(in);
  Xoshiro256 random(3);
  for (int i = 0; i < 3; ++i) {
    random.shuffle(in.samples);
    EXPECT_EQ(bytes_of(in), expected);
  }
}

TEST(Report, samples_that_went_through_their_line_give_the_same_bytes) {
  CompareInputs in = make_inputs({.gates = {.wall_cap = 1.05}});
  const std::string expected = bytes_of(in);
  for (Sample& s : in.samples)
    s = *parse_sample(sample_line(s), "line");
  in.policy = *parse_compare_policy(policy_json(in.policy), "policy.json");
  in.plan = *parse_plan(plan_text(in.plan), "plan.json");
  EXPECT_EQ(bytes_of(in), expected);
}

// tests/golden/compare-report-v1.json: what version 1.0 derives of a fixed campaign, for ever.
// ASSAY_UPDATE_GOLDEN=1 rewrites it; a rewritten golden needs a new schema version.
TEST(Report, version_one_derives_the_golden_bytes) {
  CompareInputs in = make_inputs({.batches = 8,
                                  .pairs = 4,
                                  .cases = {"candidate{N=1}", "candidate{N=2}"},
                                  .ratio = 1.03,
                                  .gates = {.wall_cap = 1.05, .rss_cap = 1.01},
                                  .draws = 200});
  in.policy.cases[0].parameters = {{"N", "1"}};
  in.policy.cases[1].parameters = {{"N", "2"}};
  in.policy.cases[1].oracle_sha256 = std::string(64, 'b');
  edit(
      in, [](const Sample& s) { return s.seq == 20; },
      [](Sample& s) { s.status = "failed", s.exit_code = 3; });
  const std::string path = std::string(ASSAY_SOURCE_DIR) + "/tests/golden/compare-report-v1.json";
  const std::string derived = bytes_of(in);
  if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(replace_file(path, derived).has_value());
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden.has_value()) << golden.error().message();
  EXPECT_EQ(derived, *golden);
}

TEST(Report, holds_the_documented_members) {
  const Json report = derive(make_inputs());
  for (const char* key :
       {"schema", "kind", "archive_id", "created_utc", "tool_version", "status", "scope", "gated",
        "verdicts", "overall", "cases", "means", "diagnostics", "blockers", "reason_codes",
        "limits", "observed_subset", "rejected_runs", "rejected_count"})
    EXPECT_TRUE(report.contains(key)) << key;
  for (const char* kind : {"wall", "cpu", "tail", "rss"})
    for (const char* key :
         {"status", "method", "level", "n_pairs", "n_batches", "estimate", "lower", "upper", "cap",
          "p_t", "p_flip", "p_holm", "finding", "ruled_out_above_percent", "reasons", "prediction"})
      EXPECT_TRUE(report.at("verdicts").at(kind).contains(key)) << kind << " " << key;
  const Json& one = report.at("cases").at(0);
  for (const char* key :
       {"name", "parameters", "reference", "candidate", "pairs_complete", "pairs_rejected",
        "verdicts", "bootstrap", "methods_disagree", "tail_detail", "diagnostics", "outputs_equal"})
    EXPECT_TRUE(one.contains(key)) << key;
  for (const char* key :
       {"name", "argv", "program_sha256", "runs", "median_ns", "p95_ns", "mean_ns", "sd_ns",
        "min_ns", "max_ns", "median_user_ns", "median_system_ns", "median_cpu_ns",
        "median_peak_rss_bytes", "max_peak_rss_bytes", "descendants_left_runs"})
    EXPECT_TRUE(one.at("reference").contains(key)) << key;
}

// Laws: an absent fact is null with a reason; a null estimate, limit or finding is explained.
TEST(Report, every_null_of_a_verdict_has_a_reason_beside_it) {
  CompareInputs in = make_inputs({.batches = 1, .gates = {.wall_cap = 1.05, .tail = true}});
  edit(in, measured, [](Sample& s) { s.peak_rss_bytes = std::nullopt; });
  const Json verdicts = derive(in).at("verdicts");
  for (const auto& [kind, v] : verdicts.items()) {
    if (v.at("estimate").is_null() || v.at("lower").is_null()) {
      EXPECT_FALSE(v.at("reasons").empty()) << kind;
    }
  }
  EXPECT_TRUE(verdicts.at("rss").at("estimate").is_null());
  EXPECT_TRUE(has(verdicts.at("rss").at("reasons"), "not_available"));
  EXPECT_TRUE(has(verdicts.at("wall").at("reasons"), "single_batch"));
}

TEST(Report, a_sample_absent_from_the_plan_is_refused_with_its_place) {
  const std::vector<std::function<void(Sample&)>> edits = {
      [](Sample& s) { s.seq = 100000; },
      [](Sample& s) { s.seq = -1; },
      [](Sample& s) { s.batch += 1; },
      [](Sample& s) { s.pair += 1; },
      [](Sample& s) { s.case_name = "other"; },
      [](Sample& s) { s.position ^= 1; },
      [](Sample& s) { s.phase = Phase::churn; },
      [](Sample& s) { s.side = s.side == Side::reference ? Side::candidate : Side::reference; },
      [](Sample& s) { s.seq -= 1; }};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    CompareInputs in = make_inputs();
    edits[i](in.samples.at(33));
    const auto report = derive_compare_report(in);
    ASSERT_FALSE(report.has_value()) << i;
    EXPECT_EQ(report.error().code, ErrorCode::invalid_format);
    EXPECT_NE(report.error().where.find("seq"), std::string::npos);
  }
}

TEST(Report, a_repeated_sample_is_refused) {
  CompareInputs in = make_inputs();
  in.samples.push_back(in.samples.at(4));
  EXPECT_FALSE(derive_compare_report(in).has_value());
}

TEST(Report, a_policy_with_other_cases_than_the_plan_is_refused) {
  CompareInputs in = make_inputs({.cases = {"a", "b"}});
  in.policy.cases[1].name = "c";
  EXPECT_FALSE(derive_compare_report(in).has_value());
  in.policy.cases.pop_back();
  EXPECT_FALSE(derive_compare_report(in).has_value());
}

TEST(Report, rejected_runs_are_kept_and_never_enter_the_figures) {
  CompareInputs in = make_inputs({.pairs = 4});
  edit(
      in, [](const Sample& s) { return measured(s) && is_candidate(s) && s.batch == 2; },
      [](Sample& s) {
        s.status = "failed", s.exit_code = 7, s.elapsed_ns = INT64_C(900'000'000'000);
      });
  const Json report = derive(in);
  EXPECT_EQ(report.at("rejected_count"), 4);
  const Json& first = report.at("rejected_runs").at(0);
  EXPECT_EQ(first.at("why"), "failed");
  EXPECT_EQ(first.at("exit_code"), 7);
  EXPECT_EQ(first.at("batch"), 2);
  const Json& one = report.at("cases").at(0);
  EXPECT_EQ(one.at("pairs_complete"), 36);
  EXPECT_EQ(one.at("pairs_rejected"), 4);
  EXPECT_EQ(one.at("candidate").at("runs"), 36);
  EXPECT_LT(one.at("candidate").at("max_ns").get<double>(), 1e9);
  EXPECT_EQ(one.at("verdicts").at("wall").at("n_batches"), 9);
}

TEST(Report, only_the_first_hundred_rejections_are_listed) {
  CompareInputs in = make_inputs();
  for (Sample& s : in.samples)
    s.status = "timeout";
  const Json report = derive(in);
  EXPECT_EQ(report.at("rejected_runs").size(), 100U);
  EXPECT_EQ(report.at("rejected_count"), 140);
  EXPECT_EQ(report.at("rejected_runs").at(99).at("seq"), 99);
}

TEST(Report, equals_the_median_ratio_for_method_one) {
  const CompareInputs in = make_inputs({.ratio = 1.25, .noise = 0});
  const Json b = derive(in).at("cases").at(0).at("bootstrap");
  EXPECT_EQ(b.at("method"), "hierarchical-percentile-v1");
  EXPECT_DOUBLE_EQ(b.at("estimate").get<double>(), 1.25);
  EXPECT_EQ(b.at("calibrated"), false);
}

TEST(Report, hostile_names_stay_distinct) {
  const std::string stem(64, 'x');
  CompareInputs in = make_inputs({.cases = {stem + "1", stem + "2", "a/b:c\n\xF0\x9F\x99\x82"}});
  const Json report = derive(in);
  EXPECT_NE(report.at("cases").at(0).at("name"), report.at("cases").at(1).at("name"));
  EXPECT_EQ(report.at("cases").at(2).at("name"), "a/b:c\n\xF0\x9F\x99\x82");
}

// Without the sanitisers' own allocator, the growth of the heap is what 10,000 runs cost.
TEST(Report, ten_thousand_samples_fit_into_twenty_mebibytes) {
  const auto heap = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = heap();
  {
    const CompareInputs in = make_inputs({.batches = 50, .pairs = 100, .warmups = 0});
    ASSERT_EQ(in.samples.size(), 10000U);
    const Json report = derive(in);
    EXPECT_LT(heap() - before, std::size_t{20} << 20);
    EXPECT_EQ(report.at("cases").at(0).at("pairs_complete"), 5000);
  }
}

}  // namespace
}  // namespace assay::verdict
