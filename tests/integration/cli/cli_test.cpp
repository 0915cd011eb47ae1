// The built command from the outside: words in, exit code and text out.
#include "assay/base/files.h"
#include "assay/base/json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

using testing::HasSubstr;

struct Ended {
  int code = -1;
  std::string out, err;
};

constexpr const char* kClosed = "(closed)";

// stdout goes to `stdout_path` where one is given, and is not open at all where that is kClosed.
// Read one after the other: neither text here comes near a pipe's 64 KiB.
Ended assay(std::vector<std::string> words, const std::string& stdout_path = "") {
  words.insert(words.begin(), std::string(ASSAY_BINARY_DIR) + "/assay");
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const int target = stdout_path.empty() ? out[1] : ::open(stdout_path.c_str(), O_WRONLY);
    ::dup2(target, STDOUT_FILENO);
    if (stdout_path == kClosed)
      ::close(STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::alarm(60);  // a hang guard only
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  const auto drain = [](int fd) {
    std::string bytes;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = ::read(fd, chunk.data(), chunk.size())) > 0;)
      bytes.append(chunk.data(), static_cast<std::size_t>(got));
    ::close(fd);
    return bytes;
  };
  Ended ended;
  ended.out = drain(out[0]);
  ended.err = drain(err[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Command, help_exits_0_and_fits_a_screen_with_two_examples) {
  for (const char* word : {"--help", "-h", "help"}) {
    const auto help = assay({word});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_LE(lines(help.out), 40);
    EXPECT_THAT(help.out, HasSubstr("assay compare './old --input f' './new --input f'"));
    EXPECT_THAT(help.out, HasSubstr("  assay doctor\n"));
  }
}

TEST(Command, every_listed_command_has_a_help_of_one_screen_with_two_examples) {
  const std::string usage = assay({"--help"}).out;
  auto at = usage.find("Commands:\n") + 10;
  int commands = 0;
  for (; usage.compare(at, 2, "  ") == 0; at = usage.find('\n', at) + 1, ++commands) {
    const std::string name = usage.substr(at + 2, usage.find(' ', at + 2) - at - 2);
    const auto help = assay({name, "--help"});
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_LE(lines(help.out), 60) << name;
    const auto examples = help.out.find("\nExamples:\n  assay " + name);
    ASSERT_NE(examples, std::string::npos) << name;
    EXPECT_THAT(help.out.substr(examples + 12), HasSubstr("\n  assay " + name));
  }
  EXPECT_GE(commands, 1);
}

TEST(Command, without_words_shows_the_usage_on_stderr_and_exits_2) {
  const auto ended = assay({});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("Usage: assay COMMAND"));
}

TEST(Command, version_is_one_line) {
  const auto ended = assay({"--version"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, testing::MatchesRegex("assay [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Command, unknown_names_suggest_the_nearest) {
  const auto near = assay({"docter"});
  EXPECT_EQ(near.code, 2);
  EXPECT_THAT(near.err, HasSubstr("there is no command 'docter'; did you mean doctor?"));
  const auto far = assay({"frobnicate"});
  EXPECT_EQ(far.code, 2);
  EXPECT_THAT(far.err, HasSubstr("Try: assay --help"));
  const auto flag = assay({"--frob"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.err, HasSubstr("there is no flag '--frob'"));
}

TEST(Command, hostile_words_neither_crash_nor_reach_the_terminal_raw) {
  for (const std::string& word :
       {std::string("\x1b]0;x\x07"), std::string("\xff\xfe"), std::string("a\nb"),
        std::string(5000, 'x'), std::string(), std::string("{repo}%s%n")}) {
    const auto ended = assay({word});
    EXPECT_EQ(ended.code, 2) << word;
    EXPECT_TRUE(is_valid_utf8(ended.err));
    EXPECT_EQ(ended.err.find('\x1b'), std::string::npos);
    EXPECT_LE(lines(ended.err), 2);
  }
}

TEST(Doctor, help_shows_two_examples) {
  const auto help = assay({"doctor", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_LE(lines(help.out), 24);
  EXPECT_THAT(help.out, HasSubstr("  assay doctor\n  assay doctor --json"));
}

TEST(Doctor, exits_1_exactly_when_a_finding_blocks) {
  const auto ended = assay({"doctor", "--json"});
  EXPECT_EQ(ended.err, "");
  ASSERT_FALSE(ended.out.empty());
  const auto json =
      parse_canonical_json(std::string_view(ended.out).substr(0, ended.out.size() - 1), "doctor");
  ASSERT_TRUE(json.has_value()) << json.error().message();
  int blocks = 0;
  for (const auto& finding : json->at("findings")) {
    blocks += finding.at("severity") == "blocks" ? 1 : 0;
    EXPECT_TRUE(finding.at("fix").is_null() || !finding.at("fix").get<std::string>().empty());
  }
  EXPECT_EQ(json->at("blocks"), blocks);
  EXPECT_EQ(ended.code, blocks == 0 ? 0 : 1);
  EXPECT_EQ(json->at("schema").at("name"), "assay.doctor");
  EXPECT_TRUE(json->at("host").contains("kernel_release"));
}

TEST(Doctor, prints_a_plain_table_when_stdout_is_no_terminal) {
  const auto ended = assay({"doctor"});
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
  for (const char* id : {"load_high", "steal", "governor", "turbo", "smt_active", "swap_in_use",
                         "clock_source_slow", "cgroup_cpu_limited", "perf_unavailable", "aslr"})
    EXPECT_THAT(ended.out, HasSubstr(id));
  EXPECT_THAT(ended.out, testing::AnyOf(HasSubstr("Nothing here blocks"), HasSubstr("block")));
}

TEST(Doctor, colours_only_when_asked_off_a_terminal) {
  EXPECT_NE(assay({"doctor", "--style", "color"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(assay({"doctor", "--style", "none"}).out, "");
  const auto bad = assay({"doctor", "--style", "rainbow"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("--style"));
}

TEST(Doctor, refuses_what_it_does_not_know) {
  const auto flag = assay({"doctor", "--jsn"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.err, HasSubstr("did you mean --json?"));
  EXPECT_THAT(flag.err, HasSubstr("Try: assay doctor --help"));
  EXPECT_EQ(assay({"doctor", "word"}).code, 2);
}

TEST(Doctor, reports_a_full_disk_and_a_closed_pipe) {
  const auto full = assay({"doctor"}, "/dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("No space left"));
  EXPECT_EQ(assay({"--help"}, "/dev/full").code, 2);
}

TEST(Command, a_closed_or_full_standard_output_is_named_and_exits_2) {
  const std::string pairs = std::string(ASSAY_SOURCE_DIR) + "/tests/integration/analyze/pairs.csv";
  const std::vector<std::vector<std::string>> commands = {
      {"compare", "--batches", "1", "--pairs", "1", "--no-archive", "--style", "basic", "true",
       "true"},
      {"compare", "--dry-run", "true", "true"},
      {"analyze", pairs, "--reference", "old_ns", "--candidate", "new_ns", "--draws", "10"},
      {"calibrate", "--simulate", "--replications", "10"},
      {"doctor"},
      {"doctor", "--json"}};
  for (const auto& words : commands) {
    SCOPED_TRACE(words[0]);
    const auto full = assay(words, "/dev/full");
    EXPECT_EQ(full.code, 2);
    EXPECT_THAT(full.err, HasSubstr("standard output: cannot write: No space left"));
    const auto closed = assay(words, kClosed);
    EXPECT_EQ(closed.code, 2);
    EXPECT_EQ(closed.err,
              "assay: standard output: is closed; send it to a file, or to /dev/null\n");
  }
}

TEST(Calibrate, a_flag_that_would_change_nothing_is_refused) {
  const std::pair<std::vector<std::string>, const char*> refused[] = {
      {{"--budget", "5", "--batches", "20"}, "--batches"},
      {{"--blocks", "--inject", "3"}, "--blocks"},
      {{"--inject", "0"}, "--inject"},
      {{"--work", "1ms", "--", "true"}, "--work"},
      {{"--markdown"}, "--markdown"},
      {{"--replications", "20"}, "--replications"},
      {{"--simulate", "--batches", "20"}, "--batches"},
      {{"--simulate", "--archive", "here"}, "--archive"},
      {{"--simulate", "--", "true"}, "COMMAND"},
      {{"--simulate", "--markdown", "--json"}, "--markdown"}};
  for (const auto& [flags, named] : refused) {
    std::vector<std::string> words = {"calibrate"};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto ended = assay(words);
    EXPECT_EQ(ended.code, 2) << named;
    EXPECT_THAT(ended.err, testing::StartsWith(std::string("assay: ") + named + ": "));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(Calibrate, one_that_takes_much_longer_than_its_budget_says_so) {
  // The least is one batch of six pairs, which sleep for more than two seconds.
  const std::string archive = testing::TempDir() + "/over-budget-" + std::to_string(::getpid());
  const auto long_one =
      assay({"calibrate", "--budget", "1", "--archive", archive, "--", "sleep", "0.2"});
  EXPECT_THAT(long_one.err, HasSubstr("more than the --budget of 1 s"));
}

TEST(Command, an_empty_value_behind_an_equals_sign_is_refused_by_all) {
  const std::vector<std::vector<std::string>> all = {
      {"doctor", "--style=", "basic"},
      {"calibrate", "--archive=", "--simulate"},
      {"analyze", "--method=", "clustered-signed-rank-v1", "x"}};
  for (const auto& words : all) {
    const auto ended = assay(words);
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("the value is empty")) << words[0];
  }
}

TEST(Compare, a_hook_timeout_may_be_0_and_says_so) {
  const auto ended = assay({"compare", "--hook-timeout", "nan", "true", "true"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--hook-timeout"));
  EXPECT_THAT(ended.err, HasSubstr("or 0 for no limit"));
}

TEST(Command, style_nocolor_writes_no_control_characters_into_a_file) {
  const auto ended = assay({"compare", "--batches", "2", "--pairs", "1", "--no-archive", "--style",
                            "nocolor", "true", "true"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ((ended.out + ended.err).find_first_of("\r\x1b"), std::string::npos) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("pairs"));
}

}  // namespace
}  // namespace assay
