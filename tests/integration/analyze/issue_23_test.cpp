// Complaint 23: repetitions matched wrongly, means that tiny tests dominate or zeros break. A
// geometric mean is made per category, and categories exist only in the suite layer: GeometricMean
// in tests/unit/stats/gate_test.cpp has that part. What a command shows is each case's ratio.
#include "harness.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using testing::HasSubstr;

class AnalyzeComplaint : public AnalyzeTest {};

struct TimePair {
  int batch, pair;
  double reference, candidate;
};

std::vector<TimePair> made_pairs(int batches, int pairs) {
  std::vector<TimePair> out;
  for (int batch = 0; batch < batches; ++batch)
    for (int pair = 0; pair < pairs; ++pair)
      out.push_back({batch, pair, 1000.0 + 7 * batch + 3 * pair, 1040.0 + 6 * batch + 5 * pair});
  return out;
}

std::string pairs_csv(const std::vector<TimePair>& pairs) {
  std::string text = "batch,pair,reference_ns,candidate_ns\n";
  for (const TimePair& p : pairs)
    text += std::to_string(p.batch) + "," + std::to_string(p.pair) + "," +
            std::to_string(p.reference) + "," + std::to_string(p.candidate) + "\n";
  return text;
}

const std::string kRunsHeader = "batch,pair,case,side,position,phase,status,elapsed_ns\n";

std::string run_row(const TimePair& p, const std::string& name, const std::string& side) {
  const bool candidate = side == "candidate";
  const bool first = candidate == ((p.batch + p.pair) % 2 == 0);
  return std::to_string(p.batch) + "," + std::to_string(p.pair) + "," + name + "," + side + "," +
         (first ? "0" : "1") + ",measurement,ok," +
         std::to_string(candidate ? p.candidate : p.reference) + "\n";
}

std::string run_rows(const std::vector<TimePair>& pairs, const std::string& name) {
  std::string text;
  for (const TimePair& p : pairs)
    text += run_row(p, name, "reference") + run_row(p, name, "candidate");
  return text;
}

TEST_F(AnalyzeComplaint,
       issue_23_pairs_a_thousand_times_longer_count_as_ratios_and_dominate_nothing) {
  std::vector<TimePair> pairs = made_pairs(10, 4);
  const Ended plain = run({file("plain.csv", pairs_csv(pairs)), "--json"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  for (TimePair& p : pairs)
    if (p.batch < 2) {
      p.reference *= 1024;  // a power of two: not a bit of the ratio changes
      p.candidate *= 1024;
    }
  const Ended mixed = run({file("mixed.csv", pairs_csv(pairs)), "--json"});
  ASSERT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_NE(mixed.json().at("reference").at("p95"), plain.json().at("reference").at("p95"));
  EXPECT_EQ(mixed.json().at("intervals"), plain.json().at("intervals"));
  EXPECT_EQ(mixed.json().at("finding"), plain.json().at("finding"));
}

TEST_F(AnalyzeComplaint, issue_23_a_case_a_thousand_times_longer_changes_nothing_about_the_others) {
  const std::vector<TimePair> tiny = made_pairs(10, 4);
  std::vector<TimePair> huge = tiny;
  for (TimePair& p : huge) {
    p.candidate = p.reference * 1024 * 2;
    p.reference *= 1024;
  }
  const Ended alone = run({file("one.csv", kRunsHeader + run_rows(tiny, "tiny")), "--json"});
  const Ended both = run(
      {file("two.csv", kRunsHeader + run_rows(huge, "huge") + run_rows(tiny, "tiny")), "--json"});
  ASSERT_EQ(both.code, 0) << both.err;
  const Json made = both.json();
  const Json& cases = made.at("cases");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases.at(1), alone.json().at("cases").at(0));
  for (const auto& [method, interval] : cases.at(0).at("intervals").items())
    EXPECT_EQ(interval.at("estimate"), 2.0) << method;
  // No figure beside the cases, so none that could mix them.
  for (const auto& [key, value] : made.items())
    EXPECT_THAT(key, testing::AnyOf("schema", "kind", "seed", "draws", "unmatched", "cases"));
}

TEST_F(AnalyzeComplaint, issue_23_unequal_counts_are_matched_by_batch_and_pair_and_never_by_place) {
  std::vector<TimePair> pairs = made_pairs(10, 4);
  std::string rows = run_rows(pairs, "x");
  // Pairs of which one side is missing: another one in every second batch, and a batch without any
  // candidate.
  for (const TimePair& p : made_pairs(10, 1)) {
    const int other = 4 + p.batch;
    rows =
        run_row({p.batch, other, 1, 1e9}, "x", p.batch % 2 == 0 ? "reference" : "candidate") + rows;
  }
  rows += run_row({10, 0, 1e9, 1}, "x", "reference");
  const Ended whole = run({file("whole.csv", kRunsHeader + run_rows(pairs, "x")), "--json"});
  const Ended uneven = run({file("uneven.csv", kRunsHeader + rows), "--json"});
  ASSERT_EQ(uneven.code, 0) << uneven.err;
  EXPECT_EQ(uneven.json().at("pairs"), 40);
  EXPECT_EQ(uneven.json().at("batches"), 10);
  EXPECT_EQ(uneven.json().at("intervals"), whole.json().at("intervals"));
  EXPECT_THAT(uneven.json().at("reasons"), testing::Contains("pairs_rejected"));
  EXPECT_THAT(whole.json().at("reasons"), testing::Not(testing::Contains("pairs_rejected")));

  // Batches of different sizes, in any order of the rows.
  pairs.erase(pairs.begin() + 5, pairs.begin() + 8);
  const Ended forth = run({file("forth.csv", pairs_csv(pairs)), "--json"});
  std::reverse(pairs.begin(), pairs.end());
  const Ended back = run({file("back.csv", pairs_csv(pairs)), "--json"});
  ASSERT_EQ(forth.code, 0) << forth.err;
  EXPECT_EQ(forth.json().at("pairs"), 37);
  EXPECT_EQ(forth.out, back.out);

  const std::string a =
      file("a.json", R"({"context":{},"benchmarks":[{"name":"y","real_time":5},)"
                     R"({"name":"x","real_time":1},{"name":"x","real_time":3}]})");
  const std::string b = file("b.json", R"({"context":{},"benchmarks":[{"name":"x","real_time":4},)"
                                       R"({"name":"x","real_time":4},{"name":"x","real_time":4},)"
                                       R"({"name":"y","real_time":5}]})");
  const Json cases = run({a, b, "--json"}).json().at("cases");
  ASSERT_EQ(cases.size(), 2U);
  for (const Json& one : cases) {
    const bool x = one.at("name") == "x";
    EXPECT_EQ(one.at("reference").at("n"), x ? 2 : 1);
    EXPECT_EQ(one.at("candidate").at("n"), x ? 3 : 1);
    EXPECT_EQ(one.at("intervals").at("unpaired-percentile-v1").at("estimate"), x ? 2.0 : 1.0);
  }
}

TEST_F(AnalyzeComplaint, issue_23_missing_members_are_refused_with_their_place_or_listed) {
  const std::string header = "batch,pair,reference_ns,candidate_ns\n";
  const std::vector<std::pair<std::string, std::string>> table = {
      {header + "0,0,1,2\n0,1,1,\n", "x.csv:3: column 'candidate_ns'"},
      {header + "0,0,,2\n", "x.csv:2: column 'reference_ns'"},
      {header + "0,0,1,2\n,1,1,2\n", "x.csv:3: column 'batch'"},
      {header + "0,0,1,2\n0,,1,2\n", "x.csv:3: column 'pair'"},
      {header + "0,0,1,2\n0,1,1\n", "x.csv:3: the row has 3 cells, the header 4"},
      {"batch,pair,reference_ns\n0,0,1\n", "no column 'candidate_ns'"},
      {header, "no rows after the header"},
      {R"({"context":{},"benchmarks":[{"name":"a","real_time":1},{"name":"b"}]})", "real_time"},
      {R"({"results":[{"command":"a","times":[1]},{"command":"b"}]})", "times"},
      {R"({"results":[{"command":"a","times":[1]},{"command":"b","times":[]}]})", "times"}};
  for (const auto& [text, place] : table) {
    const Ended ended = run({file("x.csv", text)});
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_EQ(ended.out, "") << text;
    EXPECT_THAT(ended.err, HasSubstr(place)) << text;
  }
  const auto google = [this](const std::string& name, const std::string& member) {
    return file(name, R"({"context":{},"benchmarks":[{"name":")" + member +
                          R"(","real_time":1},{"name":"both","real_time":2}]})");
  };
  const Json one = run({google("a.json", "old"), google("b.json", "new"), "--json"}).json();
  EXPECT_EQ(one.at("unmatched"), Json::array({"old", "new"}));
  ASSERT_EQ(one.at("cases").size(), 1U);
  EXPECT_EQ(one.at("cases").at(0).at("name"), "both");
}

TEST_F(AnalyzeComplaint, issue_23_a_time_of_zero_is_refused_with_its_place) {
  const std::string header = "batch,pair,reference_ns,candidate_ns\n0,0,1,2\n";
  for (const std::string zero : {"0", "0.0", "-0", "0e9"}) {
    const Ended candidate = run({file("x.csv", header + "0,1,1," + zero + "\n")});
    EXPECT_EQ(candidate.code, 2);
    EXPECT_THAT(candidate.err, HasSubstr("x.csv:3: column 'candidate_ns': expected a time > 0"));
    const Ended reference = run({file("x.csv", header + "0,1," + zero + ",1\n")});
    EXPECT_EQ(reference.code, 2);
    EXPECT_THAT(reference.err, HasSubstr("x.csv:3: column 'reference_ns': expected a time > 0"));
  }
  const std::string zero_run = run_row({9, 9, 0, 0}, "x", "candidate");
  const std::string rows = kRunsHeader + run_rows(made_pairs(8, 2), "x");
  const Ended ok = run({file("runs.csv", rows + zero_run)});
  EXPECT_EQ(ok.code, 2);
  EXPECT_THAT(ok.err, HasSubstr("runs.csv:34: column 'elapsed_ns'"));
  for (const char* text :
       {R"({"results":[{"command":"a","times":[1]},{"command":"b","times":[1,0]}]})",
        R"({"context":{},"benchmarks":[{"name":"a","real_time":1},{"name":"b","real_time":0}]})",
        R"({"benchmarks":[{"metadata":{"name":"a"},"runs":[{"values":[1]}]},)"
        R"({"metadata":{"name":"b"},"runs":[{"values":[0]}]}],"version":"1.0"})"}) {
    const Ended ended = run({file("x.json", text)});
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_THAT(ended.err, HasSubstr("/1/")) << text;
  }
}

}  // namespace
}  // namespace assay
