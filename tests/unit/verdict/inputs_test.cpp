#include "assay/verdict/inputs.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

Result<AnalyzeData> csv(const std::string& text, const InputOptions& options = {}) {
  return parse_pairs_csv({"f.csv", text}, options);
}

TEST(PairsCsv, reads_columns_by_name_in_any_order_and_ignores_others) {
  const auto data =
      csv("note,pair,candidate_ns,batch,reference_ns\nx,0,20,0,10\ny,1,22,0,11\nz,0,24,1,12\n");
  ASSERT_TRUE(data.has_value()) << data.error().message();
  EXPECT_EQ(data->reference, (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(data->candidate, (std::vector<double>{20, 22, 24}));
  EXPECT_EQ(data->batch, (std::vector<int>{0, 0, 1}));
  EXPECT_TRUE(data->paired);
  EXPECT_TRUE(data->batched);
}

TEST(PairsCsv, rows_may_come_in_any_order) {
  const auto a = csv("batch,pair,reference_ns,candidate_ns\n0,0,1,2\n0,1,3,4\n1,0,5,6\n");
  const auto b = csv("batch,pair,reference_ns,candidate_ns\n1,0,5,6\n0,1,3,4\n0,0,1,2\n");
  EXPECT_EQ(a->reference, b->reference);
  EXPECT_EQ(a->batch, b->batch);
}

TEST(PairsCsv, quotes_crlf_byte_order_mark_and_blank_lines) {
  const auto data = csv(
      "\xef\xbb\xbf\"batch\",pair,\"reference_ns\",candidate_ns,\"a \"\"note\"\", with\nlines\"\r\n"
      "0,0, 10 ,\"20\",\"x,\r\ny\"\r\n\r\n0,1,1e1,2.5,\r\n");
  ASSERT_TRUE(data.has_value()) << data.error().message();
  EXPECT_EQ(data->reference, (std::vector<double>{10, 10}));
  EXPECT_EQ(data->candidate, (std::vector<double>{20, 2.5}));
}

TEST(PairsCsv, a_quoted_cell_at_the_end_never_reads_past_it) {
  const std::string more = "reference_ns,candidate_ns\n1,\"2\"\"";
  const auto data =
      parse_pairs_csv({"f.csv", std::string_view(more).substr(0, more.size() - 1)}, {});
  ASSERT_TRUE(data.has_value()) << data.error().message();
  EXPECT_EQ(data->candidate, (std::vector<double>{2}));
}

TEST(PairsCsv, without_batch_or_pair_columns_rows_are_unbatched_pairs) {
  const auto data = csv("reference_ns,candidate_ns\n1,2\n3,4\n");
  ASSERT_TRUE(data.has_value());
  EXPECT_TRUE(data->paired);
  EXPECT_FALSE(data->batched);
}

struct BadCsv {
  std::string text;
  std::string where;  // of the error
  std::string word;   // in the message
};

TEST(PairsCsv, bad_rows_are_refused_with_line_and_column) {
  const std::string head = "batch,pair,reference_ns,candidate_ns\n";
  const std::vector<BadCsv> table = {
      {"", "f.csv", "empty"},
      {head, "f.csv", "no rows"},
      {"batch,pair,reference,candidate_ns\n0,0,1,2\n", "f.csv:1", "--reference"},
      {"batch,pair,reference_ns\n0,0,1\n", "f.csv:1", "--candidate"},
      {"pair,reference_ns,reference_ns,candidate_ns\n0,1,1,2\n", "f.csv:1", "twice"},
      {head + "0,0,1,2\n0,1,0,2\n", "f.csv:3", "reference_ns"},
      {head + "0,0,1,-2\n", "f.csv:2", "candidate_ns"},
      {head + "0,0,nan,2\n", "f.csv:2", "reference_ns"},
      {head + "0,0,inf,2\n", "f.csv:2", "reference_ns"},
      {head + "0,0,1e999,2\n", "f.csv:2", "reference_ns"},
      {head + "0,0,,2\n", "f.csv:2", "reference_ns"},
      {head + "0,0,1x,2\n", "f.csv:2", "1x"},
      {head + "0,0,1\n", "f.csv:2", "3 cells"},
      {head + "0,0,1,2,3\n", "f.csv:2", "5 cells"},
      {head + "0.5,0,1,2\n", "f.csv:2", "batch"},
      {head + "0,a,1,2\n", "f.csv:2", "pair"},
      {head + "0,0,1,2\n0,0,3,4\n", "f.csv:3", "batch 0, pair 0 occurs twice"},
      {head + "0,0,1,\"2\n", "f.csv:2", "closing quote"},
      {head + "0,0,1,\"2\"3\n", "f.csv:2", "after a closing quote"},
  };
  for (const BadCsv& row : table) {
    const auto data = csv(row.text);
    ASSERT_FALSE(data.has_value()) << row.text;
    EXPECT_EQ(data.error().where, row.where) << row.text;
    EXPECT_NE(data.error().what.find(row.word), std::string::npos) << data.error().message();
  }
}

TEST(PairsCsv, named_columns_must_exist_and_differ) {
  const std::string text = "a,b\n1,2\n";
  EXPECT_TRUE(csv(text, {.reference = "a", .candidate = "b"}).has_value());
  EXPECT_FALSE(csv(text, {.reference = "a", .candidate = "a"}).has_value());
  EXPECT_FALSE(csv(text, {.reference = "a", .candidate = "b", .batch = "c"}).has_value());
  EXPECT_FALSE(csv(text, {.reference = "a", .candidate = "b", .pair = "c"}).has_value());
}

Result<AnalyzeInput> input(const std::string& text, const InputOptions& options = {}) {
  return parse_analyze_input({{"f", text}}, options);
}
Result<AnalyzeInput> inputs(const std::string& a, const std::string& b,
                            const InputOptions& options = {}) {
  return parse_analyze_input({{"a", a}, {"b", b}}, options);
}

const char* const kHyperfine = R"({"results":[
  {"command":"old","mean":1.0,"times":[1.0,1.1,1.2]},
  {"command":"new","mean":2.0,"times":[2.0,2.1]},
  {"command":"other","mean":2.0,"times":[3.0]}]})";

TEST(Hyperfine, the_first_result_is_the_reference_of_all_others) {
  const auto in = input(kHyperfine);
  ASSERT_TRUE(in.has_value()) << in.error().message();
  ASSERT_EQ(in->cases.size(), 2U);
  EXPECT_EQ(in->cases[0].name, "new");
  EXPECT_EQ(in->cases[0].source, "hyperfine");
  EXPECT_FALSE(in->cases[0].paired);
  EXPECT_EQ(in->cases[0].reference, (std::vector<double>{1.0, 1.1, 1.2}));
  EXPECT_EQ(in->cases[0].candidate, (std::vector<double>{2.0, 2.1}));
}

TEST(Hyperfine, sides_can_be_named) {
  const auto in = input(kHyperfine, {.reference = "other", .candidate = "old"});
  ASSERT_TRUE(in.has_value());
  ASSERT_EQ(in->cases.size(), 1U);
  EXPECT_EQ(in->cases[0].name, "old");
  EXPECT_EQ(in->cases[0].reference, (std::vector<double>{3.0}));
  const auto missing = input(kHyperfine, {.reference = "oldd"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().what.find("'old', 'new', 'other'"), std::string::npos);
  EXPECT_FALSE(input(kHyperfine, {.reference = "old", .candidate = "old"}).has_value());
}

TEST(Hyperfine, one_result_needs_a_second_file) {
  const char* one = R"({"results":[{"command":"x","times":[1]}]})";
  const char* two = R"({"results":[{"command":"y","times":[2,3]}]})";
  EXPECT_FALSE(input(one).has_value());
  const auto both = inputs(one, two);
  ASSERT_TRUE(both.has_value()) << both.error().message();
  EXPECT_EQ(both->cases.at(0).name, "y");
  EXPECT_EQ(both->cases.at(0).candidate.size(), 2U);
}

const char* const kGoogleA = R"({"context":{},"benchmarks":[
  {"name":"BM_a","run_name":"BM_a","run_type":"iteration","real_time":1.0,"time_unit":"us"},
  {"name":"BM_a","run_name":"BM_a","run_type":"iteration","real_time":1.5,"time_unit":"us"},
  {"name":"BM_b","run_name":"BM_b","run_type":"iteration","real_time":7,"time_unit":"ns"},
  {"name":"BM_a_mean","run_name":"BM_a","run_type":"aggregate","aggregate_name":"mean",
   "real_time":1.25,"time_unit":"us"},
  {"name":"BM_bad","run_name":"BM_bad","run_type":"iteration","error_occurred":true}]})";
const char* const kGoogleB = R"({"context":{},"benchmarks":[
  {"name":"BM_new","real_time":1,"time_unit":"ns"},
  {"name":"BM_a","real_time":2000,"time_unit":"ns"},
  {"name":"BM_a","real_time":2100,"time_unit":"ns"},
  {"name":"BM_a","real_time":2200,"time_unit":"ns"}]})";

TEST(GoogleBenchmark, aggregates_and_errors_are_left_out_and_units_become_ns) {
  const auto series = parse_google_benchmark({"f", kGoogleA});
  ASSERT_TRUE(series.has_value()) << series.error().message();
  ASSERT_EQ(series->size(), 2U);
  EXPECT_EQ((*series)[0].name, "BM_a");
  EXPECT_EQ((*series)[0].values, (std::vector<double>{1000, 1500}));
  EXPECT_EQ((*series)[1].values, (std::vector<double>{7}));
}

// Unequal counts and missing members: matched by name, never by position.
TEST(GoogleBenchmark, issue_23_two_files_match_by_name_and_list_what_only_one_holds) {
  const auto in = inputs(kGoogleA, kGoogleB);
  ASSERT_TRUE(in.has_value()) << in.error().message();
  ASSERT_EQ(in->cases.size(), 1U);
  EXPECT_EQ(in->cases[0].name, "BM_a");
  EXPECT_EQ(in->cases[0].reference, (std::vector<double>{1000, 1500}));
  EXPECT_EQ(in->cases[0].candidate, (std::vector<double>{2000, 2100, 2200}));
  EXPECT_EQ(in->unmatched, (std::vector<std::string>{"BM_b", "BM_new"}));
}

TEST(GoogleBenchmark, named_benchmarks_of_two_files) {
  const auto in = inputs(kGoogleA, kGoogleB, {.reference = "BM_b", .candidate = "BM_new"});
  ASSERT_TRUE(in.has_value());
  EXPECT_EQ(in->cases.at(0).reference, (std::vector<double>{7}));
  EXPECT_EQ(in->cases.at(0).candidate, (std::vector<double>{1}));
}

TEST(GoogleBenchmark, more_than_two_names_in_one_file_must_be_chosen) {
  const char* three = R"({"context":{},"benchmarks":[{"name":"x","real_time":1},
    {"name":"y","real_time":2},{"name":"z","real_time":3}]})";
  const auto in = input(three);
  ASSERT_FALSE(in.has_value());
  EXPECT_NE(in.error().what.find("--reference"), std::string::npos);
  EXPECT_TRUE(input(three, {.reference = "x", .candidate = "z"}).has_value());
  EXPECT_TRUE(input(kGoogleA).has_value());  // exactly two
}

TEST(GoogleBenchmark, issue_23_a_time_of_zero_is_refused_with_its_place) {
  const auto in =
      parse_google_benchmark({"f", R"({"context":{},"benchmarks":[{"name":"x","real_time":0}]})"});
  ASSERT_FALSE(in.has_value());
  EXPECT_EQ(in.error().where, "f /benchmarks/0/real_time");
  EXPECT_FALSE(parse_google_benchmark({"f", R"({"context":{},"benchmarks":[
    {"name":"x","real_time":1,"time_unit":"min"}]})"})
                   .has_value());
  EXPECT_FALSE(parse_google_benchmark({"f", R"({"context":{},"benchmarks":[
    {"name":"x_mean","run_type":"aggregate","real_time":1}]})"})
                   .has_value());
}

TEST(Pyperf, values_of_all_runs_are_joined_and_calibration_runs_skipped) {
  const char* text = R"({"benchmarks":[
    {"metadata":{"name":"p"},"runs":[{"warmups":[[1,0.5]]},{"values":[0.1,0.2]},{"values":[0.3]}]},
    {"runs":[{"values":[0.4]}]}],"metadata":{"name":"common"},"version":"1.0"})";
  const auto series = parse_pyperf({"f", text});
  ASSERT_TRUE(series.has_value()) << series.error().message();
  EXPECT_EQ((*series)[0].name, "p");
  EXPECT_EQ((*series)[0].values, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ((*series)[1].name, "common");
  EXPECT_EQ(input(text)->cases.at(0).source, "pyperf");
}

TEST(Inputs, issue_21_values_have_the_unit_that_their_file_gives_them) {
  EXPECT_EQ(csv("reference_ns,candidate_ns\n1,2\n")->unit, "ns");
  EXPECT_EQ(csv("old_ms,new_ms\n1,2\n", {.reference = "old_ms", .candidate = "new_ms"})->unit,
            "ms");
  EXPECT_EQ(csv("a,b\n1,2\n", {.reference = "a", .candidate = "b"})->unit, "");
  EXPECT_EQ(input(kHyperfine)->cases.at(0).unit, "s");
  EXPECT_EQ(inputs(kGoogleA, kGoogleB)->cases.at(0).unit, "ns");
  const std::string bench = R"({"metadata":{"name":"N"UNIT},"runs":[{"values":[1]}]})";
  const auto pyperf = [&bench](const std::string& first, const std::string& second) {
    std::string text = R"({"benchmarks":[)";
    for (const auto& [name, unit] : {std::pair("a", first), std::pair("b", second)}) {
      std::string one = bench;
      one.replace(one.find('N'), 1, name);
      one.replace(one.find("UNIT"), 4, unit.empty() ? "" : R"(,"unit":")" + unit + "\"");
      text += (text.back() == '[' ? "" : ",") + one;
    }
    const auto parsed = input(text + R"(],"version":"1.0"})");
    return parsed ? parsed->cases.at(0).unit : "refused: " + parsed.error().what;
  };
  EXPECT_EQ(pyperf("", ""), "s");
  EXPECT_EQ(pyperf("byte", "byte"), "byte");
  EXPECT_EQ(pyperf("byte", ""),
            "refused: the reference 'a' is in byte, the candidate 'b' is in s: they cannot be "
            "compared");
}

TEST(Inputs, two_units_are_never_compared) {
  const auto two = csv("old_s,new_ms\n1,2\n", {.reference = "old_s", .candidate = "new_ms"});
  ASSERT_FALSE(two.has_value());
  EXPECT_EQ(two.error().what,
            "the reference 'old_s' is in s, the candidate 'new_ms' in ms: bring both to one unit");
  EXPECT_EQ(two.error().where, "f.csv:1");
  EXPECT_FALSE(
      csv("a_ns,b_bytes\n1,2\n", {.reference = "a_ns", .candidate = "b_bytes"}).has_value());
  EXPECT_TRUE(csv("a_ns,b\n1,2\n", {.reference = "a_ns", .candidate = "b"}).has_value());
  const std::string with =
      R"({"context":{},"benchmarks":[{"name":"x","real_time":1,"time_unit":"us"}]})";
  const std::string without = R"({"context":{},"benchmarks":[{"name":"x","real_time":1}]})";
  EXPECT_FALSE(inputs(with, without).has_value());
  EXPECT_FALSE(inputs(without, with).has_value());
  EXPECT_EQ(inputs(without, without)->cases.at(0).unit, "");
  const auto one =
      input(R"({"context":{},"benchmarks":[{"name":"x","real_time":1,"time_unit":"us"},)"
            R"({"name":"y","real_time":1}]})");
  ASSERT_FALSE(one.has_value());
  EXPECT_NE(one.error().where.find("/benchmarks/1/time_unit"), std::string::npos);
}

TEST(Inputs, damaged_json_is_refused_and_never_crashes) {
  for (const std::string text :
       {"{", "{}", R"({"results":[]})", R"({"results":5})", R"({"results":[5,6]})",
        R"({"results":[{"command":"x","times":[]},{"command":"y","times":[1]}]})",
        R"({"results":[{"times":["1"]},{"times":[1]}]})",
        R"({"results":[{"times":[-1]},{"times":[1]}]})", R"({"benchmarks":[],"context":{}})",
        R"({"benchmarks":[5],"context":{}})", R"({"benchmarks":[{"runs":[]}]})",
        R"({"benchmarks":[{"runs":[5]}]})", R"({"benchmarks":[{"runs":[{"values":5}]}]})",
        R"({"benchmarks":[5]})", R"({"benchmarks":{}})", R"({"metadata":5,"benchmarks":[5]})"})
    EXPECT_FALSE(input(text).has_value()) << text;
}

TEST(Inputs, the_format_can_be_forced_and_must_be_known) {
  EXPECT_FALSE(input(kHyperfine, {.format = "csv"}).has_value());
  EXPECT_FALSE(input(kHyperfine, {.format = "pyperf"}).has_value());
  const auto unknown = input(kHyperfine, {.format = "xml"});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("hyperfine"), std::string::npos);
  EXPECT_TRUE(input(kHyperfine, {.format = "hyperfine"}).has_value());
}

TEST(Inputs, two_csv_files_or_column_flags_on_json_are_refused) {
  EXPECT_FALSE(inputs("reference_ns,candidate_ns\n1,2\n", "x").has_value());
  EXPECT_FALSE(input(kHyperfine, {.batch = "b"}).has_value());
  EXPECT_FALSE(parse_analyze_input({}, {}).has_value());
}

TEST(Inputs, two_files_without_a_common_name_are_refused) {
  const char* other =
      R"({"context":{},"benchmarks":[{"name":"q","real_time":1,"time_unit":"ns"}]})";
  for (const auto& in : {inputs(kGoogleA, other), inputs(other, kGoogleA)}) {
    ASSERT_FALSE(in.has_value()) << "which of two would it be?";
    EXPECT_NE(in.error().message().find("share no benchmark name"), std::string::npos)
        << in.error().message();
  }
}

std::string complaint(const std::string& text, const InputOptions& options = {}) {
  const auto in = input(text, options);
  return in ? "accepted" : in.error().message();
}

TEST(Inputs, a_byte_order_mark_is_skipped_in_every_format) {
  EXPECT_EQ(complaint("\xef\xbb\xbf" + std::string(kHyperfine)), "accepted");
  EXPECT_EQ(complaint("\xef\xbb\xbfreference_ns,candidate_ns\n1,2\n"), "accepted");
}

TEST(Inputs, json_that_is_no_export_is_not_taken_for_a_csv) {
  EXPECT_NE(complaint("[1,2]").find("JSON that is an array"), std::string::npos);
  for (const char* text : {"null", " null\n", "true", "5", "-1.5e3", "\"reference_ns\""})
    EXPECT_NE(complaint(text).find("JSON that is a mere "), std::string::npos) << text;
  EXPECT_NE(complaint("1e999").find("too large for a double"), std::string::npos);
  EXPECT_NE(complaint("{}").find("JSON of an unknown tool"), std::string::npos);
  EXPECT_NE(complaint(R"({"schema":{"name":"assay.report"},"kind":"comparison"})")
                .find("give the archive's directory"),
            std::string::npos);
  // Quoted or numeric headers are those of a CSV.
  EXPECT_EQ(complaint("\"reference_ns\",\"candidate_ns\"\n1,2\n"), "accepted");
  EXPECT_NE(complaint("1,2\n3,4\n").find("no column 'reference_ns'"), std::string::npos);
}

TEST(Inputs, a_name_that_is_no_string_is_refused_with_its_place) {
  EXPECT_EQ(complaint(R"({"results":[{"command":5,"times":[1]},{"command":"b","times":[1]}]})"),
            "f /results/0/command: expected a string, found 5");
  EXPECT_NE(complaint(R"({"context":{},"benchmarks":[{"name":5,"real_time":1}]})")
                .find("/benchmarks/0/name: expected a string"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"benchmarks":[{"metadata":{"name":[]},"runs":[{"values":[1]}]}]})")
                .find("/benchmarks/0/metadata/name: expected a string"),
            std::string::npos);
}

TEST(Inputs, equal_names_are_told_apart_by_their_places) {
  const std::string twins =
      R"({"results":[{"command":"a","times":[1]},{"command":"a","times":[2]}]})";
  EXPECT_EQ(complaint(twins), "accepted");  // no name has to choose
  const std::string refused = complaint(twins, {.reference = "a"});
  EXPECT_NE(refused.find("occurs twice, as #1 and #2"), std::string::npos) << refused;
  EXPECT_NE(refused.find("--reference '#1'"), std::string::npos);
  const auto in = input(twins, {.reference = "#2", .candidate = "#1"});
  ASSERT_TRUE(in.has_value()) << in.error().message();
  EXPECT_EQ(in->cases.at(0).reference, (std::vector<double>{2}));
  EXPECT_EQ(in->cases.at(0).candidate, (std::vector<double>{1}));
  for (const char* none : {"#0", "#3", "#", "#x"})
    EXPECT_NE(complaint(twins, {.reference = none}).find("no benchmark"), std::string::npos);
}

constexpr const char* kRuns =
    "seq,batch,pair,case,side,position,phase,status,elapsed_ns,reasons\n"
    "0,0,0,x,reference,0,warmup,ok,9,\n"
    "1,0,0,x,candidate,1,warmup,ok,9,\n"
    "2,0,1,x,reference,0,measurement,ok,100,\n"
    "3,0,1,x,candidate,1,measurement,ok,110,\n"
    "4,1,1,x,candidate,0,measurement,ok,120,\n"
    "5,1,1,x,reference,1,measurement,ok,101,\n"
    "6,1,2,x,candidate,0,measurement,failed,1,\n"
    "7,1,2,x,reference,1,measurement,ok,102,\n";

TEST(OwnRuns, the_csv_of_compare_holds_pairs_and_who_ran_first) {
  const auto in = input(kRuns);
  ASSERT_TRUE(in.has_value()) << in.error().message();
  ASSERT_EQ(in->cases.size(), 1U);
  const AnalyzeData& data = in->cases[0];
  EXPECT_EQ(data.source, "assay_csv");
  EXPECT_EQ(data.name, "x");
  EXPECT_TRUE(data.paired && data.batched);
  EXPECT_EQ(data.reference, (std::vector<double>{100, 101}));
  EXPECT_EQ(data.candidate, (std::vector<double>{110, 120}));
  EXPECT_EQ(data.batch, (std::vector<int>{0, 1}));
  EXPECT_EQ(data.candidate_first, (std::vector<bool>{false, true}));
  EXPECT_EQ(data.pairs_rejected, 1);
}

TEST(OwnRuns, bad_rows_are_refused_with_line_and_column) {
  const auto with = [](const std::string& row) { return complaint(kRuns + row); };
  EXPECT_NE(with("8,1,1,x,reference,1,measurement,ok,5,\n")
                .find("f:10: batch 1, pair 1 holds "
                      "two runs of one side"),
            std::string::npos);
  EXPECT_NE(with("8,2,1,x,left,1,measurement,ok,5,\n").find("f:10: column 'side'"),
            std::string::npos);
  EXPECT_NE(with("8,2,1,x,reference,1,measurement,ok,,\n").find("f:10: column 'elapsed_ns'"),
            std::string::npos);
  EXPECT_NE(with("8,2\n").find("f:10: the row has 2 cells"), std::string::npos);
}

TEST(OwnRuns, a_rejected_pair_or_an_unbalanced_order_keeps_the_gate_from_a_verdict) {
  AnalyzeData data;
  data.name = "x";
  data.paired = data.batched = true;
  for (int b = 0; b < 10; ++b) {
    data.reference.push_back(100 + b);
    data.candidate.push_back(101 + b);
    data.batch.push_back(b);
    data.candidate_first.push_back(b % 2 == 0);
  }
  const auto gate = [](const AnalyzeData& one) {
    return derive_analysis({one}, {.draws = 10, .cap = 2}).at("gate");
  };
  EXPECT_EQ(gate(data).at("verdict"), "PASS");
  AnalyzeData rejected = data;
  rejected.pairs_rejected = 1;
  EXPECT_EQ(gate(rejected).at("reasons"), Json::array({"pairs_rejected"}));
  AnalyzeData unbalanced = data;
  unbalanced.candidate_first.assign(10, true);
  EXPECT_EQ(gate(unbalanced).at("reasons"), Json::array({"order_unbalanced"}));
  EXPECT_EQ(gate(unbalanced).at("verdict"), "INCONCLUSIVE");
}

}  // namespace
}  // namespace assay::verdict
