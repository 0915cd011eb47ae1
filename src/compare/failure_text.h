// What is said about the run that stopped a campaign.
#pragma once

#include "assay/compare/campaign.h"
#include "assay/process/run.h"
#include "assay/verdict/plan.h"
#include "assay/verdict/sample.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::compare {

struct FailedRun {
  const PreparedCase& one;
  const verdict::Plan& plan;
  const verdict::PlannedRun& planned;
  const verdict::Sample& sample;
  const process::RunResult& result;
  std::string_view why;  // verdict::rejection()
};

// "candidate run 8 of 20 (batch 3, pair 1) failed: exit code 3", the excerpt of stderr, the fix.
std::string failure_text(const FailedRun& failed);

// Where two outputs part: "first difference at byte 7 (line 2): expected "x", got "y"".
std::string difference_text(std::string_view expected, std::string_view got);

// At most four lines of the end of stderr, printable, indented; "" when it is empty.
std::string stderr_excerpt(std::string_view bytes);

// Of a hook or an oracle command: names --hook-timeout where that ended it.
std::string hook_ending_text(const process::RunResult& result);

// "exit code 3", "killed by signal 11 (Segmentation fault)", ...
std::string ending_text(const process::RunResult& result);

}  // namespace assay::compare
