// policy.json of a comparison: everything that governed the campaign, with no inherited environment
// and no home, checkout or temp path (they appear as {home}, {repo}, {tmp}).
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/verdict/sample.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::verdict {

struct CommandRecord {
  std::string name;               // display name
  std::vector<std::string> argv;  // redacted, sanitised UTF-8
  std::string program_sha256;     // of the resolved binary; "" when not readable
};

// One case: a candidate at a parameter point, with its own reference runs.
struct CasePolicy {
  std::string name;  // "candidate" or "candidate{VAR=value}"; unique
  CommandRecord reference, candidate;
  std::map<std::string, std::string> parameters;
  std::optional<std::string> oracle_sha256;
};

struct Gates {
  std::optional<double> wall_cap;  // ratio, 1 + PCT/100
  std::optional<double> cpu_cap;
  std::optional<double> rss_cap;
  bool tail = false;
};

// Above which a host counts as disturbed; measuring goes on, and the report names it.
struct HostBounds {
  double load1 = 0;        // 1-minute load average, before the first run
  double steal_share = 0;  // share of the CPU ticks that the hypervisor took, 0..1, over the runs
};

struct ComparePolicy {
  std::vector<CasePolicy> cases;
  Gates gates;
  double level = 0.95;
  std::int64_t bootstrap_draws = 2000;
  bool adaptive = false;
  std::optional<double> smallest_difference;  // --resolve PCT: for host_cannot_resolve
  std::string oracle_kind = "none";           // none, file, command
  bool require_empty_stderr = false;
  bool ignore_all_failures = false;
  std::vector<int> ignored_exit_codes;
  std::optional<std::int64_t> timeout_ns;
  std::int64_t stdout_bound_bytes = 1 << 20;
  std::int64_t stderr_bound_bytes = 1 << 20;
  std::string output_mode = "capture";
  std::string shell;  // "" = none
  std::vector<int> cpus;
  std::map<std::string, std::string> environment;         // our overrides only
  std::map<std::string, std::vector<std::string>> hooks;  // setup, prepare, conclude, cleanup
  std::optional<std::int64_t> hook_timeout_ns;            // of each hook and --oracle-cmd
  std::string input;                                      // redacted path, "" = /dev/null
  std::optional<std::string> input_sha256;
  std::optional<HostBounds> host_bounds;  // absent in archives that judge no host state
};

Json policy_json(const ComparePolicy& policy);
Result<ComparePolicy> parse_compare_policy(const Json& json, const std::string& where);
Json host_bounds_json(const HostBounds& bounds);
// Of a policy's JSON; nullopt where it has none. Errors: invalid_format.
Result<std::optional<HostBounds>> parse_host_bounds(const Json& policy, const std::string& where);
Expectation expectation_of(const ComparePolicy& policy, const CasePolicy& case_policy);

}  // namespace assay::verdict
