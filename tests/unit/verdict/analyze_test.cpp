#include "fixture.h"

#include "assay/base/random.h"
#include "assay/verdict/report.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay::verdict {
namespace {

AnalyzeData paired(int batches, int pairs, double ratio, double noise = 0.01) {
  AnalyzeData data{.source = "pairs_csv", .name = "c", .paired = true, .batched = true};
  Xoshiro256 random(5);
  for (int b = 0; b < batches; ++b) {
    for (int p = 0; p < pairs; ++p) {
      data.reference.push_back(1e6 * (1 + noise * random.uniform()));
      data.candidate.push_back(ratio * 1e6 * (1 + noise * random.uniform()));
      data.batch.push_back(b);
    }
  }
  return data;
}

Json analyze(const AnalyzeData& data, const AnalyzeOptions& options = {.draws = 200}) {
  const Json json = derive_analysis({data}, options);
  canonical_json(json);
  return json;
}

TEST(Analysis, has_the_documented_shape) {
  const Json json = analyze(paired(10, 6, 1.1), {.draws = 200, .cap = 1.05});
  EXPECT_EQ(json.at("schema").at("name"), "assay.analysis");
  EXPECT_EQ(json.at("pairs"), 60);
  EXPECT_EQ(json.at("batches"), 10);
  ASSERT_EQ(json.at("intervals").size(), 2U);
  for (const char* method : {"hierarchical-percentile-v1", "clustered-signed-rank-v1"}) {
    const Json& interval = json.at("intervals").at(method);
    EXPECT_NEAR(interval.at("estimate").get<double>(), 1.1, 0.01);
    EXPECT_LT(interval.at("lower"), interval.at("estimate"));
    EXPECT_GT(interval.at("upper"), interval.at("estimate"));
    EXPECT_EQ(interval.at("level"), 0.95);
  }
  EXPECT_EQ(json.at("gate").at("cap"), 1.05);
  EXPECT_EQ(json.at("gate").at("verdict"), "FAIL");
  EXPECT_EQ(json.at("finding"), "slower");
  EXPECT_EQ(json.at("cases").size(), 1U);
  EXPECT_EQ(exit_code_of(json), 1);
}

TEST(Analysis, without_a_cap_there_is_no_gate_and_the_exit_code_is_zero) {
  const Json json = analyze(paired(10, 6, 1.1));
  EXPECT_TRUE(json.at("gate").is_null());
  EXPECT_EQ(exit_code_of(json), 0);
}

TEST(Analysis, three_batches_are_analysed_and_never_gated) {
  const Json json = analyze(paired(3, 20, 1.4), {.draws = 200, .cap = 1.05});
  EXPECT_TRUE(json.at("finding").is_null());
  EXPECT_EQ(json.at("gate").at("verdict"), "INCONCLUSIVE");
  EXPECT_TRUE(has(json.at("gate").at("reasons"), "too_few_batches"));
  EXPECT_EQ(exit_code_of(json), 4);
}

TEST(Analysis, one_batch_gives_method_one_and_a_reason) {
  const Json json = analyze(paired(1, 20, 1.4), {.draws = 200, .cap = 1.05});
  EXPECT_TRUE(json.at("intervals").at("hierarchical-percentile-v1").at("lower").is_number());
  EXPECT_TRUE(json.at("intervals").at("clustered-signed-rank-v1").at("lower").is_null());
  EXPECT_TRUE(has(json.at("reasons"), "single_batch"));
  EXPECT_EQ(json.at("gate").at("verdict"), "INCONCLUSIVE");
}

TEST(Analysis, unbatched_pairs_are_labelled_and_never_gated) {
  AnalyzeData data = paired(10, 6, 1.4);
  data.batched = false;
  data.batch.clear();
  const Json json = analyze(data, {.draws = 200, .cap = 1.05});
  EXPECT_TRUE(has(json.at("reasons"), "unbatched_data"));
  EXPECT_EQ(json.at("gate").at("verdict"), "INCONCLUSIVE");
  EXPECT_EQ(json.at("gate").at("reasons"), Json::array({"unbatched_data"}));
  EXPECT_EQ(json.at("batches"), 0);
  EXPECT_EQ(json.at("intervals").size(), 2U);
}

TEST(Analysis, unpaired_data_get_their_own_method_and_never_a_gate) {
  AnalyzeData data{.source = "hyperfine", .name = "new"};
  for (int i = 0; i < 30; ++i) {
    data.reference.push_back(1 + 0.001 * i);
    data.candidate.push_back(2 + 0.002 * i);
  }
  data.candidate.push_back(2.1);  // unequal counts
  const Json json = analyze(data, {.seed = 3, .draws = 500, .cap = 1.05});
  ASSERT_EQ(json.at("intervals").size(), 1U);
  const Json& interval = json.at("intervals").at("unpaired-percentile-v1");
  EXPECT_NEAR(interval.at("estimate").get<double>(), 2, 0.01);
  EXPECT_LT(interval.at("lower").get<double>(), 2.01);
  EXPECT_GT(interval.at("upper").get<double>(), 1.99);
  EXPECT_LT(interval.at("lower"), interval.at("upper"));
  EXPECT_EQ(json.at("pairs"), 0);
  EXPECT_TRUE(has(json.at("reasons"), "unpaired_data"));
  EXPECT_EQ(json.at("gate").at("verdict"), "INCONCLUSIVE");
  EXPECT_EQ(exit_code_of(json), 4);
  EXPECT_EQ(canonical_json(json),
            canonical_json(analyze(data, {.seed = 3, .draws = 500, .cap = 1.05})));
}

// Three values resampled have the median 1, 2 or 3 with probabilities 7, 13 and 7 of 27.
TEST(Analysis, unpaired_limits_are_the_equal_tails_of_the_level) {
  const AnalyzeData data{
      .source = "hyperfine", .name = "n", .reference = {1, 1, 1}, .candidate = {1, 2, 3}};
  const auto limits = [&](double level) {
    const Json json = analyze(data, {.draws = 2000, .level = level});
    const Json& interval = json.at("intervals").at("unpaired-percentile-v1");
    return std::pair{interval.at("lower").get<double>(), interval.at("upper").get<double>()};
  };
  EXPECT_EQ(limits(0.95), (std::pair{1.0, 3.0}));
  EXPECT_EQ(limits(0.60), (std::pair{1.0, 3.0}));
  EXPECT_EQ(limits(0.40), (std::pair{2.0, 2.0}));
}

TEST(Analysis, single_values_have_an_estimate_and_no_interval) {
  const Json json =
      analyze({.source = "hyperfine", .name = "n", .reference = {1}, .candidate = {2, 3}});
  EXPECT_EQ(json.at("intervals").at("unpaired-percentile-v1").at("estimate"), 2.5);
  EXPECT_TRUE(json.at("intervals").at("unpaired-percentile-v1").at("lower").is_null());
  EXPECT_TRUE(has(json.at("reasons"), "too_few_values"));
}

TEST(Analysis, a_method_can_be_chosen) {
  const Json one =
      analyze(paired(10, 6, 1.1), {.draws = 200, .method = "clustered-signed-rank-v1"});
  EXPECT_EQ(one.at("intervals").size(), 1U);
  const Json none = analyze(paired(10, 6, 1.1), {.draws = 200, .method = "unpaired-percentile-v1"});
  EXPECT_TRUE(none.at("intervals").empty());
  EXPECT_TRUE(has(none.at("reasons"), "method_not_applicable"));
}

TEST(Analysis, several_cases_are_listed_without_top_level_figures) {
  AnalyzeData a{.source = "pyperf", .name = "a", .reference = {1, 2}, .candidate = {1, 2}};
  AnalyzeData b = a;
  b.name = "b";
  const Json json = derive_analysis({a, b}, {.draws = 50, .unmatched = {"gone"}});
  EXPECT_EQ(json.at("cases").size(), 2U);
  EXPECT_EQ(json.at("cases").at(1).at("name"), "b");
  EXPECT_FALSE(json.contains("intervals"));
  EXPECT_EQ(json.at("unmatched"), Json::array({"gone"}));
}

TEST(Analysis, equal_sides_show_no_difference_and_say_what_is_ruled_out) {
  const Json json = analyze(paired(10, 6, 1.0));
  EXPECT_EQ(json.at("finding"), "no_difference");
  EXPECT_GT(json.at("ruled_out_above_percent").get<double>(), 0);
}

}  // namespace
}  // namespace assay::verdict
