#include "record.h"

#include "assay/base/sha256.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::compare {
namespace {

using process::Outcome;
using process::OutputMode;

void absent(verdict::Sample& sample, const char* key, const char* reason) {
  sample.reasons.emplace(key, reason);
}

// One captured stream into its two keys.
struct StreamKeys {
  std::optional<std::string>& digest;
  std::optional<std::int64_t>& bytes;
  const char* digest_key;
  const char* bytes_key;
};

void set_stream(verdict::Sample& sample, const process::Captured& stream, const char* missing,
                StreamKeys keys) {
  if (missing != nullptr) {
    absent(sample, keys.digest_key, missing);
    absent(sample, keys.bytes_key, missing);
    return;
  }
  keys.bytes = stream.total;
  if (stream.truncated)
    absent(sample, keys.digest_key, "output_truncated");
  else
    keys.digest = sha256_hex(stream.bytes);
}

void set_figures(verdict::Sample& sample, const process::RunResult& run) {
  sample.user_ns = run.user.value;
  sample.system_ns = run.system.value;
  sample.minor_faults = run.minor_faults;
  sample.major_faults = run.major_faults;
  sample.voluntary_switches = run.voluntary_switches;
  sample.involuntary_switches = run.involuntary_switches;
  sample.start_monotonic_ns = run.start.value;
  if (run.elapsed.value > 0)
    sample.elapsed_ns = run.elapsed.value;
  else
    absent(sample, "elapsed_ns", "below_resolution");
  if (run.peak_rss.value > 0)
    sample.peak_rss_bytes = run.peak_rss.value;
  else
    absent(sample, "peak_rss_bytes", "rss_quantised");
}

void set_nothing_ran(verdict::Sample& sample) {
  for (const char* key :
       {"elapsed_ns", "user_ns", "system_ns", "peak_rss_bytes", "minor_faults", "major_faults",
        "voluntary_switches", "involuntary_switches", "start_monotonic_ns"})
    absent(sample, key, "not_started");
}

void set_load(verdict::Sample& sample, const host::LoadMeter::Reading& load) {
  sample.load1 = load.load1;
  if (!load.load1)
    absent(sample, "load1", "not_available");
  // Ticks are coarse: four decimals hold all there is.
  if (load.steal_share)
    sample.steal_share = std::round(*load.steal_share * 1e4) / 1e4;
  else
    absent(sample, "steal_share", "not_available");
}

Result<void> add_sample(std::vector<verdict::Sample>& samples, std::string_view line,
                        std::int64_t number) {
  ASSAY_TRY(verdict::Sample sample,
            verdict::parse_sample(line, fmt::format("samples.jsonl:{}", number)));
  samples.push_back(std::move(sample));
  return {};
}

}  // namespace

verdict::Sample to_sample(const verdict::PlannedRun& planned, const std::string& case_name,
                          const process::RunResult& run, const host::LoadMeter::Reading& load,
                          OutputMode output) {
  verdict::Sample sample;
  sample.seq = planned.seq;
  sample.batch = planned.batch;
  sample.pair = planned.pair;
  sample.case_name = case_name;
  sample.side = planned.side;
  sample.position = planned.position;
  sample.phase = planned.phase;
  sample.status = process::outcome_name(run.outcome);
  sample.signal = run.signal;
  sample.bound_hit = run.bound_hit.empty() ? "none" : run.bound_hit;
  sample.descendants_left = run.descendants_left;
  const bool started = run.outcome != Outcome::launch_error;
  if (!started)
    absent(sample, "exit_code", "not_started");
  else if (run.signal != 0)
    absent(sample, "exit_code", "ended_by_signal");
  else
    sample.exit_code = run.exit_code;
  if (started)
    set_figures(sample, run);
  else
    set_nothing_ran(sample);
  const char* no_stdout = !started                        ? "not_started"
                          : output != OutputMode::capture ? "output_not_captured"
                                                          : nullptr;
  const bool no_stderr = !started || output == OutputMode::inherit;
  set_stream(sample, run.out, no_stdout,
             {sample.stdout_sha256, sample.stdout_bytes, "stdout_sha256", "stdout_bytes"});
  set_stream(sample, run.err,
             !no_stderr ? nullptr
             : started  ? "output_not_captured"
                        : "not_started",
             {sample.stderr_sha256, sample.stderr_bytes, "stderr_sha256", "stderr_bytes"});
  set_load(sample, load);
  return sample;
}

Result<std::vector<verdict::Sample>> read_samples(const evidence::ArchiveReader& archive) {
  std::vector<verdict::Sample> samples;
  ASSAY_TRY_VOID(archive.for_each_line("samples.jsonl",
                                       [&samples](std::string_view line, std::int64_t number) {
                                         return add_sample(samples, line, number);
                                       }));
  return samples;
}

Result<std::vector<verdict::Sample>> read_samples(const std::vector<std::string>& lines) {
  std::vector<verdict::Sample> samples;
  std::int64_t number = 0;
  for (const std::string& line : lines)
    ASSAY_TRY_VOID(add_sample(samples, line, ++number));
  return samples;
}

}  // namespace assay::compare
