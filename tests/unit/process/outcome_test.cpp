#include "support.h"

#include "assay/base/json.h"

#include <cerrno>
#include <fstream>
#include <iterator>

namespace assay::process::testing {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

using Outcomes = LauncherTest;
using Output = LauncherTest;
using Input = LauncherTest;
using Environment = LauncherTest;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_F(Outcomes, a_program_that_exits_with_0_is_ok_and_fully_accounted) {
  const RunResult result = run({"true"});
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.bound_hit, "none");
  EXPECT_GT(result.elapsed.value, 0);
  EXPECT_GT(result.start.value, 0);
  EXPECT_GT(result.minor_faults, 0);
  EXPECT_EQ(result.descendants_left, 0);
}

TEST_F(Outcomes, a_nonzero_exit_is_failed_with_its_code) {
  const RunResult result = run({"sh", "-c", "echo why >&2; exit 42"});
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_EQ(result.exit_code, 42);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.err.bytes, "why\n");
}

TEST_F(Outcomes, a_signal_of_its_own_is_failed_with_the_signal) {
  const RunResult result = run({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, -1);
}

TEST_F(Outcomes, a_missing_program_is_a_launch_error_with_its_errno) {
  for (const char* name : {"no-such-program-anywhere", "/no/such/program"}) {
    const RunResult result = run({name});
    EXPECT_EQ(result.outcome, Outcome::launch_error);
    EXPECT_EQ(result.launch_errno, ENOENT);
  }
}

TEST_F(Outcomes, a_file_that_the_kernel_refuses_is_a_launch_error_with_its_errno) {
  const TempDir directory;
  const RunResult text = run({directory.write("text", "no program\n", 0755)});
  EXPECT_EQ(text.outcome, Outcome::launch_error);
  EXPECT_EQ(text.launch_errno, ENOEXEC);
  const RunResult interpreter = run({directory.write("script", "#!/no/such/shell\n", 0755)});
  EXPECT_EQ(interpreter.outcome, Outcome::launch_error);
  EXPECT_EQ(interpreter.launch_errno, ENOENT);
}

TEST_F(Outcomes, the_launcher_goes_on_after_every_kind_of_failure) {
  run({"no-such-program-anywhere"});
  run({"sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(run({"true"}).outcome, Outcome::ok);
}

TEST_F(Outcomes, impossible_requests_are_errors_before_anything_runs) {
  RunRequest nul = request({"true", std::string("a\0b", 3)});
  RunRequest name = request({"true"});
  name.environment = {{"A=B", "1"}};
  RunRequest timeout = request({"true"});
  timeout.timeout = Nanoseconds(0);
  RunRequest bound = request({"true"});
  bound.stdout_bound = Bytes(-1);
  RunRequest cpu = request({"true"});
  cpu.cpus = {1023};
  for (const RunRequest& bad : {request({}), request({""}), nul, name, timeout, bound, cpu}) {
    const auto result = launcher_->run(bad);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << result.error().message();
  }
  EXPECT_EQ(run({"true"}).outcome, Outcome::ok);
}

TEST_F(Outcomes, a_program_that_waits_for_ever_hits_the_timeout) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{
           {"sleep", "600"}, {probe(), "stop"}, {"sh", "-c", "trap '' TERM INT; sleep 600"}}) {
    RunRequest limited = request(argv);
    limited.timeout = Nanoseconds(50 * 1000000);
    const RunResult result = run(limited);
    EXPECT_EQ(result.outcome, Outcome::timeout) << argv[0];
    EXPECT_EQ(result.bound_hit, "timeout");
    EXPECT_EQ(result.signal, SIGKILL);
    EXPECT_GE(result.elapsed.value, limited.timeout->value);
  }
}

TEST_F(Outcomes, a_timeout_ends_a_program_that_never_stops_talking) {
  RunRequest limited = request({"yes"});
  limited.timeout = Nanoseconds(50 * 1000000);
  limited.kill_on_output_limit = false;
  const RunResult result = run(limited);
  EXPECT_EQ(result.outcome, Outcome::timeout);
  EXPECT_EQ(std::int64_t(result.out.bytes.size()), kMebibyte);
  EXPECT_TRUE(result.out.truncated);
}

TEST_F(Output, both_streams_are_captured_apart_byte_for_byte) {
  const RunResult result = run({"printf", "%b", "a\\0000\\0377\\n"});
  EXPECT_EQ(result.out.bytes, std::string("a\0\377\n", 4));
  EXPECT_EQ(result.out.total, 4);
  EXPECT_FALSE(result.out.truncated);
  const RunResult both = run({"sh", "-c", "echo one; echo two >&2"});
  EXPECT_EQ(both.out.bytes, "one\n");
  EXPECT_EQ(both.err.bytes, "two\n");
}

TEST_F(Output, output_of_one_run_never_leaks_into_the_next) {
  run({probe(), "write", "100000"});
  const RunResult result = run({"echo", "x"});
  EXPECT_EQ(result.out.bytes, "x\n");
}

TEST_F(Output, exactly_the_bound_is_allowed_and_one_byte_more_is_not) {
  for (const std::int64_t bound :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{5000}, kMebibyte, 3 * kMebibyte}) {
    RunRequest limited = request({probe(), "write", std::to_string(bound)});
    limited.stdout_bound = Bytes(bound);
    const RunResult full = run(limited);
    EXPECT_EQ(full.outcome, Outcome::ok) << bound;
    EXPECT_EQ(full.bound_hit, "none");
    EXPECT_EQ(full.out.total, bound);
    EXPECT_EQ(std::int64_t(full.out.bytes.size()), bound);
    EXPECT_FALSE(full.out.truncated);

    limited.argv[2] = std::to_string(bound + 1);
    const RunResult over = run(limited);
    EXPECT_EQ(over.outcome, Outcome::output_limit) << bound;
    EXPECT_EQ(over.bound_hit, "stdout");
    EXPECT_TRUE(over.out.truncated);
    EXPECT_EQ(std::int64_t(over.out.bytes.size()), bound);
  }
}

TEST_F(Output, standard_error_has_a_bound_of_its_own) {
  RunRequest limited = request({probe(), "write-stderr", "11"});
  limited.stderr_bound = Bytes(10);
  const RunResult result = run(limited);
  EXPECT_EQ(result.outcome, Outcome::output_limit);
  EXPECT_EQ(result.bound_hit, "stderr");
  EXPECT_EQ(result.err.bytes, std::string(10, 'x'));
}

TEST_F(Output, an_endless_writer_is_ended_at_the_bound) {
  const RunResult result = run({"yes"});
  EXPECT_EQ(result.outcome, Outcome::output_limit);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST_F(Output, without_the_kill_everything_is_counted_and_the_run_is_ok) {
  RunRequest limited = request({probe(), "write", std::to_string(5 * kMebibyte)});
  limited.stdout_bound = Bytes(1000);
  limited.kill_on_output_limit = false;
  const RunResult result = run(limited);
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.bound_hit, "stdout");
  EXPECT_EQ(result.out.total, 5 * kMebibyte);
  EXPECT_EQ(result.out.bytes, std::string(1000, 'x'));
  EXPECT_TRUE(result.out.truncated);
}

// sharkdp/hyperfine#377: programs that see the null device skip their work.
TEST_F(Output, captured_stdout_is_not_the_null_device) {
  EXPECT_EQ(run({probe(), "stdout"}).out.bytes, "pipe\n");
}

TEST_F(Output, the_other_modes_lead_where_they_say) {
  const TempDir directory;
  RunRequest to_file = request({"sh", "-c", "echo out; echo err >&2"});
  to_file.output = OutputMode::file;
  to_file.output_path = directory.write("out", "something longer that was there before\n");
  const RunResult filed = run(to_file);
  EXPECT_EQ(filed.outcome, Outcome::ok);
  EXPECT_EQ(read_all(to_file.output_path), "out\n");
  EXPECT_EQ(filed.out.bytes, "");
  EXPECT_EQ(filed.err.bytes, "err\n");

  RunRequest to_null = request({"sh", "-c", "echo out; echo err >&2"});
  to_null.output = OutputMode::null;
  const RunResult silent = run(to_null);
  EXPECT_EQ(silent.out.bytes, "");
  EXPECT_EQ(silent.err.bytes, "err\n");

  RunRequest inherit = request({"sh", "-c", "test /proc/$$/fd/1 -ef /proc/$PARENT/fd/1"});
  inherit.environment = {{"PARENT", std::to_string(getpid())}};
  inherit.output = OutputMode::inherit;
  EXPECT_EQ(run(inherit).outcome, Outcome::ok);
}

TEST_F(Output, an_output_file_that_cannot_be_opened_is_an_error_that_names_it) {
  RunRequest bad = request({"true"});
  bad.output = OutputMode::file;
  bad.output_path = "/no/such/folder/out";
  const auto result = launcher_->run(bad);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("/no/such/folder/out"), std::string::npos);
}

TEST_F(Input, stdin_is_empty_unless_a_file_is_given) {
  EXPECT_EQ(run({"cat"}).out.bytes, "");
  const TempDir directory;
  RunRequest with_file = request({"cat"});
  with_file.stdin_path = directory.write("in", "some input\n");
  EXPECT_EQ(run(with_file).out.bytes, "some input\n");
  EXPECT_EQ(run(with_file).out.bytes, "some input\n") << "each run reads from the start";
}

TEST_F(Input, a_missing_or_unusable_input_is_an_error_that_names_it) {
  const TempDir directory;
  RunRequest bad = request({"cat"});
  bad.stdin_path = directory.file("missing");
  auto result = launcher_->run(bad);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_NE(result.error().message().find("missing"), std::string::npos);
  bad.stdin_path = "/tmp";
  result = launcher_->run(bad);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
}

TEST_F(Input, arguments_reach_the_program_byte_for_byte) {
  const std::string odd = "\xff\xfe line\nbreak \xc3\x28 \"'$\\";
  const RunResult result = run({"printf", "%s", odd});
  EXPECT_EQ(result.out.bytes, odd);
  const std::string longest(100000, 'y');
  EXPECT_EQ(run({"printf", "%s", longest}).out.bytes, longest);
}

TEST_F(Environment, is_inherited_and_overrides_win) {
  setenv("ASSAY_TEST_KEPT", "kept", 1);
  setenv("ASSAY_TEST_REPLACED", "old", 1);
  RunRequest overriding = request({"env"});
  overriding.environment = {{"ASSAY_TEST_REPLACED", "first"},
                            {"ASSAY_TEST_ADDED", "\xff=\n"},
                            {"ASSAY_TEST_REPLACED", "last"}};
  const std::string text = "\n" + run(overriding).out.bytes;
  EXPECT_NE(text.find("\nASSAY_TEST_KEPT=kept\n"), std::string::npos);
  EXPECT_NE(text.find("\nASSAY_TEST_REPLACED=last\n"), std::string::npos);
  EXPECT_NE(text.find("\nASSAY_TEST_ADDED=\xff=\n\n"), std::string::npos);
  EXPECT_EQ(text.find("=old\n"), std::string::npos);
  EXPECT_EQ(text.find("=first\n"), std::string::npos);
  unsetenv("ASSAY_TEST_KEPT");
  unsetenv("ASSAY_TEST_REPLACED");
}

TEST_F(Environment, a_variable_set_after_the_start_of_the_helper_arrives) {
  setenv("ASSAY_TEST_LATE", "late", 1);
  EXPECT_EQ(run({"printenv", "ASSAY_TEST_LATE"}).out.bytes, "late\n");
  unsetenv("ASSAY_TEST_LATE");
}

TEST_F(Environment, too_much_of_it_is_a_launch_error_not_a_crash) {
  RunRequest huge = request({"true"});
  for (int i = 0; i < 64; ++i)
    huge.environment.emplace_back(std::string("V").append(std::to_string(i)),
                                  std::string(120000, 'z'));
  const RunResult result = run(huge);
  EXPECT_EQ(result.outcome, Outcome::launch_error);
  EXPECT_EQ(result.launch_errno, E2BIG);
  EXPECT_EQ(run({"true"}).outcome, Outcome::ok);
}

}  // namespace
}  // namespace assay::process::testing
