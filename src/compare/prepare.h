// Everything that can be refused, checked before the first run: words, programs, files, CPUs,
// layout.
#pragma once

#include "parameters.h"

#include "assay/base/result.h"
#include "assay/compare/campaign.h"
#include "assay/compare/compare.h"
#include "assay/verdict/plan.h"

#include <string>
#include <vector>

namespace assay::compare {

struct Prepared {
  std::vector<PreparedCase> cases;
  RunSettings settings;
  verdict::PlanOptions plan;
  std::string archive_path;  // "" = default place
  std::vector<std::string> notices;
  std::vector<UsedFile> used_files;  // programs, inputs, oracles, and what commands name
};

// Starts no process and writes nothing. --oracle-cmd is only split and resolved.
Result<Prepared> prepare(const CompareOptions& options);

// "candidate", "candidate-2", "reference": what a command is called in errors.
std::string command_role(std::size_t index, std::size_t commands);

}  // namespace assay::compare
