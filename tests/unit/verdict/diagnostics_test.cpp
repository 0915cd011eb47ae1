#include "fixture.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

void scale(Sample& s, double factor) {
  s.elapsed_ns = static_cast<std::int64_t>(static_cast<double>(*s.elapsed_ns) * factor);
}

// The value of a fired diagnostic, or null.
Json fired(const Json& report, const std::string& code) {
  for (const Json& d : report.at("diagnostics"))
    if (d.at("code") == code)
      return d;
  return nullptr;
}

TEST(Diagnostics, a_quiet_campaign_fires_nothing) {
  const Json report = derive(make_inputs());
  EXPECT_EQ(report.at("diagnostics"), Json::array());
  EXPECT_EQ(report.at("cases").at(0).at("outputs_equal"), true);
}

TEST(Diagnostics, a_penalty_of_the_first_run_is_reported_and_cancels) {
  CompareInputs in = make_inputs();
  edit(
      in, [](const Sample& s) { return s.position == 0; }, [](Sample& s) { scale(s, 1.05); });
  const Json report = derive(in);
  ASSERT_FALSE(fired(report, "order_effect").is_null());
  const Json& effect = report.at("cases").at(0).at("diagnostics").at("order_effect");
  EXPECT_NEAR(effect.at("effect_percent").get<double>(), -4.76, 0.5);
  EXPECT_EQ(effect.at("candidate_first"), 30);
  EXPECT_EQ(effect.at("reference_first"), 30);
  EXPECT_NEAR(report.at("verdicts").at("wall").at("estimate").get<double>(), 1, 0.01);
  EXPECT_EQ(report.at("verdicts").at("wall").at("finding"), "no_difference");
}

TEST(Diagnostics, a_ratio_that_moves_with_time_is_trend_and_drift) {
  CompareInputs in = make_inputs();
  edit(in, is_candidate, [](Sample& s) { scale(s, 1 + 0.02 * static_cast<double>(s.batch)); });
  const Json report = derive(in);
  EXPECT_FALSE(fired(report, "trend").is_null());
  EXPECT_FALSE(fired(report, "ratio_drift").is_null());
  EXPECT_NEAR(
      report.at("cases").at(0).at("diagnostics").at("trend_percent_per_batch").get<double>(), 1.85,
      0.4);
}

TEST(Diagnostics, outliers_are_counted_on_both_ends_and_never_removed) {
  CompareInputs in = make_inputs();
  edit(
      in, [](const Sample& s) { return measured(s) && s.pair == 0; },
      [](Sample& s) { scale(s, s.batch % 2 == 0 ? 3 : 0.2); });
  const Json report = derive(in);
  const Json& outliers = report.at("cases").at(0).at("diagnostics").at("outliers");
  EXPECT_EQ(outliers.at("high"), 10);
  EXPECT_EQ(outliers.at("low"), 10);
  EXPECT_FALSE(fired(report, "outliers").is_null());
  EXPECT_EQ(report.at("cases").at(0).at("pairs_complete"), 60);
}

TEST(Diagnostics, constant_figures_have_no_outliers_and_no_division_by_zero) {
  const Json report = derive(make_inputs({.noise = 0}));
  EXPECT_EQ(report.at("cases").at(0).at("diagnostics").at("outliers"),
            (Json{{"high", 0}, {"low", 0}}));
  EXPECT_TRUE(has(report.at("verdicts").at("wall").at("reasons"), "zero_spread"));
  EXPECT_EQ(report.at("verdicts").at("wall").at("finding"), "no_difference");
}

TEST(Diagnostics, short_runs_are_flagged_below_200_ms) {
  const Json flagged = derive(make_inputs({.base_ns = 150e6}));
  ASSERT_FALSE(fired(flagged, "short_run").is_null());
  EXPECT_TRUE(has(flagged.at("reason_codes"), "short_run"));
  EXPECT_TRUE(fired(derive(make_inputs({.base_ns = 250e6})), "short_run").is_null());
}

TEST(Diagnostics, the_gap_before_a_run_is_reported_per_side) {
  const Json even = derive(make_inputs());
  EXPECT_EQ(even.at("cases").at(0).at("diagnostics").at("gap_ns"),
            (Json{{"reference", 2e6}, {"candidate", 2e6}}));
  EXPECT_TRUE(fired(even, "gaps_differ").is_null());
  CompareInputs in = make_inputs();
  std::int64_t shift = 0;
  for (Sample& s : in.samples) {  // a slow --prepare before every candidate run
    shift += is_candidate(s) ? 50'000'000 : 0;
    *s.start_monotonic_ns += shift;
  }
  const Json report = derive(in);
  ASSERT_FALSE(fired(report, "gaps_differ").is_null());
  EXPECT_EQ(fired(report, "gaps_differ").at("value"), 50e6);
}

TEST(Diagnostics, batches_of_one_pair_have_no_known_spread) {
  const Json known = derive(make_inputs()).at("cases").at(0).at("diagnostics");
  const Json unknown = derive(make_inputs({.pairs = 1})).at("cases").at(0).at("diagnostics");
  for (const char* key : {"pair_sd_percent", "batch_sd_percent", "batch_share"}) {
    EXPECT_TRUE(known.at(key).is_number()) << key;
    EXPECT_TRUE(unknown.at(key).is_null()) << key;
  }
}

TEST(Diagnostics, an_unknown_start_gives_no_gap) {
  CompareInputs in = make_inputs();
  for (Sample& s : in.samples)
    s.start_monotonic_ns = std::nullopt;
  EXPECT_TRUE(
      derive(in).at("cases").at(0).at("diagnostics").at("gap_ns").at("reference").is_null());
}

TEST(Diagnostics, blocks_order_and_unbalanced_sides_are_named) {
  const Json report = derive(make_inputs({.blocks_order = true}));
  EXPECT_FALSE(fired(report, "blocks_order").is_null());
  EXPECT_EQ(fired(report, "order_unbalanced").at("value"), -60);
}

TEST(Diagnostics, leftover_children_steal_and_rejections_are_counted) {
  CompareInputs in = make_inputs();
  edit(
      in, [](const Sample& s) { return measured(s) && s.batch == 1 && s.pair == 0; },
      [](Sample& s) { s.descendants_left = 2, s.steal_share = 0.3; });
  edit(
      in, [](const Sample& s) { return measured(s) && s.batch == 5 && s.pair == 0; },
      [](Sample& s) { s.status = "timeout"; });
  const Json report = derive(in);
  EXPECT_EQ(fired(report, "descendants_left").at("value"), 2);
  EXPECT_EQ(fired(report, "host_steal").at("value"), 0.3);
  EXPECT_EQ(fired(report, "pairs_rejected").at("value"), 1);
  EXPECT_EQ(report.at("cases").at(0).at("reference").at("descendants_left_runs"), 1);
}

// A campaign within bounds, on a host whose load was `load` and whose steal share is `steal`.
Json on_host(double load, double steal, std::optional<HostBounds> bounds) {
  CompareInputs in = make_inputs({.gates = {.wall_cap = 1.05}});
  in.policy.host_bounds = bounds;
  in.host = {{"load1", {{"value", load}, {"grade", "observed"}}}};
  edit(
      in, [](const Sample&) { return true; }, [steal](Sample& s) { s.steal_share = steal; });
  return derive(in);
}

TEST(Diagnostics, load_and_steal_above_the_policys_bounds_are_limits_and_change_no_verdict) {
  const HostBounds bounds{.load1 = 1.2, .steal_share = 0.0078125};
  const auto limits = [](const Json& report) {
    return std::pair(has(report.at("limits"), "load_high"), has(report.at("limits"), "steal_high"));
  };
  EXPECT_EQ(limits(on_host(1.2, 0.0078125, bounds)), std::pair(false, false)) << "at the bounds";
  EXPECT_EQ(limits(on_host(1.21, 0.0078125, bounds)), std::pair(true, false));
  EXPECT_EQ(limits(on_host(1.2, 0.0079, bounds)), std::pair(false, true));
  EXPECT_EQ(limits(on_host(9, 0.9, std::nullopt)), std::pair(false, false)) << "without bounds";
  const Json disturbed = on_host(9, 0.9, bounds);
  EXPECT_TRUE(has(disturbed.at("reason_codes"), "load_high"));
  EXPECT_EQ(status_of(disturbed, "wall"), status_of(on_host(0, 0, bounds), "wall"));
  EXPECT_TRUE(disturbed.at("blockers").empty());
}

TEST(Diagnostics, one_layout_of_the_environment_in_all_batches_is_a_limit) {
  CompareInputs in = make_inputs();
  EXPECT_FALSE(has(derive(in).at("limits"), "layout_padding_off"));
  in.plan.options.layout_padding = false;
  EXPECT_TRUE(has(derive(in).at("limits"), "layout_padding_off"));
}

TEST(Diagnostics, steal_is_judged_by_its_mean_over_the_runs_that_know_it) {
  CompareInputs in = make_inputs();
  in.policy.host_bounds = HostBounds{.load1 = 1.2, .steal_share = 0.01};
  edit(
      in, [](const Sample&) { return true; }, [](Sample& s) { s.steal_share = 0; });
  edit(
      in, [](const Sample& s) { return s.seq == 1; }, [](Sample& s) { s.steal_share = 0.5; });
  EXPECT_FALSE(has(derive(in).at("limits"), "steal_high")) << "one reading of 140";
  edit(
      in, [](const Sample& s) { return s.seq > 1; },
      [](Sample& s) {
        s.steal_share = std::nullopt;
        s.reasons["steal_share"] = "not_available";
      });
  EXPECT_TRUE(has(derive(in).at("limits"), "steal_high")) << "the unknown ones are no zeros";
}

TEST(Diagnostics, a_cited_calibration_that_was_made_under_load_is_a_limit) {
  CompareInputs in = make_inputs();
  in.calibration = Json{{"archive_id", "id"}, {"limits", {"other_workload_not_excluded"}}};
  EXPECT_FALSE(has(derive(in).at("limits"), "calibration_under_load"));
  for (const char* code : {"load_high", "steal_high"}) {
    (*in.calibration)["limits"] = {"other_workload_not_excluded", code};
    EXPECT_TRUE(has(derive(in).at("limits"), "calibration_under_load")) << code;
  }
}

void truncate(Sample& s, std::int64_t bytes) {
  s.stdout_sha256 = std::nullopt;
  s.stdout_bytes = bytes;
  s.reasons["stdout_sha256"] = "output_truncated";
}

TEST(Diagnostics, outputs_beyond_the_bound_are_known_by_their_length_alone) {
  CompareInputs in = make_inputs({.gates = {.wall_cap = 1.5}});
  edit(
      in, [](const Sample&) { return true; }, [](Sample& s) { truncate(s, 5000); });
  Json report = derive(in);
  EXPECT_TRUE(has(report.at("limits"), "output_truncated"));
  EXPECT_TRUE(has(report.at("verdicts").at("wall").at("reasons"), "output_not_checked"));
  EXPECT_TRUE(report.at("cases").at(0).at("outputs_equal").is_null());
  edit(in, is_candidate, [](Sample& s) { truncate(s, 5001); });
  report = derive(in);
  EXPECT_EQ(status_of(report, "wall"), "INCOMPLETE");
  EXPECT_TRUE(has(report.at("blockers"), "outputs_differ"));
}

// -1, 0 or 1: where the interval lies beside ratio 1.
int side(const Json& interval) {
  return interval.at("lower").get<double>() > 1   ? 1
         : interval.at("upper").get<double>() < 1 ? -1
                                                  : 0;
}

TEST(Diagnostics, methods_that_disagree_about_the_difference_are_named) {
  constexpr double kBatch[] = {-0.012, 0.004, 0.011, 0.007, -0.006, 0.014, 0.009, 0.002};
  int agreed = 0;
  int disagreed = 0;
  for (int step = 0; step < 40; ++step) {
    CompareInputs in = make_inputs({.batches = 8, .pairs = 20, .noise = 0.001, .draws = 200});
    edit(in, is_candidate, [&](Sample& s) { scale(s, 0.99 + 0.0005 * step + kBatch[s.batch]); });
    const Json report = derive(in);
    const Json& one = report.at("cases").at(0);
    const bool differ = side(one.at("bootstrap")) != side(one.at("verdicts").at("wall"));
    EXPECT_EQ(one.at("methods_disagree"), differ);
    EXPECT_EQ(has(report.at("reason_codes"), "methods_disagree"), differ);
    ++(differ ? disagreed : agreed);
  }
  EXPECT_GT(agreed, 0);
  EXPECT_GT(disagreed, 0);
}

}  // namespace
}  // namespace assay::verdict
