// What bounds a campaign: output, time of hooks, load of the host, limits of the process.
#include "harness.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Limits : public CompareTest {
 protected:
  Finished few(std::vector<std::string> args) {
    args.insert(args.begin(), {"--batches", "1", "--pairs", "1", "-w", "0"});
    return compare(std::move(args));
  }
};

TEST_F(Limits, an_output_beyond_the_bound_is_a_limit_of_the_report_without_an_oracle) {
  const Finished done = few({"--max-output", "1000", payload("print 5000"), payload("print 5000")});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(report().at("status"), "measured");
  EXPECT_THAT(report().at("limits"), Contains("output_truncated"));
  EXPECT_THAT(report().at("verdicts").at("wall").at("reasons"), Contains("output_not_checked"));
  EXPECT_THAT(done.out, HasSubstr("longer than its bound"));
}

TEST_F(Limits, outputs_beyond_the_bound_that_differ_in_length_differ) {
  const Finished done = few({"--max-output", "1000", "--fail-if-slower", "1000",
                             payload("print 5000"), payload("print 6000")});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_THAT(report().at("reason_codes"), Contains("outputs_differ"));
}

TEST_F(Limits, an_output_beyond_the_bound_is_a_failed_run_with_an_oracle) {
  write("right", "right\n");
  const Finished done = few(
      {"--max-output", "1000", "--oracle", "right", payload("print 5000"), payload("print 5000")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--max-output"));
  EXPECT_THAT(report().at("blockers"), Contains("run_output_limit"));
  EXPECT_THAT(report().at("limits"), Not(Contains("output_truncated")));
}

TEST_F(Limits, a_hook_that_hangs_is_ended_and_named_and_what_was_measured_is_kept) {
  write("once", "#!/bin/sh\n[ -e seen ] && exec sleep 600\n>seen\n", 0755);
  const Finished done = compare({"--batches", "2", "--pairs", "1", "-w", "0", "--hook-timeout",
                                 "3s", "-C", "./once", "true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--conclude './once'"), HasSubstr("--hook-timeout")));
  EXPECT_EQ(report().at("ending").at("reason"), "hook_failed");
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

TEST_F(Limits, a_program_that_changes_in_the_middle_ends_the_campaign_after_its_batch) {
  write("prog", "#!/bin/sh\nif [ \"$ASSAY_ITERATION\" = 6 ]; then echo '#' >>prog; fi\nexit 0\n",
        0755);
  const Finished done = compare(
      {"--batches", "8", "--pairs", "2", "-w", "0", "--fail-if-slower", "900", "true", "./prog"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("the candidate's program"), HasSubstr("prog has other"),
                              HasSubstr("in batch 4 or before it")));
  EXPECT_EQ(report().at("ending").at("reason"), "files_changed");
  EXPECT_EQ(samples().size(), 16U);
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

TEST_F(Limits, an_input_that_changes_in_the_middle_ends_the_campaign) {
  write("in", "1\n");
  const Finished done = few({"--input", "in", "sh -c 'echo 2 >>in'", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("the input in has other bytes"));
}

TEST_F(Limits, a_program_that_a_hook_builds_is_held_against_what_the_first_batch_had) {
  write("prog", "#!/bin/sh\nexit 1\n", 0755);
  EXPECT_EQ(few({"-s", "cp /bin/true prog", "./prog", "true"}).exit_code, 0);
  const Finished done = assay({"compare", "--archive", "b", "--batches", "2", "--pairs", "1", "-w",
                               "0", "-s", "sh -c 'echo \"#$$\" >>prog'", "./prog", "true"});
  EXPECT_EQ(done.exit_code, 2);
}

TEST_F(Limits, an_oracle_command_that_hangs_is_ended_and_named) {
  const Finished done =
      few({"--hook-timeout", "200ms", "--oracle-cmd", "sleep 600", "true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--oracle-cmd 'sleep 600'"), HasSubstr("--hook-timeout")));
  EXPECT_FALSE(exists("archive"));
}

TEST_F(Limits, the_limit_of_hooks_is_recorded_and_can_be_lifted) {
  EXPECT_EQ(few({"-p", "true", "true", "true"}).exit_code, 0);
  EXPECT_THAT(read("archive/policy.json"), HasSubstr("\"hook_timeout_ns\":600000000000,"));
  const Finished done = assay({"compare", "--archive", "b", "--batches", "1", "--pairs", "1",
                               "--hook-timeout", "0", "-p", "true", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(read("b/policy.json"), Not(HasSubstr("hook_timeout_ns")));
}

// Puts a file of our own in place of one of the kernel's; exits 77 where that is not allowed.
void put_in_place(const std::string& file, const char* of) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(file.c_str(), of, nullptr, MS_BIND, nullptr) != 0)
    ::_exit(77);
}

TEST_F(Limits, load_above_the_bound_of_doctor_is_a_limit_and_changes_no_verdict) {
  write("loadavg", "4096.00 1.00 1.00 1/100 1\n");
  before_exec_ = [file = path("loadavg")] { put_in_place(file, "/proc/loadavg"); };
  const Finished done = compare(
      {"--batches", "8", "--pairs", "1", "-w", "0", "--fail-if-slower", "10000", "true", "true"});
  if (done.exit_code == 77)
    GTEST_SKIP() << "needs the right to mount over /proc/loadavg";
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(report().at("overall").at("status"), "PASS");
  EXPECT_THAT(report().at("limits"), Contains("load_high"));
  EXPECT_THAT(done.out, HasSubstr("the bound of"));
  EXPECT_EQ(assay({"doctor"}).exit_code, 1) << "the same bound";
}

TEST_F(Limits, a_quiet_host_is_no_limit) {
  write("loadavg", "0.00 0.00 0.00 1/100 1\n");
  before_exec_ = [file = path("loadavg")] { put_in_place(file, "/proc/loadavg"); };
  const Finished done = few({"true", "true"});
  if (done.exit_code == 77)
    GTEST_SKIP() << "needs the right to mount over /proc/loadavg";
  EXPECT_THAT(report().at("limits"), Not(Contains("load_high")));
}

TEST_F(Limits, a_calibration_under_load_says_so_itself_and_where_it_is_cited) {
  write("loadavg", "4096.00 1.00 1.00 1/100 1\n");
  before_exec_ = [file = path("loadavg")] { put_in_place(file, "/proc/loadavg"); };
  const Finished made = assay({"calibrate", "--archive", "aa", "--batches", "20", "--work", "1ms"});
  if (made.exit_code == 77)
    GTEST_SKIP() << "needs the right to mount over /proc/loadavg";
  EXPECT_THAT(made.out, HasSubstr("load_high: "));
  EXPECT_THAT(report("aa").at("limits"), Contains("load_high"));
  before_exec_ = nullptr;
  const Finished done = few({"true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(report().at("limits"), Contains("calibration_under_load"));
}

TEST_F(Limits, a_limit_on_open_files_is_named_with_its_remedy) {
  before_exec_ = [] {
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  };
  const Finished done = few({"true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("ulimit -n"));
  EXPECT_FALSE(exists("archive/report.json"));
}

TEST_F(Limits, too_little_address_space_is_an_error_that_names_it) {
  before_exec_ = [] {
    const rlimit limit{40 << 20, 40 << 20};
    ::setrlimit(RLIMIT_AS, &limit);
  };
  const Finished done =
      few({"--max-output", "1000000000", payload("print 50000000"), payload("print 50000000")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("ulimit -v"));
}

// assay with stderr on a terminal, and what the terminal received.
class OnTerminal : public CompareTest {
 protected:
  std::string shown(const std::vector<std::string>& args) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_EQ(::grantpt(terminal), 0);
    EXPECT_EQ(::unlockpt(terminal), 0);
    const std::string name = ::ptsname(terminal);
    before_exec_ = [name] { ::dup2(::open(name.c_str(), O_WRONLY | O_NOCTTY), 2); };
    // Held open, or the terminal forgets what nobody has read yet.
    const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_EQ(assay(args).exit_code, 0);
    std::string text(4096, '\0');
    const ssize_t got = ::read(terminal, text.data(), text.size());
    ::close(held);
    ::close(terminal);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
};

TEST_F(OnTerminal, shown_outputs_cannot_command_the_terminal) {
  const std::string command = "printf 'a\\033[2Jb\\tc\\r\\n\\302\\233d\\n'";
  const std::vector<std::string> args = {
      "compare", "--no-archive", "--style", "none",          "--batches", "1",    "--pairs",
      "1",       "-w",           "0",       "--show-output", command,     command};
  const std::string text = shown(args);
  EXPECT_THAT(text, AllOf(HasSubstr("[2Jb\tc"), HasSubstr("d\r\n"))) << "newline and tab stay";
  for (const char* control : {"\x1b", "\r\r", "\xc2\x9b"})
    EXPECT_THAT(text, Not(HasSubstr(control)));
  before_exec_ = nullptr;
  EXPECT_THAT(assay(args).err, HasSubstr("a\x1b[2Jb\tc\r\n")) << "raw where it is no terminal";
}

}  // namespace
}  // namespace assay::testing_compare
