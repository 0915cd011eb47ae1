// `assay analyze` from the outside: files in, numbers and exit code out.
#include "harness.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace assay {
namespace {

using testing::HasSubstr;

const std::string kFixture = std::string(ASSAY_SOURCE_DIR) + "/tests/integration/analyze/pairs.csv";

class Analyze : public AnalyzeTest {};

std::vector<std::string> fixture(std::vector<std::string> more) {
  std::vector<std::string> words = {kFixture, "--reference", "old_ns", "--candidate", "new_ns"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The expected figures come from an independent implementation on CPython's own generator.
TEST_F(Analyze, method_one_equals_an_independent_implementation_to_the_last_digit) {
  const Ended ended = run(fixture({"--seed", "12345", "--draws", "2000", "--json"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json interval = ended.json().at("intervals").at("hierarchical-percentile-v1");
  EXPECT_EQ(interval.at("estimate").get<double>(), 1.0292078894344767);
  EXPECT_EQ(interval.at("lower").get<double>(), 1.0234886997658024);
  EXPECT_EQ(interval.at("upper").get<double>(), 1.0335496191803297);
  EXPECT_EQ(ended.json().at("pairs"), 60);
  EXPECT_EQ(ended.json().at("batches"), 10);
}

TEST_F(Analyze, published_pairs_give_the_published_interval) {
  const char* named = std::getenv("ASSAY_REAL_DATA");
  const std::string root =
      named != nullptr ? named : std::string(ASSAY_SOURCE_DIR) + "/../shared/data";
  const std::string path = root + "/turbo/fib-pairs.csv";
  if (!read_file(path))
    GTEST_SKIP() << "no real data at " << root << " (ASSAY_REAL_DATA)";
  const Ended ended = run({path, "--reference", "rust_ns", "--candidate", "turbo_ns", "--seed",
                           "20260906", "--draws", "2000", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(R"("hierarchical-percentile-v1":{"estimate":1.4439478697887962,)"
                                   R"("level":0.95,"lower":1.4324858987848403,)"
                                   R"("upper":1.4618358961885405})"));
  EXPECT_EQ(ended.json().at("batches"), 3);
}

TEST_F(Analyze, the_same_words_give_the_same_bytes_and_another_seed_does_not) {
  const Ended a = run(fixture({"--json", "--seed", "1"}));
  EXPECT_EQ(a.out, run(fixture({"--json", "--seed", "1"})).out);
  EXPECT_NE(a.out, run(fixture({"--json", "--seed", "2"})).out);
  EXPECT_EQ(a.out.back(), '\n');
  EXPECT_TRUE(parse_canonical_json(std::string_view(a.out).substr(0, a.out.size() - 1), "out"));
}

TEST_F(Analyze, a_cap_becomes_the_exit_code) {
  EXPECT_EQ(run(fixture({"--cap", "1.10"})).code, 0);
  EXPECT_EQ(run(fixture({"--cap", "1.01"})).code, 1);
  EXPECT_EQ(run(fixture({"--cap", "1.029"})).code, 4);
  const Ended failed = run(fixture({"--cap", "1.01"}));
  EXPECT_THAT(failed.out, HasSubstr("gate at ratio 1.01 (+1 %): FAIL"));
  EXPECT_THAT(failed.out, HasSubstr("the candidate is slower"));
  EXPECT_THAT(failed.out, HasSubstr("order_not_recorded"));
}

TEST_F(Analyze, three_exports_are_recognised_and_never_gated) {
  const std::string hyperfine =
      file("h.json",
           R"({"results":[{"command":"a","times":[1,1.1,1.2]},{"command":"b","times":[2,2.2]}]})");
  const std::string google = file(
      "g.json",
      R"({"context":{},"benchmarks":[{"name":"a","real_time":1,"time_unit":"ns"},)"
      R"({"name":"a","real_time":2,"time_unit":"ns"},{"name":"b","real_time":3,"time_unit":"us"}]})");
  const std::string pyperf = file(
      "p.json",
      R"({"benchmarks":[{"metadata":{"name":"a"},"runs":[{"values":[1,2]}]},)"
      R"({"metadata":{"name":"b"},"runs":[{"values":[2,4]},{"values":[3]}]}],"version":"1.0"})");
  const std::vector<std::pair<std::string, std::string>> sources = {
      {hyperfine, "hyperfine"}, {google, "google_benchmark"}, {pyperf, "pyperf"}};
  EXPECT_THAT(run({hyperfine}).out, HasSubstr("median: reference 1.1 s, candidate 2.1 s\n"));
  for (const auto& [path, source] : sources) {
    const Ended ended = run({path, "--json", "--cap", "100000"});
    SCOPED_TRACE(source + " " + ended.err);
    EXPECT_EQ(ended.code, 2);  // the cap's range is checked
    const Ended gated = run({path, "--json", "--cap", "2"});
    EXPECT_EQ(gated.code, 4);
    EXPECT_EQ(gated.json().at("source"), source);
    EXPECT_EQ(gated.json().at("gate").at("reasons"), Json::array({"unpaired_data"}));
    EXPECT_TRUE(gated.json().at("intervals").contains("unpaired-percentile-v1"));
    EXPECT_EQ(run({path}).code, 0);
    EXPECT_THAT(run({path}).out, HasSubstr("unpaired_data"));
  }
}

TEST_F(Analyze, two_files_are_matched_by_name) {
  const std::string a = file("a.json", R"({"context":{},"benchmarks":[{"name":"x","real_time":1},)"
                                       R"({"name":"gone","real_time":1}]})");
  const std::string b =
      file("b.json", R"({"context":{},"benchmarks":[{"name":"x","real_time":2}]})");
  const Ended ended = run({a, b});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("not analysed, in one file only: gone"));
  EXPECT_EQ(run({a, b, "--json"}).json().at("unmatched"), Json::array({"gone"}));
}

TEST_F(Analyze, bad_input_exits_2_and_names_the_place) {
  const std::string bad = file("bad.csv", "batch,pair,reference_ns,candidate_ns\n0,0,1,0\n");
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{}, "FILE"},
      {{directory_ + "/none.csv"}, "none.csv"},
      {{directory_}, directory_ + ": is a directory, and no archive"},
      {{""}, "the file name is empty"},
      {{fifo}, "fifo: is a FIFO"},
      {{"-"}, "standard input is not read: write it to a file"},
      {{file("units.csv", "reference_ns,candidate_ms\n1,2\n"), "--candidate", "candidate_ms",
        "--cap", "2"},
       "the reference 'reference_ns' is in ns, the candidate 'candidate_ms' in ms"},
      {{bad}, "bad.csv:2: column 'candidate_ns'"},
      {{file("tiny.csv", "reference_ns,candidate_ns\n1e-308,1\n")},
       "tiny.csv:2: column 'reference_ns'"},
      {{file("huge.csv", "reference_ns,candidate_ns\n1,1e308\n")}, "between 1e-100 and 1e100"},
      {{file("h.json",
             R"({"results":[{"command":"a","times":[1e308]},{"command":"b","times":[1]}]})")},
       "between 1e-100 and 1e100"},
      {{kFixture}, "--reference"},
      {fixture({"--method", "clustered"}), "clustered-signed-rank-v1"},
      {fixture({"--cap", "nan"}), "--cap"},
      {fixture({"--seed", "-1"}), "--seed"},
      {fixture({"--draws", "0"}), "--draws"},
      {fixture({"--level", "2"}), "--level"},
      {fixture({"--format", "xml"}), "--format"},
      {fixture({"--batch", "nosuch"}), "nosuch"},
      {fixture({"--frobnicate"}), "--frobnicate"},
      {{file("e.json", "{\"results\":")}, "e.json"},
      {{bad, bad, bad}, ""},
  };
  for (const auto& [words, text] : table) {
    const Ended ended = run(words);
    SCOPED_TRACE(ended.err);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr(text));
  }
}

// What compare measured gives the same interval again, from its archive and from its CSV.
TEST_F(Analyze, an_archive_carries_what_its_report_holds_against_its_runs) {
  const auto campaign = [this](const std::string& name, const std::vector<std::string>& commands) {
    std::vector<std::string> words = {std::string(ASSAY_BINARY_DIR) + "/assay",
                                      "compare",
                                      "--batches",
                                      "8",
                                      "--pairs",
                                      "1",
                                      "--archive",
                                      directory_ + "/" + name,
                                      "--style",
                                      "none"};
    words.insert(words.end(), commands.begin(), commands.end());
    return std::system(("timeout 120 " + join_command(words) + " 2>/dev/null").c_str());
  };
  ASSERT_EQ(campaign("differ", {"echo a", "sh -c 'sleep 0.01; echo b'"}), 0);
  const Ended differ = run({directory_ + "/differ", "--json"});
  EXPECT_EQ(differ.json().at("finding"), "slower");
  EXPECT_EQ(differ.json().at("reasons"), Json::array({"outputs_differ"}));
  file("fail.sh", "echo >>'" + directory_ + "/runs'; [ $(wc -l <'" + directory_ +
                      "/runs') -lt 16 ] && sleep 0.01\n");
  ASSERT_NE(campaign("failed", {"true", "sh " + directory_ + "/fail.sh"}), 0);
  const Ended failed = run({directory_ + "/failed"});
  EXPECT_THAT(failed.out, HasSubstr("no claim"));
  EXPECT_THAT(failed.out, HasSubstr("run_failed: "));
  EXPECT_THAT(failed.out, HasSubstr("campaign_failed: "));
}

TEST_F(Analyze, an_archive_and_the_csv_of_compare_give_the_reports_interval) {
  const std::string archive = directory_ + "/archive";
  const std::string csv = directory_ + "/runs.csv";
  const std::string report = directory_ + "/report.json";
  const std::string compare =
      join_command({std::string(ASSAY_BINARY_DIR) + "/assay", "compare", "--batches", "8",
                    "--pairs", "2", "--archive", archive, "--export-csv", csv, "--export-json",
                    report, "--style", "none", "true", "/bin/true"});
  ASSERT_EQ(std::system(("timeout 120 " + compare).c_str()), 0);
  const Json wall = Json::parse(*read_file(report)).at("cases").at(0).at("verdicts").at("wall");
  for (const std::string& path : {archive, csv}) {
    const Ended ended = run({path, "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json interval = ended.json().at("intervals").at("clustered-signed-rank-v1");
    for (const char* key : {"estimate", "lower", "upper"})
      EXPECT_EQ(interval.at(key), wall.at(key)) << path << " " << key;
    EXPECT_EQ(ended.json().at("pairs"), 16);
    EXPECT_TRUE(ended.json().at("intervals").contains("hierarchical-percentile-v1"));
    EXPECT_EQ(ended.out.find("order_not_recorded"), std::string::npos);
  }
  EXPECT_THAT(run({report}).err, HasSubstr("give the archive's directory"));
  EXPECT_THAT(run({archive, csv}).err, HasSubstr("give it alone"));
  EXPECT_THAT(run({archive, "--reference", "x"}).err, HasSubstr("--reference: an archive"));
  for (const std::string& path : {archive, csv}) {
    const Ended gated = run({path, "--cap", "50"});
    EXPECT_EQ(gated.code, 2);
    EXPECT_THAT(gated.err, HasSubstr("--cap: the runs of a campaign are judged by its own report"));
  }
  std::filesystem::rename(archive + "/plan.json", archive + "/plan");
  EXPECT_THAT(run({archive}).err, HasSubstr("plan.json: is missing or not as"));
  std::filesystem::rename(archive + "/plan", archive + "/plan.json");
  std::filesystem::permissions(archive + "/samples.jsonl", std::filesystem::perms::owner_all);
  std::ofstream(archive + "/samples.jsonl", std::ios::app) << "\n";
  const Ended damaged = run({archive});
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("samples.jsonl: is missing or not as the campaign wrote it"));
  std::filesystem::remove(archive + "/SHA256SUMS");
  EXPECT_THAT(run({archive}).err, HasSubstr("without SHA256SUMS"));
}

TEST_F(Analyze, long_work_shows_progress_only_where_asked_for_off_a_terminal) {
  // More than a second's work.
  EXPECT_EQ(run(fixture({"--draws", "2000000"})).err, "");
  EXPECT_THAT(run(fixture({"--draws", "20000", "--style", "basic"})).err,
              HasSubstr("/20000 draws ("));
  EXPECT_EQ(run(fixture({"--style", "none"})).out, "");
}

TEST_F(Analyze, help_fits_a_screen_and_shows_examples) {
  const Ended ended = run({"--help"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("assay analyze pairs.csv"));
  EXPECT_LE(std::count(ended.out.begin(), ended.out.end(), '\n'), 45);
}

}  // namespace
}  // namespace assay
