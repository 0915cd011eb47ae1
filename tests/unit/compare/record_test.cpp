#include "compare/record.h"

#include "assay/base/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using process::Outcome;
using testing::IsEmpty;

process::RunResult good_run() {
  process::RunResult run;
  run.outcome = Outcome::ok;
  run.exit_code = 0;
  run.bound_hit = "none";
  run.start = Nanoseconds(123);
  run.elapsed = Nanoseconds(456);
  run.user = Nanoseconds(7);
  run.peak_rss = Bytes(4096);
  run.out.bytes = "ok\n";
  run.out.total = 3;
  return run;
}

verdict::PlannedRun planned() {
  verdict::PlannedRun run;
  run.seq = 9;
  run.batch = 2;
  run.pair = 1;
  run.side = verdict::Side::candidate;
  run.position = 1;
  return run;
}

verdict::Sample sample_of(const process::RunResult& run,
                          process::OutputMode output = process::OutputMode::capture) {
  return to_sample(planned(), "case", run, {0.5, 0.25}, output);
}

// Every null needs its reason, or the line could not be read back.
void expect_readable(const verdict::Sample& sample) {
  const std::string line = verdict::sample_line(sample);
  const auto back = verdict::parse_sample(line, "line");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(verdict::sample_line(*back), line);
}

TEST(Record, a_good_run_has_every_fact_and_no_reason) {
  const verdict::Sample s = sample_of(good_run());
  EXPECT_EQ(s.seq, 9);
  EXPECT_EQ(s.status, "ok");
  EXPECT_EQ(s.exit_code, 0);
  EXPECT_EQ(s.elapsed_ns, 456);
  EXPECT_EQ(s.stdout_sha256, sha256_hex("ok\n"));
  EXPECT_EQ(s.stdout_bytes, 3);
  EXPECT_EQ(s.stderr_sha256, sha256_hex(""));
  EXPECT_EQ(s.load1, 0.5);
  EXPECT_THAT(s.reasons, IsEmpty());
  expect_readable(s);
}

TEST(Record, issue_06_a_peak_rss_of_zero_is_unavailable_and_never_a_number) {
  process::RunResult run = good_run();
  run.peak_rss = Bytes(0);
  const verdict::Sample s = sample_of(run);
  EXPECT_FALSE(s.peak_rss_bytes);
  EXPECT_EQ(s.reasons.at("peak_rss_bytes"), "rss_quantised");
  EXPECT_EQ(s.elapsed_ns, 456) << "the rest of the run is kept";
  expect_readable(s);
}

TEST(Record, a_time_that_is_not_positive_is_below_resolution) {
  process::RunResult run = good_run();
  run.elapsed = Nanoseconds(0);
  EXPECT_EQ(sample_of(run).reasons.at("elapsed_ns"), "below_resolution");
  run.elapsed = Nanoseconds(-5);
  EXPECT_FALSE(sample_of(run).elapsed_ns);
  expect_readable(sample_of(run));
}

TEST(Record, a_truncated_output_has_a_size_and_no_digest) {
  process::RunResult run = good_run();
  run.out.truncated = true;
  run.out.total = 5000;
  const verdict::Sample s = sample_of(run);
  EXPECT_FALSE(s.stdout_sha256);
  EXPECT_EQ(s.reasons.at("stdout_sha256"), "output_truncated");
  EXPECT_EQ(s.stdout_bytes, 5000);
  expect_readable(s);
}

TEST(Record, an_output_that_was_not_captured_has_neither_size_nor_digest) {
  for (const auto mode :
       {process::OutputMode::null, process::OutputMode::file, process::OutputMode::inherit}) {
    const verdict::Sample s = sample_of(good_run(), mode);
    EXPECT_FALSE(s.stdout_sha256);
    EXPECT_FALSE(s.stdout_bytes);
    EXPECT_EQ(s.reasons.at("stdout_sha256"), "output_not_captured");
    expect_readable(s);
  }
}

TEST(Record, a_run_that_never_started_has_no_figures) {
  process::RunResult run;
  run.outcome = Outcome::launch_error;
  run.launch_errno = 2;
  const verdict::Sample s = sample_of(run);
  EXPECT_EQ(s.status, "launch_error");
  EXPECT_FALSE(s.exit_code);
  EXPECT_FALSE(s.elapsed_ns);
  EXPECT_FALSE(s.user_ns);
  EXPECT_FALSE(s.stdout_sha256);
  EXPECT_EQ(s.bound_hit, "none");
  expect_readable(s);
}

TEST(Record, a_run_killed_by_a_signal_has_no_exit_code) {
  process::RunResult run = good_run();
  run.outcome = Outcome::failed;
  run.signal = 11;
  const verdict::Sample s = sample_of(run);
  EXPECT_EQ(s.signal, 11);
  EXPECT_FALSE(s.exit_code);
  expect_readable(s);
}

TEST(Record, an_unknown_load_is_null_with_a_reason) {
  const verdict::Sample s = to_sample(planned(), "case", good_run(), {});
  EXPECT_FALSE(s.load1);
  EXPECT_FALSE(s.steal_share);
  EXPECT_EQ(s.reasons.size(), 2U);
  expect_readable(s);
}

TEST(Record, kept_lines_become_the_same_samples_and_a_bad_one_is_named) {
  const std::string line =
      verdict::sample_line(to_sample(planned(), "case", good_run(), {0.5, 0.0}));
  const auto samples = read_samples(std::vector<std::string>{line, line});
  ASSERT_TRUE(samples) << samples.error().message();
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ(verdict::sample_line(samples->back()), line);
  const auto bad = read_samples(std::vector<std::string>{line, "{}"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where.rfind("samples.jsonl:2", 0), 0U) << bad.error().message();
}

}  // namespace
}  // namespace assay::compare
