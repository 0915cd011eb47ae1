// Runs of our own campaigns as input of `assay analyze`.
#include "assay/base/text.h"
#include "assay/verdict/inputs.h"

#include <algorithm>
#include <map>
#include <utility>

namespace assay::verdict {
namespace {

struct HalfPair {
  const CampaignRun* sides[2] = {nullptr, nullptr};
};
using PairsByPlace = std::map<std::pair<std::int64_t, std::int64_t>, HalfPair>;

AnalyzeData data_of(const std::string& name, const PairsByPlace& pairs, const std::string& source) {
  AnalyzeData data;
  data.source = source;
  data.unit = "ns";
  data.name = sanitize_utf8(name);
  data.paired = data.batched = true;
  for (const auto& [place, half] : pairs) {
    const CampaignRun* reference = half.sides[0];
    const CampaignRun* candidate = half.sides[1];
    const bool whole = reference != nullptr && candidate != nullptr;
    if (!whole || !reference->usable || !candidate->usable) {
      ++data.pairs_rejected;
      continue;
    }
    data.reference.push_back(reference->elapsed_ns);
    data.candidate.push_back(candidate->elapsed_ns);
    data.batch.push_back(static_cast<int>(place.first));
    data.candidate_first.push_back(candidate->position == 0);
  }
  return data;
}

}  // namespace

Result<std::vector<AnalyzeData>> pairs_of_runs(const std::vector<CampaignRun>& runs,
                                               const std::string& source) {
  std::vector<std::pair<std::string, PairsByPlace>> cases;  // in order of appearance
  for (const CampaignRun& run : runs) {
    auto found = std::find_if(cases.begin(), cases.end(),
                              [&run](const auto& one) { return one.first == run.case_name; });
    if (found == cases.end())
      found = cases.insert(cases.end(), {run.case_name, {}});
    const CampaignRun*& slot =
        found->second[{run.batch, run.pair}].sides[static_cast<std::size_t>(run.side)];
    if (slot != nullptr)
      return fail(ErrorCode::invalid_format,
                  "batch " + std::to_string(run.batch) + ", pair " + std::to_string(run.pair) +
                      " holds two runs of one side, the first at " + slot->where,
                  run.where);
    slot = &run;
  }
  std::vector<AnalyzeData> out;
  for (const auto& [name, pairs] : cases)
    out.push_back(data_of(name, pairs, source));
  return out;
}

Result<std::optional<CampaignRun>> run_of_sample(std::string_view line, const std::string& where,
                                                 const ComparePolicy& policy) {
  ASSAY_TRY(const Sample sample, parse_sample(line, where));
  if (sample.phase != Phase::measurement)
    return std::nullopt;
  const auto policy_case =
      std::find_if(policy.cases.begin(), policy.cases.end(),
                   [&sample](const CasePolicy& one) { return one.name == sample.case_name; });
  if (policy_case == policy.cases.end())
    return fail(ErrorCode::invalid_format,
                "policy.json has no case '" + printable(sample.case_name, 60) + "'", where);
  CampaignRun run{sample.case_name, sample.batch, sample.pair, sample.side,
                  sample.position,  true,         0,           where};
  run.elapsed_ns = static_cast<double>(sample.elapsed_ns.value_or(0));
  run.usable =
      run.elapsed_ns > 0 && rejection(sample, expectation_of(policy, *policy_case)).empty();
  return run;
}

}  // namespace assay::verdict
