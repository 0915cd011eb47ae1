// The schedule: every intended run, fixed by a seed and hashed before the first of them starts.
//
// plan = f(seed, options), so audit can rebuild it. Format: docs/reference/plan.md.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::verdict {

enum class Side : std::uint8_t { reference, candidate };
enum class Phase : std::uint8_t { warmup, measurement, profile, capacity, churn };
std::string_view side_name(Side side);
std::string_view phase_name(Phase phase);
Result<Side> parse_side(std::string_view name);
Result<Phase> parse_phase(std::string_view name);

struct PlanOptions {
  std::int64_t seed = 0;  // 0..2^53-1
  int batches = 10;
  int pairs = 6;    // measured pairs per batch and case
  int warmups = 1;  // warm-up pairs per batch and case
  bool layout_padding = true;
  bool blocks_order = false;  // A..A B..B, only for `calibrate`'s comparison of plans
  std::vector<int>
      looks;  // adaptive: batches after which a verdict may stop the campaign; last == batches
  std::vector<std::string> cases;  // names, unique, in command-line order
};

struct PlannedRun {
  std::int64_t seq = 0;
  std::int32_t batch = 0;
  std::int32_t pair = 0;  // within (batch, case, phase)
  std::int32_t case_index = 0;
  Side side = Side::reference;
  std::uint8_t position = 0;  // 0 = first of its pair
  Phase phase = Phase::measurement;
};

struct Plan {
  PlanOptions options;
  std::vector<int> padding;      // bytes per batch, 0..4095; all 0 without layout padding
  std::vector<PlannedRun> runs;  // execution order; the two runs of a pair are adjacent
};

// Cases are interleaved inside each batch: a seeded permutation of the cases per batch; per case
// warm-ups, then measured pairs. Side order is balanced inside each (batch, case): half
// reference-first, the odd one alternating between batches, in a seeded permutation. xoshiro256**.
Plan make_plan(const PlanOptions& options);

// Canonical JSON with one compact array per run ("run_columns" names the columns); final LF.
std::string plan_text(const Plan& plan);
// Refuses a plan whose runs are not f(seed, options).
Result<Plan> parse_plan(std::string_view text, const std::string& where);

}  // namespace assay::verdict
