// Each of these exits 2 before anything runs, and names the thing, the place and the fix.
#include "harness.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BadInput : public CompareTest {
 protected:
  // Exit 2, all of `said` on stderr, nothing on stdout, nothing run and nothing written.
  void refuse(std::vector<std::string> args, const std::vector<std::string>& said) {
    const std::string marker = payload("log " + path("ran") + " x");
    for (std::string& word : args)
      if (word == "GOOD")
        word = marker;
    args.insert(args.begin(), "compare");
    const Finished done = assay(args);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_EQ(done.out, "");
    for (const std::string& part : said)
      EXPECT_THAT(done.err, HasSubstr(part));
    EXPECT_FALSE(exists("ran")) << "a command was run";
    EXPECT_FALSE(exists("assay-archives")) << "an archive was made";
  }
};

TEST_F(BadInput, one_command_is_told_how_to_give_two) {
  refuse({"GOOD"}, {"1 command", "'./old --input f' './new --input f'"});
  refuse({}, {"0 commands"});
}

TEST_F(BadInput, a_command_that_does_not_exist_is_named) {
  refuse({"GOOD", "./no-such-program --flag"}, {"candidate", "no-such-program"});
  refuse({"no-such-program-anywhere", "GOOD"}, {"reference", "no-such-program-anywhere"});
}

TEST_F(BadInput, a_file_that_is_not_executable_is_named) {
  write("plain", "text", 0644);
  refuse({"GOOD", "./plain"}, {"candidate", "./plain"});
  refuse({"GOOD", path("")}, {"candidate"});
}

TEST_F(BadInput, bad_quoting_names_the_command_and_the_word) {
  refuse({"GOOD", "./new 'open"}, {"candidate", "word 2"});
  refuse({"\"", "GOOD"}, {"reference", "word 1"});
  refuse({"GOOD", ""}, {"candidate", "empty"});
  refuse({"GOOD", "   "}, {"candidate", "empty"});
}

TEST_F(BadInput, hooks_are_checked_like_commands) {
  refuse({"-s", "./no-setup", "GOOD", "GOOD"}, {"--setup", "no-setup"});
  refuse({"-p", "./no-prepare", "GOOD", "GOOD"}, {"--prepare", "no-prepare"});
  refuse({"-C", "./no-conclude", "GOOD", "GOOD"}, {"--conclude", "no-conclude"});
  refuse({"-c", "./no-cleanup", "GOOD", "GOOD"}, {"--cleanup", "no-cleanup"});
  refuse({"-S", "./no-shell", "GOOD", "GOOD"}, {"--shell './no-shell'"});
}

TEST_F(BadInput, an_existing_archive_path_is_never_overwritten) {
  write("taken", "precious");
  refuse({"--archive", "taken", "GOOD", "GOOD"}, {"--archive", "taken", "exists"});
  EXPECT_EQ(read("taken"), "precious");
  ::mkdir(path("there").c_str(), 0755);
  for (const char* name : {"there/", "there/.", "there/./", "there//."})
    refuse({"--archive", name, "GOOD", "GOOD"}, {"--archive", name, "exists"});
  refuse({"--archive", "new/..", "GOOD", "GOOD"}, {"--archive new/..", ".."});
  EXPECT_FALSE(exists("new"));
}

TEST_F(BadInput, a_place_where_no_archive_can_be_made_is_refused) {
  refuse({"--archive", "/proc/assay-archive", "GOOD", "GOOD"}, {"/proc/assay-archive"});
  write("file", "");
  refuse({"--archive", "file/archive", "GOOD", "GOOD"}, {"no directory"});
  refuse({"--store", "file/store", "GOOD", "GOOD"}, {"no directory"});
}

TEST_F(BadInput, an_unwritable_export_is_found_before_the_first_run) {
  for (const char* kind :
       {"json", "csv", "markdown", "asciidoc", "orgmode", "junit", "github", "hyperfine"}) {
    const std::string flag = std::string("--export-") + kind;
    refuse({flag, "no/such/dir/x", "GOOD", "GOOD"}, {flag, "no/such/dir/x"});
  }
  refuse({"--export-json", path(""), "GOOD", "GOOD"}, {"--export-json"});
}

TEST_F(BadInput, an_empty_value_is_not_taken_for_none) {
  for (const char* flag : {"--oracle", "--oracle-cmd", "--cpu", "--input", "--setup", "--prepare",
                           "--archive", "--store", "--shell", "--reference", "--export-json"})
    refuse({flag, "", "GOOD", "GOOD"}, {flag, "empty"});
}

TEST_F(BadInput, no_file_of_the_campaign_is_overwritten) {
  write("data", "text");
  write("prog", "#!/bin/sh\n");
  ::chmod(path("prog").c_str(), 0755);
  const std::string data = path("data");
  const std::string other = path("./data");
  refuse({"--input", data, "--export-json", other, "GOOD", "GOOD"}, {"--export-json", "--input"});
  refuse({"--oracle", data, "--export-junit", other, "GOOD", "GOOD"},
         {"--export-junit", "--oracle"});
  refuse({"--export-csv", path("prog"), path("prog"), "GOOD"}, {"--export-csv", "prog"});
  refuse({"--input", data, "--output", other, "GOOD", "GOOD"}, {"--output", "--input"});
  refuse({"--output", path("out"), "--export-json", path("out"), "GOOD", "GOOD"},
         {"--export-json", "--output"});
  refuse({"--export-json", path("new"), "--export-csv", path("./new"), "GOOD", "GOOD"},
         {"--export-csv", "--export-json"});
  EXPECT_EQ(read("data"), "text");
  EXPECT_EQ(read("prog"), "#!/bin/sh\n");
}

TEST_F(BadInput, an_empty_value_behind_an_equals_sign_takes_no_word_for_its_own) {
  write("old", "#!/bin/sh\n", 0755);
  for (const char* flag : {"--export-json", "--oracle", "--setup", "--archive", "--store",
                           "--shell", "--pairs", "--json", "--reference", "--parameter-list"})
    refuse({std::string(flag) + "=", "./old", "GOOD", "GOOD"}, {flag, "the value is empty"});
  refuse({"-i=", "GOOD", "GOOD"}, {"--ignore-failure", "the value is empty"});
  EXPECT_EQ(read("old"), "#!/bin/sh\n");
  const Finished named = assay({"compare", "--dry-run", "--command-name=", "true", "true"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
}

TEST_F(BadInput, no_program_of_the_campaign_is_overwritten_however_it_is_written) {
  const std::string script = "#!/bin/sh\n";
  const std::vector<std::string> programs = {"pr og", "prog", "onpath", "hook", "script"};
  ::mkdir(path("bin").c_str(), 0755);
  for (const std::string& name : programs)
    write((name == "onpath" ? "bin/" : "") + name, script, 0755);
  environment_["PATH"] = path("bin") + ":/usr/bin:/bin";
  const auto refuse_both = [this](const std::string& file, const std::string& command) {
    SCOPED_TRACE(command);
    refuse({"--export-json", file, command, "GOOD"}, {"--export-json", "in use by the campaign"});
    refuse({"--output", file, "GOOD", command}, {"--output", "in use by the campaign"});
  };
  refuse_both("pr og", "'./pr og' x");
  refuse_both("prog", "./prog\tx");
  refuse_both("prog", "\"./prog\" x");
  refuse_both("bin/onpath", "onpath x");
  refuse_both("bin/onpath", "env onpath x");
  refuse_both("script", "sh script");
  refuse_both("script", "sh -c 'exec ./script'");
  refuse_both("prog", "true --config=./prog");
  refuse({"-S", "default", "--export-csv", "prog", "exec ./prog", "GOOD"}, {"--export-csv"});
  refuse({"-S", "default", "--output", "bin/onpath", "x=1;onpath|cat", "GOOD"}, {"--output"});
  for (const char* flag : {"--setup", "--prepare", "--conclude", "--cleanup", "--oracle-cmd"})
    refuse({flag, "./hook", "--export-json", "hook", "GOOD", "GOOD"}, {"--export-json", flag});
  refuse({"--prepare", "./hook", "--output", "./hook", "GOOD", "GOOD"}, {"--output", "--prepare"});
  ASSERT_EQ(::link(path("prog").c_str(), path("same").c_str()), 0);
  refuse_both("same", "./prog");
  write("prx", script, 0755);
  refuse({"-L", "n", "og,x", "--output", "prog", "GOOD", "./pr{n}"}, {"--output"});
  for (const std::string& name : programs)
    EXPECT_EQ(read((name == "onpath" ? "bin/" : "") + name), script) << name;
}

TEST_F(BadInput, the_place_of_the_evidence_is_no_output) {
  refuse({"--archive", "zq", "--output", "zq", "GOOD", "GOOD"}, {"--output", "--archive"});
  refuse({"--store", "zs", "--output", "./zs", "GOOD", "GOOD"}, {"--output", "--store"});
  refuse({"--store", "zs", "--export-json", "zs", "GOOD", "GOOD"}, {"--export-json", "--store"});
  refuse({"--output", "assay-archives", "GOOD", "GOOD"}, {"--output", "store of archives"});
  EXPECT_FALSE(exists("zq"));
  EXPECT_FALSE(exists("zs"));
}

TEST_F(BadInput, what_another_tool_would_take_is_refused_with_what_to_write) {
  refuse({"--fail-fast", "GOOD", "GOOD"}, {"--fail-fast", "belongs to -i"});
  refuse({"FOO=1 ./prog", "GOOD"}, {"env FOO=1 ./prog"});
  refuse({"--version"}, {"assay --version"});
  refuse({"GOOD"}, {"assay compares", "give the second command"});
}

TEST_F(BadInput, numbers_that_are_none_or_out_of_range_are_refused) {
  for (const char* flag : {"--pairs", "--batches", "-r", "--samples", "--runs"})
    for (const char* bad : {"0", "-1", "nan", "1.5", "", "99999999999999999999", "1x", "1e3"})
      refuse({flag, bad, "GOOD", "GOOD"}, {"expected a whole number from 1"});
  for (const char* bad : {"-1", "nan", "99999999999999999999"})
    refuse({"-w", bad, "GOOD", "GOOD"}, {});
  for (const char* bad : {"-1", "9007199254740992", "inf", "x"})
    refuse({"--seed", bad, "GOOD", "GOOD"}, {"--seed"});
  for (const char* bad : {"nan", "inf", "-1", "", "1e999", "five"}) {
    refuse({"--fail-if-slower", bad, "GOOD", "GOOD"}, {"--fail-if-slower"});
    refuse({"--fail-if-bigger-rss", bad, "GOOD", "GOOD"}, {"--fail-if-bigger-rss"});
    refuse({"--fail-if-cpu-slower", bad, "GOOD", "GOOD"}, {"--fail-if-cpu-slower"});
    refuse({"--timeout", bad, "GOOD", "GOOD"}, {"--timeout"});
    refuse({"--resolve", bad, "GOOD", "GOOD"}, {"--resolve"});
  }
  refuse({"--timeout", "0", "GOOD", "GOOD"}, {"--timeout"});
  refuse({"--max-output", "0", "GOOD", "GOOD"}, {"--max-output"});
  refuse({"-i=300", "GOOD", "GOOD"}, {"--ignore-failure"});
  refuse({"-i=x", "GOOD", "GOOD"}, {"--ignore-failure"});
}

TEST_F(BadInput, an_oracle_must_exist_and_fit_the_output_bound) {
  refuse({"--oracle", "missing.txt", "GOOD", "GOOD"}, {"--oracle", "missing.txt"});
  write("big.txt", std::string(2000, 'x'));
  refuse({"--oracle", "big.txt", "--max-output", "1000", "GOOD", "GOOD"},
         {"big.txt", "2000 bytes", "--max-output"});
  refuse({"--oracle", "big.txt", "--oracle-cmd", "true", "GOOD", "GOOD"}, {"--oracle-cmd"});
  refuse({"--oracle", "big.txt", "--output", "null", "GOOD", "GOOD"}, {"--output"});
}

TEST_F(BadInput, an_oracle_command_that_fails_is_no_oracle) {
  refuse({"--oracle-cmd", payload("exit 4"), "GOOD", "GOOD"}, {"--oracle-cmd", "exit code 4"});
  refuse({"--oracle-cmd", payload("print 5000"), "--max-output", "1000", "GOOD", "GOOD"},
         {"--oracle-cmd", "--max-output"});
}

TEST_F(BadInput, an_input_file_must_be_readable) {
  refuse({"--input", "missing.txt", "GOOD", "GOOD"}, {"--input", "missing.txt"});
  refuse({"--input", path(""), "GOOD", "GOOD"}, {"--input"});
}

TEST_F(BadInput, parameters_are_checked) {
  refuse({"-L", "n", "1,2", "GOOD", payload("exit {m}")}, {"candidate", "{m}", "known: n"});
  refuse({"-L", "2n", "1,2", "GOOD", "GOOD"}, {"2n"});
  refuse({"-L", "n", "1,1", "GOOD", "GOOD"}, {"parameter n", "twice"});
  refuse({"-L", "n", "1", "-L", "n", "2", "GOOD", "GOOD"}, {"parameter n", "twice"});
  refuse({"-P", "n", "1", "nan", "GOOD", "GOOD"}, {"--parameter-scan"});
  refuse({"-P", "n", "5", "1", "GOOD", "GOOD"}, {"--parameter-scan"});
  refuse({"-P", "n", "1", "5", "-D", "0", "GOOD", "GOOD"}, {"--parameter-step-size"});
  refuse({"-D", "1", "GOOD", "GOOD"}, {"--parameter-step-size", "--parameter-scan"});
}

TEST_F(BadInput, flags_that_contradict_each_other_are_refused) {
  refuse({"-m", "10", "GOOD", "GOOD"}, {"--min-runs", "--adaptive"});
  refuse({"-M", "10", "GOOD", "GOOD"}, {"--max-runs", "--adaptive"});
  refuse({"--adaptive", "-r", "60", "GOOD", "GOOD"}, {"--runs", "--adaptive"});
  refuse({"--adaptive", "--batches", "10", "GOOD", "GOOD"}, {"--batches", "20"});
  refuse({"--no-archive", "--archive", "x", "GOOD", "GOOD"}, {"--archive", "--no-archive"});
  refuse({"--store", "s", "--archive", "x", "GOOD", "GOOD"}, {"--archive", "--store"});
  refuse({"-N", "-S", "sh", "GOOD", "GOOD"}, {"-N"});
  refuse({"--json", "--export-csv", "-", "GOOD", "GOOD"}, {"--export-csv"});
  refuse({"-n", "a", "-n", "b", "-n", "c", "GOOD", "GOOD"}, {"--command-name"});
  refuse({"-p", "true", "-p", "true", "GOOD", "GOOD", "GOOD"}, {"--prepare"});
}

TEST_F(BadInput, unknown_flags_and_words_are_refused_with_the_flag_to_try) {
  refuse({"--fail-if-slowr", "5", "GOOD", "GOOD"}, {"--fail-if-slowr", "--fail-if-slower"});
  refuse({"--style", "fancy", "GOOD", "GOOD"}, {"fancy"});
  refuse({"-u", "fortnight", "GOOD", "GOOD"}, {"fortnight", "millisecond"});
  refuse({"--sort", "size", "GOOD", "GOOD"}, {"--sort"});
  refuse({"--cpu", "4095", "GOOD", "GOOD"}, {"--cpu", "4095"});
  refuse({"--cpu", "x", "GOOD", "GOOD"}, {"--cpu"});
}

TEST_F(BadInput, a_dry_run_checks_the_same_and_runs_nothing) {
  refuse({"--dry-run", "GOOD", "./no-such-program"}, {"candidate"});
  const Finished done =
      assay({"compare", "--dry-run", "--seed", "7", payload("log " + path("ran") + " x"), "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("seed 7"), HasSubstr("10 batches x 6 pairs"),
                              HasSubstr("nothing was run")));
  EXPECT_FALSE(exists("ran"));
  EXPECT_FALSE(exists("assay-archives"));
}

}  // namespace
}  // namespace assay::testing_compare
