// Everything that can be refused, checked before the first run: words, programs, files, CPUs,
// layout.
#pragma once

#include "parameters.h"

#include "assay/base/result.h"
#include "assay/compare/compare.h"
#include "assay/process/run.h"
#include "assay/verdict/plan.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

using Argv = std::vector<std::string>;  // empty = none

struct PreparedSide {
  std::string name;     // display name
  Argv argv;            // what is executed: the words, or a shell and its text
  std::string program;  // resolved argv[0]
  process::OutputMode output = process::OutputMode::capture;
  std::string output_path;
  Argv setup, prepare, conclude, cleanup;
};

struct PreparedCase {
  std::string name;
  ParameterPoint parameters;
  std::array<PreparedSide, 2> sides;               // by verdict::Side
  std::string input;                               // of every run's stdin; "" = /dev/null
  std::optional<std::string> input_sha256;         // of that file, where there is one
  std::map<std::string, std::string> environment;  // overrides of its own, on both sides
  Argv oracle_command;
  std::optional<std::string> oracle;  // the right stdout, byte for byte

  const PreparedSide& side(verdict::Side which) const {
    return sides[which == verdict::Side::reference ? 0 : 1];
  }
};

// How the runs of a campaign are made, whatever they run.
struct RunSettings {
  std::optional<Nanoseconds> timeout;       // of a run
  std::optional<Nanoseconds> hook_timeout;  // of a hook
  Bytes stdout_bound{1 << 20}, stderr_bound{1 << 20};
  std::vector<int> cpus;           // of the runs; empty = inherited
  bool layout_padding = true;      // ASSAY_PAD as the plan has it
  bool idle_gap = false;           // the same idle time before every run
  bool show_output = false;        // outputs are copied to our stderr
  bool stops_at_rejection = true;  // the first rejected run ends the campaign
};

struct Prepared {
  std::vector<PreparedCase> cases;
  RunSettings settings;
  verdict::PlanOptions plan;
  std::string archive_path;  // "" = default place
  std::vector<std::string> notices;
};

// Starts no process and writes nothing. --oracle-cmd is only split and resolved.
Result<Prepared> prepare(const CompareOptions& options);

// "candidate", "candidate-2", "reference": what a command is called in errors.
std::string command_role(std::size_t index, std::size_t commands);

}  // namespace assay::compare
