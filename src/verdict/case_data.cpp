#include "case_data.h"

#include "assay/stats/gate.h"

#include <algorithm>

namespace assay::verdict {
namespace {

std::string place(const Sample& s) {
  return "samples.jsonl seq " + std::to_string(s.seq);
}

bool matches(const Sample& s, const PlannedRun& run, const std::vector<std::string>& cases) {
  return s.batch == run.batch && s.pair == run.pair && s.side == run.side &&
         s.position == run.position && s.phase == run.phase &&
         s.case_name == cases[static_cast<std::size_t>(run.case_index)];
}

Result<void> place_samples(Campaign& campaign) {
  const Plan& plan = campaign.inputs->plan;
  campaign.by_seq.assign(plan.runs.size(), nullptr);
  for (const Sample& s : campaign.inputs->samples) {
    if (s.seq < 0 || static_cast<std::size_t>(s.seq) >= plan.runs.size() ||
        !matches(s, plan.runs[static_cast<std::size_t>(s.seq)], plan.options.cases))
      return fail(ErrorCode::invalid_format, "the plan holds no such run", place(s));
    if (s.batch >= campaign.batches_scope) {
      if (campaign.stopped_at_look)
        return fail(ErrorCode::invalid_format, "the run is beyond the look that ended the campaign",
                    place(s));
      continue;
    }
    const Sample*& slot = campaign.by_seq[static_cast<std::size_t>(s.seq)];
    if (slot != nullptr)
      return fail(ErrorCode::invalid_format, "the run occurs twice", place(s));
    slot = &s;
    ++campaign.runs_recorded;
  }
  return {};
}

// A pair being put together: the usable runs seen so far.
struct HalfPair {
  const Sample* sides[2] = {nullptr, nullptr};
  bool rejected = false;
};

void reject(Campaign& campaign, CaseData& data, const Sample& s, std::string_view why) {
  campaign.rejected.push_back({&s, why});
  data.blockers.insert(blocker_of(why));
}

void collect_case(Campaign& campaign, std::size_t index) {
  const CompareInputs& in = *campaign.inputs;
  CaseData& data = campaign.cases[index];
  data.policy = &in.policy.cases[index];
  const Expectation expectation = expectation_of(in.policy, *data.policy);
  std::map<std::pair<int, int>, HalfPair> pairs;
  for (std::size_t seq = 0; seq < in.plan.runs.size(); ++seq) {
    const PlannedRun& run = in.plan.runs[seq];
    if (static_cast<std::size_t>(run.case_index) != index || run.batch >= campaign.batches_scope)
      continue;
    const bool measured = run.phase == Phase::measurement;
    data.pairs_planned += measured && run.side == Side::reference ? 1 : 0;
    const Sample* s = campaign.by_seq[seq];
    if (s == nullptr)
      continue;
    const std::string_view why = rejection(*s, expectation);
    if (!why.empty())
      reject(campaign, data, *s, why);
    if (!measured)
      continue;
    HalfPair& half = pairs[{run.batch, run.pair}];
    half.rejected = half.rejected || !why.empty();
    half.sides[static_cast<std::size_t>(run.side)] = s;
  }
  for (const auto& [key, half] : pairs) {
    if (half.rejected)
      ++data.pairs_rejected;
    else if (half.sides[0] != nullptr && half.sides[1] != nullptr)
      data.pairs.push_back({half.sides[0], half.sides[1], key.first, half.sides[1]->position == 0});
  }
}

// What is known of a run's output: its digest, or its length alone where it passed the bound (two
// outputs of different lengths differ, of the same length may be equal). "" = nothing.
std::string output_mark(const Sample& s) {
  if (s.stdout_sha256)
    return *s.stdout_sha256;
  const auto reason = s.reasons.find("stdout_sha256");
  const bool truncated = reason != s.reasons.end() && reason->second == "output_truncated";
  return truncated && s.stdout_bytes ? std::to_string(*s.stdout_bytes) + " bytes" : "";
}

OutputEquality compare_outputs(const Campaign& campaign, std::size_t index) {
  const CompareInputs& in = *campaign.inputs;
  // A run that failed may have stopped in the middle of its output.
  std::set<const Sample*> rejected;
  for (const RejectedRun& run : campaign.rejected)
    rejected.insert(run.sample);
  std::set<std::string> outputs[2];
  bool unknown = false;
  for (std::size_t seq = 0; seq < in.plan.runs.size(); ++seq) {
    const Sample* s = campaign.by_seq[seq];
    if (s == nullptr || static_cast<std::size_t>(in.plan.runs[seq].case_index) != index ||
        rejected.count(s) != 0)
      continue;
    if (std::string mark = output_mark(*s); !mark.empty())
      outputs[static_cast<std::size_t>(s->side)].insert(std::move(mark));
    unknown = unknown || !s->stdout_sha256;
  }
  if (outputs[0].size() > 1 || outputs[1].size() > 1)
    return {false, "output_not_deterministic"};
  if (!outputs[0].empty() && !outputs[1].empty() && outputs[0] != outputs[1])
    return {false, "outputs_differ"};
  if (unknown || outputs[0].empty() || outputs[1].empty())
    return {std::nullopt, "output_not_checked"};
  return {true, ""};
}

// Runs that ended badly are here only where --ignore-failure accepts them; a side that ends in ways
// that the other never does has done other work.
bool exits_differ(const Campaign& campaign, std::size_t index) {
  const CompareInputs& in = *campaign.inputs;
  std::set<std::pair<std::int64_t, std::int64_t>> ends[2];
  for (std::size_t seq = 0; seq < in.plan.runs.size(); ++seq) {
    const Sample* s = campaign.by_seq[seq];
    if (s != nullptr && static_cast<std::size_t>(in.plan.runs[seq].case_index) == index)
      ends[static_cast<std::size_t>(s->side)].emplace(s->exit_code.value_or(-1), s->signal);
  }
  return !ends[0].empty() && !ends[1].empty() && ends[0] != ends[1];
}

Result<void> check_cases(const CompareInputs& in) {
  const std::vector<std::string>& names = in.plan.options.cases;
  bool same = names.size() == in.policy.cases.size();
  for (std::size_t i = 0; same && i < names.size(); ++i)
    same = names[i] == in.policy.cases[i].name;
  if (!same)
    return fail(ErrorCode::invalid_format, "policy and plan name different cases", "plan.json");
  return {};
}

Result<void> set_scope(Campaign& campaign, int batch_limit) {
  const CompareInputs& in = *campaign.inputs;
  const PlanOptions& options = in.plan.options;
  campaign.batches_scope = options.batches;
  if (batch_limit >= 0) {
    campaign.batches_scope = std::min(batch_limit, options.batches);
    return {};
  }
  if (in.ending.type != "finished" || in.ending.reason != "stopped_at_look")
    return {};
  if (std::find(options.looks.begin(), options.looks.end(), in.ending.batches_done) ==
      options.looks.end())
    return fail(ErrorCode::invalid_format,
                "the campaign stopped after batch " + std::to_string(in.ending.batches_done) +
                    ", which is no planned look",
                "events.jsonl");
  campaign.stopped_at_look = in.ending.batches_done;
  campaign.batches_scope = static_cast<int>(in.ending.batches_done);
  return {};
}

}  // namespace

std::string blocker_of(std::string_view rejection) {
  if (rejection == "wrong_output" || rejection == "noisy_stderr")
    return std::string(rejection);
  return "run_" + std::string(rejection);  // run_failed, run_timeout, run_output_limit, ...
}

Result<Campaign> collect(const CompareInputs& inputs, int batch_limit) {
  ASSAY_TRY_VOID(check_cases(inputs));
  Campaign campaign;
  campaign.inputs = &inputs;
  const bool adaptive = !inputs.plan.options.looks.empty();
  campaign.level = adaptive ? 1 - stats::kPocockNominalP : inputs.policy.level;
  campaign.alpha = adaptive ? stats::kPocockNominalP / 2 : stats::kOneSidedAlpha;
  ASSAY_TRY_VOID(set_scope(campaign, batch_limit));
  ASSAY_TRY_VOID(place_samples(campaign));
  campaign.cases.resize(inputs.policy.cases.size());
  std::set<int> batches;
  for (std::size_t i = 0; i < campaign.cases.size(); ++i) {
    collect_case(campaign, i);
    campaign.cases[i].outputs = compare_outputs(campaign, i);
    campaign.cases[i].exits_differ =
        campaign.cases[i].blockers.empty() && exits_differ(campaign, i);
    for (const CompletePair& pair : campaign.cases[i].pairs)
      batches.insert(pair.batch);
  }
  std::sort(
      campaign.rejected.begin(), campaign.rejected.end(),
      [](const RejectedRun& a, const RejectedRun& b) { return a.sample->seq < b.sample->seq; });
  campaign.batches_used = static_cast<int>(batches.size());
  campaign.status = inputs.ending.type == "interrupted"                            ? "interrupted"
                    : inputs.ending.type == "failed" || !campaign.rejected.empty() ? "failed"
                                                                                   : "measured";
  return campaign;
}

}  // namespace assay::verdict
