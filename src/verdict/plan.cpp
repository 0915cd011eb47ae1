#include "assay/verdict/plan.h"

#include "assay/base/random.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace assay::verdict {
namespace {

constexpr std::int64_t kMaxSeed = (INT64_C(1) << 53) - 1;
constexpr std::int64_t kMaxPaddingBytes = 4095;
// Bounds of a plan that is read: a hostile file must not make us allocate without limit.
constexpr std::int64_t kMaxRuns = 20'000'000;
constexpr std::int64_t kMaxPerAxis = 1'000'000;

// Appends the runs of one campaign in execution order.
class Scheduler {
 public:
  Scheduler(const PlanOptions& options, std::vector<PlannedRun>& runs, Xoshiro256& random)
      : options_(options), runs_(runs), random_(random) {
    // Whether an odd pair starts with the reference in even batches: one coin per case and phase,
    // so that cases do not all lean the same way in the same batch.
    for (std::size_t i = 0; i < options.cases.size() * 2; ++i)
      odd_first_.push_back(random_.below(2) == 0);
  }

  void batch(int batch) {
    std::vector<int> order(options_.cases.size());
    std::iota(order.begin(), order.end(), 0);
    random_.shuffle(order);
    for (const int case_index : order) {
      if (options_.blocks_order) {
        blocks(batch, case_index);
        continue;
      }
      pairs(batch, case_index, Phase::warmup);
      pairs(batch, case_index, Phase::measurement);
    }
  }

 private:
  int count(Phase phase) const {
    return phase == Phase::warmup ? options_.warmups : options_.pairs;
  }

  void add(const PlannedRun& run) {
    runs_.push_back(run);
    runs_.back().seq = static_cast<std::int64_t>(runs_.size()) - 1;
  }

  void pairs(int batch, int case_index, Phase phase) {
    const int n = count(phase);
    std::vector<bool> reference_first(static_cast<std::size_t>(n), false);
    std::fill_n(reference_first.begin(), n / 2, true);
    if (n % 2 == 1) {
      const auto coin = static_cast<std::size_t>(case_index) * 2 + (phase == Phase::warmup ? 0 : 1);
      reference_first.back() = odd_first_[coin] == (batch % 2 == 0);
    }
    for (std::size_t i = reference_first.size(); i-- > 1;) {
      const auto j = static_cast<std::size_t>(random_.below(i + 1));
      const bool kept = reference_first[i];
      reference_first[i] = reference_first[j];
      reference_first[j] = kept;
    }
    for (int pair = 0; pair < n; ++pair) {
      const bool first = reference_first[static_cast<std::size_t>(pair)];
      const Side sides[] = {first ? Side::reference : Side::candidate,
                            first ? Side::candidate : Side::reference};
      for (std::uint8_t position = 0; position < 2; ++position)
        add({0, batch, pair, case_index, sides[position], position, phase});
    }
  }

  void blocks(int batch, int case_index) {
    for (const Side side : {Side::reference, Side::candidate})
      for (const Phase phase : {Phase::warmup, Phase::measurement})
        for (int pair = 0; pair < count(phase); ++pair)
          add({0, batch, pair, case_index, side, static_cast<std::uint8_t>(side), phase});
  }

  const PlanOptions& options_;
  std::vector<PlannedRun>& runs_;
  Xoshiro256& random_;
  std::vector<bool> odd_first_;
};

std::int64_t run_count(const PlanOptions& o) {
  return INT64_C(2) * o.batches * static_cast<std::int64_t>(o.cases.size()) *
         (static_cast<std::int64_t>(o.pairs) + o.warmups);
}

Json options_json(const PlanOptions& o) {
  return {{"seed", o.seed},
          {"batches", o.batches},
          {"pairs", o.pairs},
          {"warmups", o.warmups},
          {"layout_padding", o.layout_padding},
          {"blocks_order", o.blocks_order},
          {"looks", o.looks},
          {"cases", o.cases}};
}

Result<std::vector<int>> parse_looks(ObjectReader& reader, int batches) {
  ASSAY_TRY(const Json* looks, reader.array("looks"));
  std::vector<int> out;
  for (const Json& look : *looks) {
    const int previous = out.empty() ? 0 : out.back();
    if (!look.is_number_integer() || look.get<std::int64_t>() <= previous ||
        look.get<std::int64_t>() > batches)
      return tl::unexpected(reader.error("looks", "ascending batch numbers up to `batches`"));
    out.push_back(look.get<int>());
  }
  if (!out.empty() && out.back() != batches)
    return tl::unexpected(reader.error("looks", "a last look after the last batch"));
  return out;
}

Result<std::vector<std::string>> parse_cases(ObjectReader& reader) {
  ASSAY_TRY(const Json* cases, reader.array("cases"));
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const Json& name : *cases) {
    if (!name.is_string() || !seen.insert(name.get<std::string>()).second)
      return tl::unexpected(reader.error("cases", "unique case names"));
    out.push_back(name.get<std::string>());
  }
  if (out.empty())
    return tl::unexpected(reader.error("cases", "at least one case"));
  return out;
}

Result<PlanOptions> parse_options(const Json& json, const std::string& where) {
  ObjectReader reader(json, where, "/options");
  PlanOptions o;
  ASSAY_TRY(o.seed, reader.integer("seed", 0, kMaxSeed));
  ASSAY_TRY(const std::int64_t batches, reader.integer("batches", 1, kMaxPerAxis));
  ASSAY_TRY(const std::int64_t pairs, reader.integer("pairs", 1, kMaxPerAxis));
  ASSAY_TRY(const std::int64_t warmups, reader.integer("warmups", 0, kMaxPerAxis));
  o.batches = static_cast<int>(batches);
  o.pairs = static_cast<int>(pairs);
  o.warmups = static_cast<int>(warmups);
  ASSAY_TRY(o.layout_padding, reader.boolean("layout_padding"));
  ASSAY_TRY(o.blocks_order, reader.boolean("blocks_order"));
  ASSAY_TRY(o.looks, parse_looks(reader, o.batches));
  ASSAY_TRY(o.cases, parse_cases(reader));
  ASSAY_TRY_VOID(reader.finish());
  if (static_cast<std::int64_t>(o.cases.size()) > kMaxRuns / (2 * batches) / (pairs + warmups))
    return fail(ErrorCode::invalid_format, "the plan has more than 20,000,000 runs", where);
  return o;
}

// Names the first run that is not the one the seed gives, or "" when the runs agree.
std::string first_difference(const Json& runs, const Plan& expected) {
  for (std::size_t i = 0; i < expected.runs.size(); ++i) {
    const PlannedRun& r = expected.runs[i];
    const Json row = {r.seq,
                      r.batch,
                      r.pair,
                      r.case_index,
                      static_cast<int>(r.side),
                      r.position,
                      static_cast<int>(r.phase)};
    if (runs[i] != row)
      return "run " + std::to_string(i) + " is " + runs[i].dump() + " where the seed gives " +
             row.dump();
  }
  return "";
}

}  // namespace

Plan make_plan(const PlanOptions& options) {
  ASSAY_CHECK(options.batches >= 1 && options.pairs >= 1 && options.warmups >= 0,
              "a plan needs at least one batch and one pair");
  ASSAY_CHECK(!options.cases.empty(), "a plan needs a case");
  Plan plan;
  plan.options = options;
  Xoshiro256 random(static_cast<std::uint64_t>(options.seed));
  // Always drawn, so that the same seed gives the same order with and without layout padding.
  for (int b = 0; b < options.batches; ++b) {
    const auto bytes = static_cast<int>(random.below(kMaxPaddingBytes + 1));
    plan.padding.push_back(options.layout_padding ? bytes : 0);
  }
  plan.runs.reserve(static_cast<std::size_t>(run_count(options)));
  Scheduler scheduler(options, plan.runs, random);
  for (int b = 0; b < options.batches; ++b)
    scheduler.batch(b);
  return plan;
}

std::string plan_text(const Plan& plan) {
  Json head = {{"schema", {{"name", "assay.plan"}, {"major", 1}, {"minor", 0}}},
               {"generator", "xoshiro256**/splitmix64"},
               {"options", options_json(plan.options)},
               {"padding_bytes", plan.padding},
               {"run_columns", {"seq", "batch", "pair", "case", "side", "position", "phase"}},
               {"sides", {"reference", "candidate"}},
               {"phases", {"warmup", "measurement", "profile", "capacity", "churn"}}};
  // The run rows are the bulk: written directly between the keys that sort before and after "runs".
  std::string rows;
  rows.reserve(plan.runs.size() * 24);
  for (const PlannedRun& r : plan.runs) {
    rows += rows.empty() ? "[" : ",[";
    const std::int64_t cells[] = {r.seq, r.batch, r.pair, r.case_index};
    for (const std::int64_t cell : cells)
      rows += std::to_string(cell) + ',';
    rows += std::to_string(static_cast<int>(r.side)) + ',' + std::to_string(r.position) + ',' +
            std::to_string(static_cast<int>(r.phase)) + ']';
  }
  std::string text = "{";
  const auto key = [&](const std::string& name, const std::string& value) {
    text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + value;
  };
  head["runs"] = nullptr;
  for (const auto& [name, value] : head.items())
    key(name, name == "runs" ? "[" + rows + "]" : canonical_json(value));
  return text + "}\n";
}

Result<Plan> parse_plan(std::string_view text, const std::string& where) {
  ASSAY_TRY(const Json json, parse_json(text, where));
  if (!json.is_object() || !json.contains("options") || !json.at("options").is_object())
    return fail(ErrorCode::invalid_format, "expected an object with `options`", where);
  ASSAY_TRY(const PlanOptions options, parse_options(json.at("options"), where));
  const auto runs = json.find("runs");
  if (runs == json.end() || !runs->is_array() ||
      static_cast<std::int64_t>(runs->size()) != run_count(options))
    return fail(ErrorCode::invalid_format,
                "expected `runs` with " + std::to_string(run_count(options)) + " rows", where);
  Plan plan = make_plan(options);
  const std::string difference = first_difference(*runs, plan);
  if (!difference.empty())
    return fail(ErrorCode::invalid_format, "the plan is not the one of its seed: " + difference,
                where);
  if (plan_text(plan) != text)
    return fail(ErrorCode::invalid_format,
                "the plan is not the canonical plan of its seed and options (padding, columns, "
                "schema or layout of the file differ)",
                where);
  return plan;
}

}  // namespace assay::verdict
