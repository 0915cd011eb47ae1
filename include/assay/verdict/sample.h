// One run as evidence: a line of samples.jsonl. Keys and units: docs/reference/samples.md.
#pragma once

#include "assay/base/result.h"
#include "assay/verdict/plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace assay::verdict {

// A null fact carries a reason code in `reasons` under its key.
struct Sample {
  std::int64_t seq = 0;
  std::int64_t batch = 0;
  std::int64_t pair = 0;
  std::string case_name;
  Side side = Side::reference;
  std::int64_t position = 0;
  Phase phase = Phase::measurement;
  std::string status;  // outcome_name(): ok, failed, timeout, output_limit, launch_error
  std::optional<std::int64_t> exit_code;
  std::int64_t signal = 0;         // 0 = ended by exit
  std::string bound_hit = "none";  // none, timeout, stdout, stderr
  std::optional<std::int64_t> elapsed_ns;
  std::optional<std::int64_t> user_ns, system_ns;
  std::optional<std::int64_t>
      peak_rss_bytes;  // null with reason rss_quantised when the kernel says 0
  std::optional<std::int64_t> minor_faults, major_faults;
  std::optional<std::int64_t> voluntary_switches, involuntary_switches;
  std::optional<std::string> stdout_sha256, stderr_sha256;  // null when truncated
  std::optional<std::int64_t> stdout_bytes, stderr_bytes;
  std::int64_t descendants_left = 0;
  std::optional<std::int64_t> start_monotonic_ns;  // a string in JSON
  std::optional<double> load1, steal_share;
  std::map<std::string, double> metrics;       // omitted from the line when empty
  std::map<std::string, std::string> reasons;  // omitted from the line when empty
};

// Canonical JSON, no LF.
std::string sample_line(const Sample& sample);
Result<Sample> parse_sample(std::string_view text, const std::string& where);

// Why a sample's run cannot be used as a measurement: "" when it can. Uses the policy's
// expectations: status ok (or an ignored exit code), stdout digest equal to the oracle's, stderr
// empty where required.
struct Expectation {
  std::optional<std::string> stdout_sha256;  // the oracle's digest
  bool require_empty_stderr = false;
  bool ignore_all_failures = false;
  std::vector<int> ignored_exit_codes;
};
// "", "failed", "timeout", "output_limit", "launch_error", "wrong_output", "noisy_stderr"
std::string_view rejection(const Sample& sample, const Expectation& expectation);

}  // namespace assay::verdict
