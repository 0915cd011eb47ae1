// report.json: a pure function of an archive's other files. Never reads clock, locale, path or
// threads.
//
// Schema: docs/reference/report.md.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/verdict/plan.h"
#include "assay/verdict/policy.h"
#include "assay/verdict/sample.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::verdict {

// How the campaign ended, from the journal's terminal event.
struct Ending {
  std::string type = "finished";  // finished, interrupted, failed
  std::string reason;             // e.g. "sigint", "launcher_lost", "run_failed", "stopped_at_look"
  std::int64_t batches_done = 0;  // whole batches executed
  // Of programs that a hook may have built: what ran, as the first batch's end found it.
  struct BuiltProgram {
    std::int64_t case_index = 0;
    Side side = Side::reference;
    std::string sha256;
  };
  std::vector<BuiltProgram> built;
};

struct CompareInputs {
  Json header;
  ComparePolicy policy;
  Plan plan;
  std::vector<Sample> samples;  // in file order
  Ending ending;
  Json host;
  // The host's calibration report (docs/reference/calibrate.md) copied into the archive, if any.
  std::optional<Json> calibration = std::nullopt;
};

// The whole report value. Fails only on inputs that contradict each other (a sample not in the
// plan).
Result<Json> derive_compare_report(const CompareInputs& inputs);

// The adaptive stopping rule at a look: true when every gated (or, without a gate, every wall)
// verdict of every case is decided at the Pocock level.
Result<bool> decided_at_look(const CompareInputs& inputs, int batches);

// `assay analyze`: somebody's own numbers. Paired and batched data get both methods and, with a
// cap, a gate; unpaired or unbatched data are analysed, labelled and never gated.
struct AnalyzeData {
  // "pairs_csv", "assay_csv", "assay_archive", "hyperfine", "google_benchmark", "pyperf"
  std::string source;
  std::string name;       // case name
  std::string unit = {};  // of the values: "ns", "us", "ms", "s", ...; "" = the file does not say
  bool paired = false, batched = false;
  std::vector<double> reference, candidate;  // > 0
  std::vector<int> batch;                    // per pair when batched
  std::vector<bool> candidate_first = {};    // per pair where the order is recorded, else empty
  std::int64_t pairs_rejected = 0;           // pairs with an unusable run, left out
  // What the campaign's own report says against its runs; a claim is made from them only where
  // they are a sample of what was meant.
  std::vector<std::string> warnings = {};
  bool no_claim = false;
};
struct AnalyzeOptions {
  std::int64_t seed = 0;
  std::int64_t draws = 2000;
  double level = 0.95;
  std::optional<double> cap;
  std::string method;  // "" = all that apply, or a method id
  std::vector<std::string> unmatched =
      {};  // names that only one of two files holds: listed, never analysed
  // Called with the draws done and those in all, over all cases.
  std::function<void(std::int64_t, std::int64_t)> drawn = {};
};
// The method ids that `method` may name.
std::vector<std::string> analysis_methods();
// Schema `assay.analysis` 1.0: docs/reference/analyze.md.
Json derive_analysis(const std::vector<AnalyzeData>& data, const AnalyzeOptions& options);

// Exactly one place maps a report to an exit code (docs/reference/exit-codes.md).
int exit_code_of(const Json& report);

}  // namespace assay::verdict
