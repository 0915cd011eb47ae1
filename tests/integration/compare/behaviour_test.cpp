// What a campaign does, seen from its archive and from the programs that it runs.
#include "harness.h"

#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <map>
#include <sched.h>
#include <set>
#include <sstream>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Behaviour : public CompareTest {
 protected:
  // "words side iteration padding" lines that `payload log` wrote.
  std::vector<std::vector<std::string>> log() const {
    std::vector<std::vector<std::string>> out;
    std::istringstream text(read("log"));
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      out.emplace_back();
      for (std::string word; words >> word;)
        out.back().push_back(word);
    }
    return out;
  }
  std::vector<std::string> first_words() const {
    std::vector<std::string> out;
    for (const auto& line : log())
      out.push_back(line.at(0));
    return out;
  }
  std::string logs(const std::string& words) const {
    return payload("log " + path("log") + " " + words);
  }
};

TEST_F(Behaviour, the_runs_follow_the_plan_and_every_run_is_a_sample) {
  const Finished done =
      compare({"--batches", "3", "--pairs", "4", "-w", "1", "--seed", "11", logs("R"), logs("C")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto plan = parse_json(read("archive/plan.json"), "plan");
  ASSERT_TRUE(plan);
  const std::vector<Json> all = samples();
  ASSERT_EQ(all.size(), 30U);
  ASSERT_EQ(plan->at("runs").size(), all.size());
  const auto words = first_words();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].at("seq"), static_cast<std::int64_t>(i));
    EXPECT_EQ(words.at(i), all[i].at("side") == "reference" ? "R" : "C") << i;
  }
  EXPECT_EQ(report().at("scope").at("seed"), 11);
  EXPECT_EQ(report().at("status"), "measured");
}

TEST_F(Behaviour, the_same_seed_gives_the_same_order_and_another_seed_another) {
  for (const char* name : {"a", "b", "c"}) {
    const Finished done = assay({"compare", "--archive", name, "--batches", "4", "--pairs", "3",
                                 "--seed", name[0] == 'c' ? "2" : "1", "true", "true"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
  }
  EXPECT_EQ(read("a/plan.json"), read("b/plan.json"));
  EXPECT_NE(read("a/plan.json"), read("c/plan.json"));
}

TEST_F(Behaviour, padding_is_one_variable_that_is_equal_inside_a_batch) {
  compare({"--batches", "4", "--pairs", "2", "-w", "0", logs("R"), logs("C")});
  std::map<std::int64_t, std::set<std::string>> by_batch;
  std::set<std::string> all;
  const auto lines = log();
  const auto runs = samples();
  ASSERT_EQ(lines.size(), runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_NE(lines[i].at(3), "-1") << "ASSAY_PAD is always present";
    by_batch[runs[i].at("batch").get<std::int64_t>()].insert(lines[i].at(3));
    all.insert(lines[i].at(3));
  }
  for (const auto& [batch, lengths] : by_batch)
    EXPECT_EQ(lengths.size(), 1U) << batch;
  EXPECT_GT(all.size(), 1U);
}

TEST_F(Behaviour, padding_can_be_turned_off) {
  compare({"--no-layout-padding", "--batches", "2", "--pairs", "1", logs("R"), logs("C")});
  for (const auto& line : log())
    EXPECT_EQ(line.at(3), "-1");
}

TEST_F(Behaviour, both_runs_of_a_pair_see_the_same_iteration_number) {
  compare({"--batches", "2", "--pairs", "3", "-w", "1", logs("R"), logs("C")});
  const auto lines = log();
  ASSERT_EQ(lines.size(), 16U);
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    EXPECT_EQ(lines[i].at(2), std::to_string(i / 2));
    EXPECT_EQ(lines[i + 1].at(2), std::to_string(i / 2));
  }
}

TEST_F(Behaviour, hooks_run_where_they_are_promised) {
  const Finished done = compare({"--batches", "2", "--pairs", "1", "-w", "0", "-s", logs("setup"),
                                 "-c", logs("cleanup"), "-p", logs("prepare"), "-C",
                                 logs("conclude"), logs("run"), logs("run")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::vector<std::string> expected;
  for (int batch = 0; batch < 2; ++batch)
    for (const char* word : {"setup", "setup", "prepare", "run", "conclude", "prepare", "run",
                             "conclude", "cleanup", "cleanup"})
      expected.push_back(word);
  EXPECT_EQ(first_words(), expected);
  const auto lines = log();
  EXPECT_EQ(lines[0].at(1), "reference");
  EXPECT_EQ(lines[1].at(1), "candidate");
  EXPECT_EQ(lines[3].at(1), "-") << "measured runs do not see ASSAY_SIDE";
}

TEST_F(Behaviour, a_prepare_per_command_runs_for_its_own_side) {
  compare({"--batches", "1", "--pairs", "2", "-w", "0", "-p", logs("pR"), "-p", logs("pC"),
           logs("R"), logs("C")});
  const auto words = first_words();
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    EXPECT_EQ(words[i], "p" + words[i + 1]);
}

TEST_F(Behaviour, a_failing_hook_stops_the_campaign_and_keeps_what_was_measured) {
  const Finished done = compare({"--batches", "4", "--pairs", "2", "-w", "0", "-p",
                                 payload("flaky " + path("count") + " 7 5"), "true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--prepare"), HasSubstr("exit code 5"),
                              HasSubstr("broken on purpose")));
  EXPECT_EQ(samples().size(), 6U) << "three pairs ended before the seventh prepare";
  EXPECT_EQ(report().at("status"), "failed");
}

TEST_F(Behaviour, a_failing_run_is_named_though_the_hook_behind_it_fails_too) {
  for (const char* pairs : {"1", "2"}) {  // the last run of a pair, and the first of one
    write("fail.sh", "exit 3\n");
    const Finished done =
        assay({"compare", "--no-archive", "--batches", "1", "--pairs", pairs, "-w", "0",
               "--conclude", "false", "sh " + path("fail.sh"), "sh " + path("fail.sh")});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, AllOf(HasSubstr("failed: exit code 3"), HasSubstr("--conclude 'false'")));
    EXPECT_LT(done.err.find("exit code 3"), done.err.find("--conclude 'false'"));
  }
}

TEST_F(Behaviour, a_pair_is_recorded_though_the_hook_behind_its_second_run_fails) {
  write("second.sh", "echo >> " + path("calls") + "; [ $(wc -l < " + path("calls") + ") -lt 4 ]\n");
  const Finished done = compare({"--batches", "1", "--pairs", "3", "-w", "0", "--conclude",
                                 "sh " + path("second.sh"), "true", "/bin/true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(samples().size(), 4U);
}

TEST_F(Behaviour, a_program_that_a_hook_builds_is_named_by_what_ran) {
  write("built", "#!/bin/sh\nexit 0\n", 0755);
  write("new", "#!/bin/sh\nexit 0 # built\n", 0755);
  write("build.sh", "cp " + path("new") + " " + path("built") + "\n");
  const Finished done = compare({"--batches", "2", "--pairs", "1", "-w", "0", "--setup",
                                 "sh " + path("build.sh"), path("built"), "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::string ran = sha256_hex(read("new"));
  const Json made = report();
  EXPECT_EQ(made.at("cases").at(0).at("reference").at("program_sha256"), ran);
  const Json end = lines("events.jsonl").back();
  EXPECT_EQ(
      end.at("built"),
      Json::array({Json{{"case", "candidate"}, {"side", "reference"}, {"program_sha256", ran}}}));
}

TEST_F(Behaviour, more_commands_and_parameters_are_cases_with_their_own_reference) {
  const Finished done = compare({"--batches", "2", "--pairs", "1", "-w", "0", "-L", "n", "1,2",
                                 logs("R{n}"), logs("A{n}"), logs("B{n}")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::vector<std::string> names;
  const Json made = report();
  for (const Json& one : made.at("cases"))
    names.push_back(one.at("name").get<std::string>());
  EXPECT_THAT(names, ElementsAre("candidate-1{n=1}", "candidate-1{n=2}", "candidate-2{n=1}",
                                 "candidate-2{n=2}"));
  std::map<std::string, int> count;
  for (const std::string& word : first_words())
    ++count[word];
  EXPECT_EQ(count, (std::map<std::string, int>{
                       {"R1", 4}, {"R2", 4}, {"A1", 2}, {"A2", 2}, {"B1", 2}, {"B2", 2}}));
  // Interleaved: every batch has all cases.
  std::set<std::string> in_first_batch;
  for (const Json& sample : samples())
    if (sample.at("batch") == 0)
      in_first_batch.insert(sample.at("case").get<std::string>());
  EXPECT_EQ(in_first_batch.size(), 4U);
}

TEST_F(Behaviour, scans_substitute_every_step) {
  compare({"--batches", "1", "--pairs", "1", "-w", "0", "-P", "n", "1", "2", "-D", "0.5",
           logs("{n}"), logs("{n}")});
  const auto words = first_words();
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()),
            (std::set<std::string>{"1.0", "1.5", "2.0"}));
}

TEST_F(Behaviour, an_unused_parameter_is_noted) {
  const Finished done =
      compare({"--batches", "1", "--pairs", "1", "-L", "n", "1,2", "true", "true"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("parameter n"));
}

TEST_F(Behaviour, the_reference_flag_puts_its_command_first) {
  const Finished done = compare({"--reference", logs("R"), "--reference-name", "base", "--batches",
                                 "1", "--pairs", "1", "-n", "", "-n", "new", logs("C")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const Json one = report().at("cases").at(0);
  EXPECT_EQ(one.at("reference").at("name"), "base");
  EXPECT_EQ(one.at("candidate").at("name"), "new");
  EXPECT_EQ(one.at("name"), "new");
}

TEST_F(Behaviour, a_shell_is_used_only_when_asked_for) {
  Finished done = compare({"--batches", "1", "--pairs", "1", "-S", "sh", "echo a | cat", "echo a"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(report().at("cases").at(0).at("outputs_equal"), true);
  done = assay(
      {"compare", "--archive", "b", "--batches", "1", "--pairs", "1", "echo a | cat", "echo a"});
  EXPECT_THAT(done.err, HasSubstr("-S default"));
  EXPECT_EQ(report("b").at("cases").at(0).at("outputs_equal"), false);
}

TEST_F(Behaviour, the_input_file_is_standard_input_and_null_otherwise) {
  write("in.txt", "hello");
  compare({"--batches", "1", "--pairs", "1", "--input", "in.txt", "cat", "cat"});
  for (const Json& sample : samples())
    EXPECT_EQ(sample.at("stdout_bytes"), 5);
  assay({"compare", "--archive", "b", "--batches", "1", "--pairs", "1", "cat", "cat"});
  for (const Json& sample : lines("samples.jsonl", "b"))
    EXPECT_EQ(sample.at("stdout_bytes"), 0);
}

TEST_F(Behaviour, an_oracle_command_runs_once_per_point_before_the_first_run) {
  const Finished done = compare({"--batches", "2", "--pairs", "1", "-w", "0", "-L", "n", "1,2",
                                 "--oracle-cmd", logs("oracle"), logs("R{n}"), logs("C{n}")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto words = first_words();
  EXPECT_EQ(words.at(0), "oracle");
  EXPECT_EQ(std::count(words.begin(), words.end(), "oracle"), 1)
      << "both points have the same oracle command";
}

TEST_F(Behaviour, outputs_that_differ_without_an_oracle_are_reported_and_block_a_gate) {
  Finished done = compare({"--batches", "8", "--pairs", "1", "echo a", "echo b"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(report().at("reason_codes"), Contains("outputs_differ"));
  done = assay({"compare", "--archive", "b", "--batches", "8", "--pairs", "1", "--fail-if-slower",
                "1000", "echo a", "echo b"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
}

TEST_F(Behaviour, fewer_than_eight_batches_with_a_gate_are_inconclusive) {
  const Finished done =
      compare({"--batches", "3", "--pairs", "2", "--fail-if-slower", "1000", "true", "true"});
  EXPECT_EQ(done.exit_code, 4) << done.err;
  EXPECT_THAT(done.err, HasSubstr("too_few_batches"));
  EXPECT_THAT(report().at("overall").at("reasons"), Contains("too_few_batches"));
}

TEST_F(Behaviour, a_gate_that_holds_passes_and_one_that_is_broken_fails) {
  // CPU work that differs by a factor of ten: no noise decides this.
  const std::string small = payload("spin 3000000"), large = payload("spin 30000000");
  Finished done =
      compare({"--batches", "10", "--pairs", "1", "--fail-if-cpu-slower", "400", small, small});
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
  done = assay({"compare", "--archive", "b", "--batches", "10", "--pairs", "1", "--fail-if-slower",
                "100", "--fail-if-cpu-slower", "100", small, large});
  EXPECT_EQ(done.exit_code, 1) << done.err << done.out;
}

TEST_F(Behaviour, an_adaptive_campaign_stops_at_the_first_look_that_decides) {
  const Finished done = compare(
      {"--adaptive", "--pairs", "1", "-w", "0", payload("spin 1000000"), payload("spin 20000000")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const Json made = report();
  EXPECT_EQ(made.at("scope").at("stopped_at_look"), 8);
  EXPECT_EQ(made.at("scope").at("runs_recorded"), 16);
  EXPECT_EQ(made.at("status"), "measured");
  EXPECT_THAT(made.at("reason_codes"), Not(Contains("planned_runs_missing")));
}

TEST_F(Behaviour, without_an_archive_nothing_is_written_and_the_report_is_complete) {
  const Finished done = assay({"compare", "--no-archive", "--json", "--batches", "2", "--pairs",
                               "2", "--export-csv", "samples.csv", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto made = parse_json(done.out.substr(0, done.out.size() - 1), "stdout");
  ASSERT_TRUE(made) << done.out;
  EXPECT_EQ(made->at("scope").at("runs_recorded"), 12);
  EXPECT_FALSE(exists("assay-archives"));
  EXPECT_TRUE(exists("samples.csv"));
}

TEST_F(Behaviour, archives_go_to_the_store_and_their_path_is_printed) {
  Finished done = assay({"compare", "--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_THAT(done.out, HasSubstr("archive: assay-archives/2"));
  done = assay({"compare", "--store", "s", "--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_THAT(done.out, HasSubstr("archive: s/2"));
  environment_["ASSAY_STORE"] = path("env");
  done = assay({"compare", "--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_THAT(done.out, HasSubstr("archive: " + path("env") + "/2"));
}

TEST_F(Behaviour, the_archive_is_complete_and_its_checksums_hold) {
  compare({"--batches", "2", "--pairs", "1", "echo x", "echo x"});
  for (const char* name : {"header.json", "policy.json", "plan.json", "host.json", "events.jsonl",
                           "samples.jsonl", "report.json", "inventory.json", "SHA256SUMS"})
    EXPECT_TRUE(exists(std::string("archive/") + name)) << name;
  const std::string command = "cd " + path("archive") + " && sha256sum -c --quiet SHA256SUMS";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(lines("events.jsonl").back().at("type"), "finished");
}

TEST_F(Behaviour, the_plan_is_bound_before_the_first_run) {
  compare({"--batches", "2", "--pairs", "1", "true", "true"});
  const auto events = lines("events.jsonl");
  std::string plan_digest;
  {
    const std::string command = "sha256sum " + path("archive/plan.json") + " > " + path("digest");
    ASSERT_EQ(std::system(command.c_str()), 0);
    plan_digest = read("digest").substr(0, 64);
  }
  EXPECT_THAT(events.front().dump(), HasSubstr(plan_digest));
  EXPECT_EQ(events.front().at("seq"), 0);
}

TEST_F(Behaviour, no_inherited_environment_and_no_home_path_reaches_the_evidence) {
  environment_["HOME"] = path("home-of-somebody");
  environment_["SECRET_TOKEN"] = "s3cr3t-value-of-the-test";
  write("ignored", "");
  compare({"--batches", "1", "--pairs", "1", "true " + path("home-of-somebody") + "/file", "true"});
  for (const char* name : {"header.json", "policy.json", "plan.json", "host.json", "events.jsonl",
                           "samples.jsonl", "report.json", "inventory.json"}) {
    const std::string text = read(std::string("archive/") + name);
    EXPECT_THAT(text, Not(HasSubstr("s3cr3t-value"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("home-of-somebody"))) << name;
  }
  EXPECT_THAT(read("archive/policy.json"), HasSubstr("{home}/file"));
}

TEST_F(Behaviour, the_programs_that_run_are_identified_by_digest) {
  write("script.sh", "exit 0\n");
  compare({"--batches", "1", "--pairs", "1", "sh script.sh", payload("exit 0")});
  const auto host = parse_json(read("archive/host.json"), "host");
  ASSERT_TRUE(host);
  std::set<std::string> what;
  for (const Json& program : host->at("programs")) {
    EXPECT_EQ(program.at("grade"), "observed");
    EXPECT_EQ(program.at("value").at("sha256").get<std::string>().size(), 64U);
    what.insert(program.at("what").get<std::string>());
  }
  EXPECT_EQ(host->at("programs").size(), 3U);
  EXPECT_EQ(what, (std::set<std::string>{"program", "script"}));
}

TEST_F(Behaviour, distinct_outputs_are_stored_once_each) {
  compare({"--batches", "3", "--pairs", "2", "echo one", "echo two"});
  const std::string command = "find " + path("archive/blobs") + " -type f | wc -l > " + path("n");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(std::stoi(read("n")), 3) << "two outputs and the empty one";
}

TEST_F(Behaviour, output_modes_are_honoured) {
  Finished done = compare(
      {"--batches", "1", "--pairs", "1", "-w", "0", "--output", "out.txt", "echo x", "echo x"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read("out.txt"), "x\n");
  EXPECT_EQ(samples().at(0).at("stdout_sha256"), nullptr);
  done = assay({"compare", "--archive", "b", "--batches", "1", "--pairs", "1", "--output", "null",
                payload("notnull"), "true"});
  EXPECT_EQ(done.exit_code, 2) << "the probe fails on the null device";
  done = assay({"compare", "--archive", "c", "--batches", "1", "--pairs", "1", "-w", "0",
                "--show-output", "echo shown", "echo shown"});
  EXPECT_THAT(done.err, HasSubstr("shown\nshown\n"));
}

TEST_F(Behaviour, long_outputs_are_drained_without_an_oracle_and_end_the_run_with_one) {
  Finished done = compare({"--batches", "1", "--pairs", "1", "--max-output", "1000",
                           payload("print 5000"), payload("print 5000")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(samples().at(0).at("stdout_bytes"), 5000);
  EXPECT_EQ(samples().at(0).at("reasons").at("stdout_sha256"), "output_truncated");
  write("oracle.txt", "short");
  done = assay({"compare", "--archive", "b", "--batches", "1", "--pairs", "1", "--max-output",
                "1000", "--oracle", "oracle.txt", payload("print 5000"), payload("print 5000")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(lines("samples.jsonl", "b").at(0).at("status"), "output_limit");
}

TEST_F(Behaviour, stderr_is_recorded_and_judged_only_when_asked) {
  Finished done = compare({"--batches", "1", "--pairs", "1", payload("noisy"), payload("noisy")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(samples().at(0).at("stderr_bytes"), 10);
  done = assay({"compare", "--archive", "b", "--require-empty-stderr", "--batches", "1", "--pairs",
                "1", payload("noisy"), payload("noisy")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--require-empty-stderr"), HasSubstr("a warning")));
}

TEST_F(Behaviour, pinned_runs_stay_on_their_cpu_and_the_tool_keeps_away) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &allowed))
    ++cpu;
  const std::string measured = std::to_string(cpu);
  write("own.sh", "grep Cpus_allowed_list /proc/self/status\n");
  write("tool.sh", "grep Cpus_allowed_list /proc/$PPID/status\n");
  const Finished done = compare(
      {"--batches", "1", "--pairs", "1", "-w", "0", "--cpu", measured, "sh own.sh", "sh tool.sh"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto printed = [this](const Json& sample) {
    const std::string digest = sample.at("stdout_sha256").get<std::string>();
    return read("archive/blobs/sha256/" + digest.substr(0, 2) + "/" + digest);
  };
  const std::string pinned = "Cpus_allowed_list:\t" + measured + "\n";
  EXPECT_EQ(printed(this->measured("reference").at(0)), pinned);
  if (CPU_COUNT(&allowed) > 1) {
    EXPECT_NE(printed(this->measured("candidate").at(0)), pinned);
  }
  EXPECT_THAT(read("archive/policy.json"), HasSubstr("\"cpus\":[" + measured + "]"));
}

}  // namespace
}  // namespace assay::testing_compare
