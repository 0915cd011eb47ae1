#include "process/result.h"

#include "support.h"

#include <sys/wait.h>

#include "process/request.h"

namespace assay::process::testing {
namespace {

ResultMessage good() {
  ResultMessage wire{};
  wire.start_ns = 100;
  wire.end_ns = 150;
  wire.max_rss_kib = 928;
  return wire;
}

TEST(RunResult, converts_units_and_keeps_every_figure) {
  ResultMessage wire = good();
  wire.user_ns = 1;
  wire.system_ns = 2;
  wire.minor_faults = 3;
  wire.major_faults = 4;
  wire.voluntary = 5;
  wire.involuntary = 6;
  wire.descendants = 7;
  wire.total[0] = wire.captured[0] = 8;
  const auto result = run_result(wire, RunRequest{});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome, Outcome::ok);
  EXPECT_EQ(result->start.value, 100);
  EXPECT_EQ(result->elapsed.value, 50);
  EXPECT_EQ(result->user.value, 1);
  EXPECT_EQ(result->system.value, 2);
  EXPECT_EQ(result->peak_rss.value, 928 * 1024);
  EXPECT_EQ(result->minor_faults, 3);
  EXPECT_EQ(result->major_faults, 4);
  EXPECT_EQ(result->voluntary_switches, 5);
  EXPECT_EQ(result->involuntary_switches, 6);
  EXPECT_EQ(result->descendants_left, 7);
  EXPECT_EQ(result->out.total, 8);
}

// psf/pyperf#259: newer kernels can report 0.
TEST(RunResult, a_peak_memory_of_0_is_kept_as_not_available) {
  ResultMessage wire = good();
  wire.max_rss_kib = 0;
  EXPECT_EQ(run_result(wire, RunRequest{})->peak_rss.value, 0);
}

TEST(RunResult, times_that_do_not_advance_are_an_error) {
  for (const std::int64_t end : {100, 99}) {
    ResultMessage wire = good();
    wire.end_ns = end;
    const auto result = run_result(wire, RunRequest{});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::launcher);
  }
}

TEST(RunResult, what_could_not_be_ended_or_captured_is_an_error) {
  ResultMessage wire = good();
  wire.unkillable = 2;
  EXPECT_FALSE(run_result(wire, RunRequest{}));
  for (const Stage stage : {Stage::prepare, Stage::clone, Stage::affinity, Stage::capture}) {
    wire = good();
    wire.stage = stage;
    wire.error_number = ENOSPC;
    EXPECT_FALSE(run_result(wire, RunRequest{}));
  }
}

TEST(RunResult, the_first_reason_to_end_a_run_is_its_outcome) {
  ResultMessage wire = good();
  wire.wait_status = SIGKILL;
  wire.cause = Cause::timeout;
  wire.total[0] = 2 << 20;  // the bound was passed as well, but the timeout ended it
  EXPECT_EQ(run_result(wire, RunRequest{})->outcome, Outcome::timeout);
  EXPECT_EQ(run_result(wire, RunRequest{})->bound_hit, "timeout");
  wire.cause = Cause::out_bound;
  EXPECT_EQ(run_result(wire, RunRequest{})->outcome, Outcome::output_limit);
}

TEST(RunResult, output_beyond_the_bound_counts_even_if_the_program_ended_first) {
  ResultMessage wire = good();
  wire.total[1] = (1 << 20) + 1;
  wire.captured[1] = 1 << 20;
  RunRequest request;
  EXPECT_EQ(run_result(wire, request)->outcome, Outcome::output_limit);
  EXPECT_EQ(run_result(wire, request)->bound_hit, "stderr");
  EXPECT_TRUE(run_result(wire, request)->err.truncated);
  request.kill_on_output_limit = false;
  EXPECT_EQ(run_result(wire, request)->outcome, Outcome::ok);
}

TEST(RunResult, outcome_names_are_those_of_the_sample_format) {
  EXPECT_EQ(outcome_name(Outcome::ok), "ok");
  EXPECT_EQ(outcome_name(Outcome::failed), "failed");
  EXPECT_EQ(outcome_name(Outcome::timeout), "timeout");
  EXPECT_EQ(outcome_name(Outcome::output_limit), "output_limit");
  EXPECT_EQ(outcome_name(Outcome::launch_error), "launch_error");
  EXPECT_EQ(outcome_name(Outcome::launcher_lost), "launcher_lost");
}

TEST(CpuMask, holds_the_listed_cpus_and_refuses_the_others) {
  std::uint64_t mask[kCpuWords];
  ASSERT_TRUE(fill_cpu_mask({0, 63, 64, 1023}, nullptr, mask));
  EXPECT_EQ(mask[0], (UINT64_C(1) << 63) | 1);
  EXPECT_EQ(mask[1], 1U);
  EXPECT_EQ(mask[15], UINT64_C(1) << 63);
  EXPECT_FALSE(fill_cpu_mask({1024}, nullptr, mask));
  EXPECT_FALSE(fill_cpu_mask({-1}, nullptr, mask));
  std::uint64_t allowed[kCpuWords] = {2};
  EXPECT_TRUE(fill_cpu_mask({1}, allowed, mask));
  const auto refused = fill_cpu_mask({1, 5}, allowed, mask);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("CPU 5"), std::string::npos);
}

}  // namespace
}  // namespace assay::process::testing
