// The samples of a campaign, checked against the plan and grouped into complete pairs.
#pragma once

#include "assay/verdict/report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::verdict {

// Both runs usable by rejection(). The pointers live as long as the CompareInputs.
struct CompletePair {
  const Sample* reference = nullptr;
  const Sample* candidate = nullptr;
  int batch = 0;
  bool candidate_first = false;
};

struct RejectedRun {
  const Sample* sample = nullptr;
  std::string_view why;
};

// What the output digests of all runs of a case say without an oracle.
struct OutputEquality {
  std::optional<bool> equal;
  std::string reason;  // outputs_differ, output_not_deterministic, output_not_checked or ""
};

struct CaseData {
  const CasePolicy* policy = nullptr;
  std::vector<CompletePair> pairs;  // by (batch, pair)
  std::int64_t pairs_planned = 0;   // inside the campaign's scope
  std::int64_t pairs_rejected = 0;  // ran, but a run of them is not usable
  std::set<std::string> blockers;   // run_failed, wrong_output, ...: of every phase
  OutputEquality outputs;
  bool exits_differ = false;  // exit codes or signals that only one side's runs ended with
};

struct Campaign {
  const CompareInputs* inputs = nullptr;
  std::vector<const Sample*> by_seq;  // one slot per planned run; nullptr = no sample
  std::vector<CaseData> cases;        // in plan order
  std::vector<RejectedRun> rejected;  // in plan order
  int batches_scope = 0;              // planned batches, or those up to the stopping look
  int batches_used = 0;               // with at least one complete pair
  std::int64_t runs_recorded = 0;
  std::optional<std::int64_t> stopped_at_look;
  std::string status;  // measured, interrupted, failed
  double level = 0;    // of the intervals
  double alpha = 0;    // one-sided, of every gate

  bool interrupted() const { return status == "interrupted"; }
};

// `batch_limit` >= 0 looks only at batches below it, as if the campaign had stopped there.
Result<Campaign> collect(const CompareInputs& inputs, int batch_limit = -1);

// "failed" -> "run_failed": the blocker that a rejection becomes.
std::string blocker_of(std::string_view rejection);

}  // namespace assay::verdict
