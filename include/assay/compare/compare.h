// `assay compare`: the paired runner. Plan first, evidence before judgement, then a report.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/compare/campaign.h"
#include "assay/evidence/archive.h"
#include "assay/process/launcher.h"
#include "assay/verdict/policy.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::compare {

inline constexpr std::int64_t kDefaultHookTimeoutNs = INT64_C(600'000'000'000);

// A file that a campaign reads or makes; `what` says as what: "--input", "candidate './new x'".
struct UsedFile {
  std::string what, path;
};

struct CompareOptions {
  std::vector<std::string> commands;  // [0] is the reference
  std::vector<std::string> names;     // -n, aligned with commands where given
  std::optional<std::string> reference_name;
  // VAR -> values; cartesian product, the last VAR varying fastest
  std::vector<std::pair<std::string, std::vector<std::string>>> parameters;
  std::optional<int> batches, pairs, warmups, runs;  // runs = -r, total pairs
  std::optional<int> min_runs, max_runs;             // adaptive bounds on total pairs
  std::optional<std::int64_t> seed;
  bool adaptive = false;
  bool layout_padding = true;
  std::string shell;                           // "" = none
  std::string setup, cleanup;                  // once per side per batch
  std::vector<std::string> prepare, conclude;  // around every run; one for all or one per command
  // Of each hook and of the oracle command; 0 = none. Long: it ends what would hang for ever.
  std::int64_t hook_timeout_ns = kDefaultHookTimeoutNs;
  std::string input;
  std::optional<std::string> oracle_file, oracle_command;
  verdict::Gates gates;
  bool require_empty_stderr = false;
  bool ignore_all_failures = false;
  std::vector<int> ignored_exit_codes;
  bool fail_fast = false;
  std::optional<std::int64_t> timeout_ns;
  std::int64_t stdout_bound = 1 << 20, stderr_bound = 1 << 20;
  std::vector<std::string> output;  // null, pipe, inherit or a file; one for all or one per command
  bool show_output = false;
  bool idle_gap = false;  // equalise the gap between runs
  std::vector<int> cpus;
  // What `cpus` may name; empty = where this process may run now (it may have moved aside already).
  std::vector<int> usable_cpus;
  std::optional<double> resolve;  // smallest difference of interest, ratio - 1
  std::int64_t bootstrap_draws = 2000;
  double level = 0.95;
  std::optional<std::string> archive;  // nullopt = default place
  std::optional<std::string>
      store;                // of the default place; nullopt = $ASSAY_STORE, else ./assay-archives
  bool no_archive = false;  // nothing is written; the report is derived from memory
  std::string tool_version;
  // Called before the first run with what is worth knowing but refuses nothing; may be empty.
  std::function<void(const std::string&)> notice;
  // Called once everything else was checked, before anything is run or written, with every file
  // that the campaign uses: its error refuses what the caller means to write. May be empty.
  std::function<Result<void>(const std::vector<UsedFile>&)> check_files;
};

struct CompareResult {
  Json report;
  std::string report_bytes;               // exactly report.json's bytes
  std::string archive_path;               // "" with no_archive
  evidence::FileDigests digests;          // of the archive's files, as they were certified
  std::vector<std::string> sample_lines;  // only with no_archive: else samples.jsonl has them
  std::string first_failure;  // human text: which run, code, stderr excerpt; "" when none
  int stop_signal = 0;
};

// Everything that can be refused is refused before the first run: commands, files, numbers,
// layouts.
Result<CompareResult> run_compare(const CompareOptions& options, process::Launcher& launcher,
                                  const std::function<void(const Progress&)>& progress);

// The lines of the samples: of an archive, read again, and an error unless they are those that were
// certified.
Result<std::vector<std::string>> sample_lines(const CompareResult& result);

// --dry-run: the same checks, then the plan in plain words. Runs and writes nothing (an
// --oracle-cmd is not run).
Result<std::string> describe_plan(const CompareOptions& options);
// The same for programs: {"plan": plan.json, "policy": policy.json}, as a campaign with this seed
// would record them.
Result<Json> plan_documents(const CompareOptions& options);

// The points of `-P VAR MIN MAX -D STEP`, exact in decimal: ("0.5", "2", "0.5") -> 0.5 1.0 1.5 2.0.
Result<std::vector<std::string>> scan_values(const std::string& min, const std::string& max,
                                             const std::string& step);

}  // namespace assay::compare
