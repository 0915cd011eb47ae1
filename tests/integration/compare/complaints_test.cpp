// The numbered public complaints about tools of this kind that a single campaign can show.
#include "harness.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <set>
#include <sstream>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Complaint : public CompareTest {};

TEST_F(Complaint, issue_03_a_small_program_after_a_large_one_reads_small) {
  const Finished done =
      compare({"--batches", "2", "--pairs", "2", payload("hold 200"), payload("hold 1")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  for (const Json& sample : measured("candidate"))
    EXPECT_LT(sample.at("peak_rss_bytes"), 5 << 20);
  for (const Json& sample : measured("reference"))
    EXPECT_GE(sample.at("peak_rss_bytes"), 200 << 20);
}

TEST_F(Complaint, issue_05_a_shell_adds_its_own_memory_and_no_more) {
  for (const char* shell : {"/bin/dash", "/bin/bash"}) {
    if (::access(shell, X_OK) != 0)
      continue;
    const std::string archive = std::string(shell + 5);
    const Finished done = assay({"compare", "--archive", archive, "--batches", "1", "--pairs", "2",
                                 "-S", shell, "true", "true"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    for (const Json& sample : lines("samples.jsonl", archive))
      EXPECT_LT(sample.at("peak_rss_bytes"), 6 << 20) << shell;
  }
}

TEST_F(Complaint, issue_07_a_time_limit_ends_what_would_hang) {
  for (const char* command : {"sleep 600", "sh -c 'kill -STOP $$'"}) {
    const Finished done =
        assay({"compare", "--archive", std::string(1, command[1]), "--batches", "1", "--pairs", "1",
               "-w", "0", "--timeout", "200ms", command, command});
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr("time limit"));
    for (const Json& sample : lines("samples.jsonl", std::string(1, command[1]))) {
      EXPECT_EQ(sample.at("status"), "timeout");
      EXPECT_EQ(sample.at("bound_hit"), "timeout");
    }
  }
  const Finished done = assay({"compare", "--archive", "cat", "--batches", "1", "--pairs", "1",
                               "--timeout", "60s", "cat", "cat"});
  EXPECT_EQ(done.exit_code, 0) << "cat sees the end of its input at once: " << done.err;
}

TEST_F(Complaint, issue_08_a_time_limit_ends_grandchildren_too) {
  const std::string token = "assay-test-token-" + std::to_string(::getpid());
  const std::string command = "sh -c '" + payload("daemon " + token) + "; sleep 600'";
  const Finished done = compare(
      {"--batches", "1", "--pairs", "1", "-w", "0", "--timeout", "500ms", command, command});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(processes_with(token), 0);
  ASSERT_EQ(samples().size(), 2U);
  for (const Json& sample : samples()) {  // the second as the first: nothing went on beside it
    EXPECT_EQ(sample.at("status"), "timeout");
    EXPECT_GE(sample.at("descendants_left"), 2) << "the daemon never started";
  }
}

TEST_F(Complaint, issue_09_a_backgrounded_grandchild_does_not_extend_the_run) {
  const std::string token = "600.0" + std::to_string(::getpid());
  const std::string command = "sh -c '(sleep " + token + " &) ; echo ok'";
  const Finished done = compare(
      {"--batches", "1", "--pairs", "1", "-w", "0", "--oracle-cmd", "echo ok", command, command});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  for (const Json& sample : samples()) {
    EXPECT_EQ(sample.at("status"), "ok");
    EXPECT_GE(sample.at("descendants_left"), 1);
    EXPECT_LT(sample.at("elapsed_ns"), INT64_C(60'000'000'000));
  }
  EXPECT_EQ(processes_with(token), 0);
  EXPECT_GE(report().at("cases").at(0).at("reference").at("descendants_left_runs"), 1);
}

TEST_F(Complaint, issue_10_nothing_writes_after_the_run_has_ended) {
  const std::string command =
      "sh -c '(while :; do echo x >> " + path("growing") + "; done &) ; echo ok'";
  compare({"--batches", "1", "--pairs", "1", "-w", "0", command, command});
  const std::string before = read("growing");
  ::usleep(100000);
  EXPECT_EQ(read("growing"), before);
}

TEST_F(Complaint, issue_12_a_run_that_fails_is_named_and_nothing_before_it_is_lost) {
  const Finished done = compare({"--batches", "10", "--pairs", "2", "-w", "0", payload("exit 0"),
                                 payload("flaky " + path("count") + " 8 3")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("candidate run 8 of 20"), HasSubstr("exit code 3"),
                              HasSubstr("broken on purpose")));
  EXPECT_EQ(samples().size(), 16U);
  const auto runs = measured("candidate");
  ASSERT_EQ(runs.size(), 8U);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_EQ(runs[i].at("status"), "ok");
  EXPECT_EQ(runs[7].at("status"), "failed");
  EXPECT_EQ(runs[7].at("exit_code"), 3);
  const Json made = report();
  EXPECT_EQ(made.at("status"), "failed");
  EXPECT_EQ(made.at("rejected_count"), 1);
  EXPECT_EQ(made.at("rejected_runs").at(0).at("why"), "failed");
  EXPECT_EQ(lines("events.jsonl").back().at("type"), "failed");
}

TEST_F(Complaint, issue_12_ignored_failures_are_measurements) {
  Finished done =
      compare({"-i", "--batches", "2", "--pairs", "2", payload("exit 3"), payload("exit 4")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(report().at("cases").at(0).at("pairs_complete"), 4);
  EXPECT_THAT(report().at("reason_codes"), Contains("exits_differ"));
  done = assay({"compare", "--no-archive", "-i", "--batches", "8", "--pairs", "2", "-w", "0",
                "--fail-if-slower", "900", payload("exit 0"), payload("exit 4")});
  EXPECT_EQ(done.exit_code, 3) << "a side that always fails never passes";
  done = assay({"compare", "--archive", "b", "-i=3,4", "--batches", "2", "--pairs", "2",
                payload("exit 3"), payload("exit 4")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  done = assay({"compare", "--archive", "c", "--ignore-failure=3", "--batches", "2", "--pairs", "2",
                payload("exit 3"), payload("exit 4")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(lines("samples.jsonl", "c").size(), 12U) << "the campaign goes on";
  done = assay({"compare", "--archive", "d", "-i=3", "--fail-fast", "--batches", "2", "--pairs",
                "2", payload("exit 3"), payload("exit 4")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(lines("samples.jsonl", "d").size(), 2U) << "--fail-fast stops it";
}

TEST_F(Complaint, issue_13_a_wrong_output_never_enters_the_sample) {
  write("right.txt", "right\n");
  for (const char* gate : {"", "1000"}) {
    const std::string archive = std::string("a") + gate;
    std::vector<std::string> args = {"compare",
                                     "--archive",
                                     archive,
                                     "-i",
                                     "--batches",
                                     "8",
                                     "--pairs",
                                     "2",
                                     "-w",
                                     "0",
                                     "--oracle",
                                     "right.txt",
                                     payload("alternate " + path(archive + "count")),
                                     "echo right"};
    if (gate[0] != '\0')
      args.insert(args.begin() + 3, {"--fail-if-slower", gate});
    const Finished done = assay(args);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    const Json made = report(archive);
    EXPECT_EQ(made.at("status"), "failed");
    EXPECT_NE(made.at("overall").at("status"), "PASS");
    EXPECT_EQ(made.at("rejected_count"), 8) << "every second of sixteen";
    EXPECT_EQ(made.at("cases").at(0).at("pairs_complete"), 8);
    EXPECT_THAT(done.out, Not(HasSubstr("PASS")));
  }
}

TEST_F(Complaint, issue_13_output_that_differs_once_stops_the_campaign) {
  write("right.txt", "right\n");
  const Finished done =
      compare({"--batches", "8", "--pairs", "2", "-w", "0", "--oracle", "right.txt",
               "--fail-if-slower", "1000", "echo right", payload("wrong " + path("count") + " 5")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("candidate run 5 of 16"), HasSubstr("wrong output"),
                              HasSubstr("\"right\\n\""), HasSubstr("\"wrong\\n\"")));
  EXPECT_EQ(samples().size(), 10U);
  EXPECT_NE(report().at("overall").at("status"), "PASS");
}

TEST_F(Complaint, issue_13_a_warm_up_is_held_to_the_oracle_too) {
  write("right.txt", "right\n");
  const Finished done =
      compare({"--batches", "2", "--pairs", "2", "-w", "1", "--oracle", "right.txt", "echo right",
               payload("wrong " + path("count") + " 1")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("warm-up run 1"));
}

TEST_F(Complaint, issue_14_stdout_is_never_the_null_device_unless_asked_for) {
  const Finished done =
      compare({"--batches", "1", "--pairs", "1", payload("notnull"), payload("notnull")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_F(Complaint, issue_15_every_interval_names_method_level_and_counts) {
  const Finished done =
      compare({"--batches", "8", "--pairs", "2", payload("spin 100000"), payload("spin 100000")});
  const Json wall = report().at("verdicts").at("wall");
  EXPECT_EQ(wall.at("method"), "clustered-signed-rank-v1");
  EXPECT_EQ(wall.at("level"), 0.95);
  EXPECT_EQ(wall.at("n_pairs"), 16);
  EXPECT_EQ(wall.at("n_batches"), 8);
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("clustered-signed-rank-v1"), HasSubstr("95 %"), HasSubstr("16")));
}

void for_each_number(const Json& json, const std::string& key,
                     const std::function<void(const std::string&, const Json&)>& visit) {
  if (json.is_number())
    visit(key, json);
  else if (json.is_object())
    for (const auto& [name, value] : json.items())
      for_each_number(value, name, visit);
  else if (json.is_array())
    for (const Json& value : json)
      for_each_number(value, key, visit);
}

TEST_F(Complaint, issue_17_very_fast_commands_give_finite_positive_numbers) {
  for (const auto& mode : std::vector<std::vector<std::string>>{
           {}, {"-S", "sh"}, {"--output", "null"}, {"-i"}, {"--no-layout-padding"}}) {
    std::vector<std::string> args = {
        "compare",   "--archive", "a" + std::to_string(mode.size()) + (mode.empty() ? "" : mode[0]),
        "--batches", "8",         "--pairs",
        "2"};
    const std::string archive = args[2];
    args.insert(args.end(), mode.begin(), mode.end());
    args.insert(args.end(), {"true", "true"});
    const Finished done = assay(args);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    for (const Json& sample : lines("samples.jsonl", archive)) {
      EXPECT_GT(sample.at("elapsed_ns"), 0);
      EXPECT_GE(sample.at("user_ns"), 0);
    }
    for (const char* bad : {"nan", "inf"}) {
      EXPECT_THAT(read(archive + "/report.json"), Not(HasSubstr(std::string(":") + bad)));
      EXPECT_THAT(done.out, Not(HasSubstr(std::string(" ") + bad)));
    }
  }
}

TEST_F(Complaint, issue_18_the_gap_between_runs_is_reported_per_side) {
  compare(
      {"--batches", "2", "--pairs", "3", "-p", "true", "-p", payload("sleep 20"), "true", "true"});
  const Json gap = report().at("cases").at(0).at("diagnostics").at("gap_ns");
  EXPECT_GE(gap.at("candidate"), 20'000'000) << "it idles at least as long as its prepare sleeps";
  EXPECT_GT(gap.at("reference"), 0);
}

TEST_F(Complaint, issue_18_idle_gaps_can_be_made_equal) {
  compare({"--idle-gap", "--batches", "2", "--pairs", "3", "-w", "1", "-p", "true", "-p",
           payload("sleep 50"), "true", "true"});
  const auto all = samples();
  for (std::size_t i = 6; i < all.size(); ++i) {
    const auto at = [&](std::size_t k, const char* key) {
      const Json& value = all[k].at(key);
      return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<std::int64_t>();
    };
    const auto gap =
        at(i, "start_monotonic_ns") - at(i - 1, "start_monotonic_ns") - at(i - 1, "elapsed_ns");
    EXPECT_GE(gap, 49'000'000) << "every run waits as long as the slowest prepare, run " << i;
  }
}

TEST_F(Complaint, issue_19_every_sample_has_every_figure_in_both_formats) {
  compare({"--batches", "1", "--pairs", "2", "--export-csv", "s.csv", "true", "true"});
  const std::string csv = read("s.csv");
  const std::string header = csv.substr(0, csv.find('\n'));
  for (const char* key :
       {"seq", "batch", "pair", "case", "side", "position", "phase", "status", "exit_code",
        "signal", "elapsed_ns", "user_ns", "system_ns", "peak_rss_bytes", "minor_faults",
        "major_faults", "voluntary_switches", "involuntary_switches", "start_monotonic_ns"}) {
    EXPECT_THAT(header, HasSubstr(key));
    for (const Json& sample : samples())
      EXPECT_TRUE(sample.contains(key)) << key;
  }
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6);
}

TEST_F(Complaint, issue_20_the_machine_is_described_or_said_to_be_unreadable) {
  compare({"--batches", "1", "--pairs", "1", "true", "true"});
  const std::string host = read("archive/host.json");
  for (const char* fact : {"cpu", "kernel", "governor", "load", "clock", "aslr", "source", "g++"})
    EXPECT_THAT(host, HasSubstr(fact));
  const auto parsed = parse_json(host, "host.json");
  ASSERT_TRUE(parsed);
  for (const char* fact :
       {"cpu_model", "kernel_release", "governor", "load1", "clock_source", "aslr"}) {
    ASSERT_TRUE(parsed->contains(fact)) << fact;
    const Json& entry = parsed->at(fact);
    EXPECT_NE(entry.at("value").is_null(), !entry.contains("reason")) << fact << entry;
  }
  for (const Json& sample : samples())
    EXPECT_TRUE(!sample.at("load1").is_null() || sample.at("reasons").contains("load1"));
}

TEST_F(Complaint, issue_21_numbers_carry_their_unit_and_files_their_schema) {
  compare({"--batches", "8", "--pairs", "2", payload("spin 100000"), payload("spin 100000")});
  const Json made = report();
  EXPECT_EQ(made.at("schema").at("name"), "assay.report.compare");
  EXPECT_EQ(made.at("schema").at("major"), 1);
  // Counts, labels, ratios and probabilities have no unit.
  std::istringstream list(
      "major minor seed warmups looks stopped_at_look level one_sided_alpha estimate lower upper "
      "cap "
      "p_t p_flip p_holm b50 b80 at_batches probability draws p_fail runs p r candidate_first "
      "reference_first high low batch_share trend_p seq batch pair exit_code signal rejected_count "
      "slow_share candidate_slow reference_slow descendants_left_runs value n_pairs n_batches "
      "pairs_per_batch");
  std::set<std::string> pure;
  for (std::string key; list >> key;)
    pure.insert(key);
  for_each_number(made, "", [&pure](const std::string& key, const Json&) {
    const bool count =
        key.rfind("pairs_", 0) == 0 || key.rfind("batches_", 0) == 0 || key.rfind("runs_", 0) == 0;
    const bool unit = count || key.find("_ns") != std::string::npos ||
                      key.find("_bytes") != std::string::npos ||
                      key.find("percent") != std::string::npos || key.rfind("find_", 0) == 0 ||
                      key == "reference" || key == "candidate";  // inside gap_ns
    EXPECT_TRUE(unit || pure.count(key) != 0) << "no unit in key " << key;
  });
}

TEST_F(Complaint, issue_22_hostile_names_stay_apart_and_make_no_files) {
  const std::string long_a = std::string(64, 'n') + "one" + std::string(240, 'x');
  const std::string long_b = std::string(64, 'n') + "two" + std::string(240, 'x');
  const std::vector<std::string> hostile = {"ref",
                                            long_a,
                                            long_b,
                                            "../../up",
                                            "a:b",
                                            "line\nbreak",
                                            "\xf0\x9f\x90\x8d",
                                            "bad\xff"
                                            "utf8"};
  std::vector<std::string> args = {"--batches",      "2",     "--pairs",           "1",
                                   "--export-junit", "j.xml", "--export-markdown", "m.md",
                                   "--export-csv",   "s.csv"};
  for (const std::string& name : hostile)
    args.insert(args.end(), {"-n", name});
  args.resize(args.size() + hostile.size(), "true");
  const Finished done = compare(args);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::set<std::string> names;
  const Json made = report();
  for (const Json& one : made.at("cases"))
    names.insert(one.at("name").get<std::string>());
  EXPECT_EQ(names.size(), hostile.size() - 1);
  EXPECT_FALSE(exists("../up"));
  EXPECT_TRUE(is_valid_utf8(done.out));
  EXPECT_TRUE(is_valid_utf8(read("j.xml")));
}

TEST_F(Complaint, issue_22_commands_with_newlines_and_invalid_utf8_are_run_as_given) {
  write("args.sh", "printf '%s' \"$1\" | od -An -tx1\n");
  const Finished done = compare({"--batches", "1", "--pairs", "1", "-w", "0",
                                 "sh args.sh 'a\nb\xff'", "sh args.sh 'a\nb\xff'"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::string digest = samples().at(0).at("stdout_sha256").get<std::string>();
  EXPECT_EQ(read("archive/blobs/sha256/" + digest.substr(0, 2) + "/" + digest), " 61 0a 62 ff\n");
  EXPECT_TRUE(is_valid_utf8(read("archive/policy.json")));
}

TEST_F(Complaint, issue_25_missing_counters_are_a_reason_and_not_a_crash) {
  compare({"--batches", "1", "--pairs", "1", "true", "true"});
  const auto host = parse_json(read("archive/host.json"), "host.json");
  ASSERT_TRUE(host);
  const Json& counters = host->at("perf_counters");
  if (counters.at("value").is_null())
    EXPECT_THAT(counters.at("reason").get<std::string>(),
                ::testing::MatchesRegex("perf_unavailable:E[A-Z]+"));
  else
    EXPECT_FALSE(counters.contains("reason"));
}

}  // namespace
}  // namespace assay::testing_compare
