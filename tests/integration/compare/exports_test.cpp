// What is printed and exported.
#include "harness.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Exports : public CompareTest {};

TEST_F(Exports, json_on_stdout_and_in_a_file_are_exactly_the_bytes_of_the_report) {
  const Finished done = compare(
      {"--json", "--export-json", "r.json", "--batches", "2", "--pairs", "1", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, read("archive/report.json"));
  EXPECT_EQ(read("r.json"), done.out);
  EXPECT_EQ(done.out.back(), '\n');
}

TEST_F(Exports, every_format_is_written) {
  std::vector<std::string> args = {"--batches", "2", "--pairs", "1"};
  for (const char* kind :
       {"json", "csv", "markdown", "asciidoc", "orgmode", "junit", "github", "hyperfine"})
    args.insert(args.end(), {std::string("--export-") + kind, std::string("x.") + kind});
  args.insert(args.end(), {"--fail-if-slower", "1000", "true", "true"});
  const Finished done = compare(args);
  EXPECT_EQ(done.exit_code, 4) << done.err;
  EXPECT_THAT(read("x.csv"), HasSubstr("elapsed_ns"));
  EXPECT_THAT(read("x.markdown"), HasSubstr("|"));
  EXPECT_THAT(read("x.asciidoc"), HasSubstr("|==="));
  EXPECT_THAT(read("x.orgmode"), HasSubstr("|"));
  EXPECT_THAT(read("x.junit"), AllOf(StartsWith("<?xml"), HasSubstr("<testsuite")));
  EXPECT_THAT(read("x.github"), StartsWith("::"));
  const auto hyperfine = parse_json(read("x.hyperfine"), "hyperfine");
  ASSERT_TRUE(hyperfine) << hyperfine.error().message();
  EXPECT_EQ(hyperfine->at("results").size(), 2U);
  for (const char* key : {"command", "mean", "stddev", "median", "user", "system", "min", "max",
                          "times", "exit_codes"})
    EXPECT_TRUE(hyperfine->at("results").at(0).contains(key)) << key;
  EXPECT_EQ(hyperfine->at("results").at(0).at("times").size(), 2U);
}

TEST_F(Exports, one_export_may_go_to_stdout_and_is_alone_there) {
  const Finished done =
      compare({"--export-csv", "-", "--batches", "1", "--pairs", "1", "-w", "0", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 3);
  EXPECT_THAT(done.err, HasSubstr("archive"));
}

TEST_F(Exports, one_that_fails_at_the_end_takes_neither_the_others_nor_the_report_with_it) {
  // A directory in its place: found by nobody before the first run.
  write("block.sh", "mkdir -p " + path("r.csv") + "\n");
  const Finished done =
      compare({"--export-csv", "r.csv", "--export-json", "r.json", "--batches", "1", "--pairs", "1",
               "-C", "sh " + path("block.sh"), "true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--export-csv r.csv"));
  EXPECT_THAT(done.out, HasSubstr("assay comparison"));
  EXPECT_EQ(read("r.json"), read("archive/report.json"));
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

TEST_F(Exports, a_program_that_prints_to_our_stdout_is_kept_out_of_documents) {
  for (const std::vector<std::string>& document :
       {std::vector<std::string>{"--json"}, {"--export-csv", "-"}}) {
    std::vector<std::string> args = document;
    args.insert(args.end(), {"--output", "inherit", "echo x", "echo x"});
    const Finished done = compare(args);
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, AllOf(HasSubstr("--output: inherit"), HasSubstr(document[0])));
    EXPECT_FALSE(exists("archive"));
  }
}

TEST_F(Exports, a_rehearsal_checks_every_place_and_prints_its_documents) {
  write("file", "");
  for (const std::vector<std::string>& place : {std::vector<std::string>{"--store", "file/store"},
                                                {"--export-json", "no/such/place"},
                                                {"--output", "no/such/place"}}) {
    std::vector<std::string> args = {"compare", "--dry-run"};
    args.insert(args.end(), place.begin(), place.end());
    args.insert(args.end(), {"true", "true"});
    const Finished done = assay(args);
    EXPECT_EQ(done.exit_code, 2) << place[0];
    EXPECT_THAT(done.err, HasSubstr(place[1]));
  }
  const Finished done = assay({"compare", "--dry-run", "--json", "--seed", "7", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto documents = parse_json(done.out, "stdout");
  ASSERT_TRUE(documents) << done.out;
  compare({"--seed", "7", "true", "true"});
  EXPECT_EQ(canonical_json(documents->at("plan")) + "\n", read("archive/plan.json"));
  EXPECT_EQ(canonical_json(documents->at("policy")) + "\n", read("archive/policy.json"));
}

TEST_F(Exports, an_export_replaces_an_older_file) {
  write("r.json", "old");
  compare({"--export-json", "r.json", "--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_EQ(read("r.json"), read("archive/report.json"));
}

TEST_F(Exports, without_a_terminal_there_are_no_escapes_and_progress_stays_on_stderr) {
  const Finished done = compare({"--batches", "2", "--pairs", "1", "true", "true"});
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("\r")));
  EXPECT_THAT(done.err, HasSubstr("pairs"));
  EXPECT_THAT(done.out, Not(HasSubstr("ETA")));
}

TEST_F(Exports, colours_appear_only_when_asked_for) {
  const std::vector<std::string> common = {"--no-archive", "--batches", "2", "--pairs", "1",
                                           "true",         "true"};
  const auto with_style = [&](const std::string& style) {
    std::vector<std::string> args = {"compare", "--style", style};
    args.insert(args.end(), common.begin(), common.end());
    return assay(args);
  };
  EXPECT_THAT(with_style("color").out, HasSubstr("\x1b["));
  EXPECT_THAT(with_style("nocolor").out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(with_style("none").out, "");
  EXPECT_EQ(with_style("none").err, "");
}

TEST_F(Exports, no_ratio_is_shown_before_the_end) {
  const Finished done =
      compare({"--batches", "8", "--pairs", "1", payload("spin 100000"), payload("spin 100000")});
  EXPECT_THAT(done.err, Not(HasSubstr("slower")));
  EXPECT_THAT(done.err, Not(HasSubstr("ratio")));
}

TEST_F(Exports, results_are_written_although_a_run_failed) {
  const Finished done =
      compare({"--export-json", "r.json", "--export-csv", "s.csv", "--batches", "4", "--pairs", "1",
               "-w", "0", "true", payload("flaky " + path("count") + " 2 1")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(read("r.json"), read("archive/report.json"));
  const std::string csv = read("s.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4);
}

TEST_F(Exports, help_names_every_flag_and_fits_its_examples) {
  const Finished done = assay({"compare", "--help"});
  EXPECT_EQ(done.exit_code, 0);
  for (const char* flag : {"--warmup",
                           "--min-runs",
                           "--max-runs",
                           "--runs",
                           "--setup",
                           "--prepare",
                           "--conclude",
                           "--cleanup",
                           "--parameter-scan",
                           "--parameter-step-size",
                           "--parameter-list",
                           "--shell",
                           "-N",
                           "--ignore-failure",
                           "--command-name",
                           "--reference",
                           "--reference-name",
                           "--time-unit",
                           "--style",
                           "--sort",
                           "--output",
                           "--show-output",
                           "--input",
                           "--export-json",
                           "--export-csv",
                           "--export-markdown",
                           "--export-asciidoc",
                           "--export-orgmode",
                           "--export-junit",
                           "--export-github",
                           "--export-hyperfine",
                           "--json",
                           "--batches",
                           "--pairs",
                           "--seed",
                           "--adaptive",
                           "--timeout",
                           "--oracle",
                           "--oracle-cmd",
                           "--fail-if-slower",
                           "--fail-if-cpu-slower",
                           "--fail-if-bigger-rss",
                           "--tail-gate",
                           "--require-empty-stderr",
                           "--fail-fast",
                           "--cpu",
                           "--archive",
                           "--no-archive",
                           "--store",
                           "--no-layout-padding",
                           "--resolve",
                           "--max-output",
                           "--verbose",
                           "--dry-run"})
    EXPECT_THAT(done.out, HasSubstr(flag));
  EXPECT_THAT(done.out, HasSubstr("assay compare './old"));
}

}  // namespace
}  // namespace assay::testing_compare
