// Executes a plan, whoever made it: hooks, runs, evidence after each pair, judgement after the
// evidence.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/evidence/archive.h"
#include "assay/process/launcher.h"
#include "assay/process/run.h"
#include "assay/verdict/plan.h"
#include "assay/verdict/report.h"
#include "assay/verdict/sample.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::compare {

using Argv = std::vector<std::string>;  // empty = none

struct PreparedSide {
  std::string name;            // display name
  Argv argv;                   // what is executed: the words, or a shell and its text
  std::string program;         // resolved argv[0]
  std::string program_sha256;  // "" when it cannot be read
  process::OutputMode output = process::OutputMode::capture;
  std::string output_path;
  Argv setup, prepare, conclude, cleanup;
};

struct PreparedCase {
  std::string name;
  std::map<std::string, std::string> parameters;   // VAR -> value
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

// What a campaign asks of its evidence. Every error is final: what cannot be recorded is not run.
class CampaignEvidence {
 public:
  virtual ~CampaignEvidence() = default;

  virtual const verdict::Plan& plan() const = 0;
  virtual verdict::Expectation expectation(std::size_t case_index) const = 0;

  virtual Result<void> event(std::string_view type, Json payload) = 0;
  // LF-terminated lines of one pair.
  virtual Result<void> append_pair(const std::string& lines,
                                   const evidence::ArchiveWriter::PairAnchor& anchor) = 0;
  // The bytes behind a digest of the samples.
  virtual Result<void> keep_output(const std::string& digest, std::string_view bytes) = 0;
  virtual Result<void> sync() = 0;
  // At a planned look after `batches`: whether the campaign may stop. `so_far` has no ending yet.
  virtual Result<bool> decided(const verdict::Ending& so_far, int batches) const = 0;
};

struct Progress {
  int pairs_done = 0, pairs_planned = 0;
  int batch = 0, batches = 0;
  std::string what;  // the case being measured
  double elapsed_seconds = 0;
};

struct CampaignEnd {
  verdict::Ending ending;
  std::string first_failure;  // human text: which run, code, stderr excerpt; "" when none
  int stop_signal = 0;
};

// Runs the plan of `evidence`; its case i is cases[i]. An error means that evidence could not be
// persisted; everything else is an ending.
Result<CampaignEnd> run_campaign(const std::vector<PreparedCase>& cases,
                                 const RunSettings& settings, process::Launcher& launcher,
                                 CampaignEvidence& evidence,
                                 const std::function<void(const Progress&)>& progress);

}  // namespace assay::compare
