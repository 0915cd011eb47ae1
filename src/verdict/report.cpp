#include "assay/verdict/report.h"

#include "case_report.h"
#include "host_state.h"
#include "verdicts.h"

#include <algorithm>
#include <set>

namespace assay::verdict {
namespace {

constexpr std::size_t kMaxListedRejections = 100;

struct Overall {
  Json json;
  bool incomplete = false;
};

Json scope_json(const Campaign& campaign) {
  const PlanOptions& o = campaign.inputs->plan.options;
  return {{"seed", o.seed},
          {"batches_planned", o.batches},
          {"batches_used", campaign.batches_used},
          {"pairs_per_batch", o.pairs},
          {"warmups", o.warmups},
          {"looks", o.looks},
          {"stopped_at_look",
           campaign.stopped_at_look ? Json(*campaign.stopped_at_look) : Json(nullptr)},
          {"layout_padding", o.layout_padding},
          {"level", campaign.level},
          {"one_sided_alpha", campaign.alpha},
          {"runs_planned", campaign.inputs->plan.runs.size()},
          {"runs_recorded", campaign.runs_recorded}};
}

Json rejected_json(const Campaign& campaign) {
  Json list = Json::array();
  for (const RejectedRun& r : campaign.rejected) {
    if (list.size() == kMaxListedRejections)
      break;
    const Sample& s = *r.sample;
    list.push_back({{"seq", s.seq},
                    {"batch", s.batch},
                    {"pair", s.pair},
                    {"case", s.case_name},
                    {"side", side_name(s.side)},
                    {"phase", phase_name(s.phase)},
                    {"why", r.why},
                    {"exit_code", s.exit_code ? Json(*s.exit_code) : Json(nullptr)},
                    {"signal", s.signal}});
  }
  return list;
}

// The case that decides one kind: the worst status, the first case among equals.
std::size_t deciding_case(const std::vector<CaseVerdicts>& verdicts, std::size_t kind) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < verdicts.size(); ++i)
    if (badness_rank(verdicts[i][kind].status) < badness_rank(verdicts[worst][kind].status))
      worst = i;
  return worst;
}

Json top_verdict(const Campaign& campaign, const std::vector<CaseVerdicts>& verdicts, Kind kind) {
  const auto k = static_cast<std::size_t>(kind);
  const std::size_t i = deciding_case(verdicts, k);
  Json json = verdict_json(verdicts[i][k]);
  json["case"] = campaign.cases[i].policy->name;
  return json;
}

// PASS of every ratio gate while the tail gate is undecided: no unqualified PASS.
bool typical_run_only(const Gates& gates, const Json& tops) {
  if (tops.at("tail").at("status") != "INCONCLUSIVE")
    return false;
  bool ratio_gate = false;
  for (const Kind kind : {Kind::wall, Kind::cpu, Kind::rss}) {
    if (!is_gated(gates, kind))
      continue;
    ratio_gate = true;
    if (tops.at(std::string(kind_name(kind))).at("status") != "PASS")
      return false;
  }
  return ratio_gate;
}

Overall overall_of(const Campaign& campaign, const std::vector<CaseVerdicts>& verdicts,
                   const Json& tops) {
  const Gates& gates = campaign.inputs->policy.gates;
  Overall out;
  std::string worst;
  for (const Kind kind : kKinds) {
    const std::string status = tops.at(std::string(kind_name(kind))).at("status");
    if (is_gated(gates, kind) && (worst.empty() || badness_rank(status) < badness_rank(worst)))
      worst = status;
  }
  std::set<std::string> reasons;
  for (const CaseVerdicts& one : verdicts) {
    for (const VerdictValue& v : one) {
      if (v.gated && v.status == worst)
        reasons.insert(v.reasons.begin(), v.reasons.end());
      out.incomplete = out.incomplete || (v.gated && v.status == "INCOMPLETE");
    }
  }
  const bool typical = typical_run_only(gates, tops);
  if (typical)
    reasons.insert("typical_run_only");
  out.json = {{"status", worst.empty() ? Json(nullptr) : Json(worst)},
              {"reasons", reasons},
              {"typical_run_only", typical}};
  return out;
}

// What the pairs that do exist say, when the planned ones are missing. Never for a campaign with
// failed or wrong runs: its timings are not a sample of the program that was meant.
Json observed_subset(const Campaign& campaign, const std::vector<CaseVerdicts>& verdicts,
                     bool incomplete) {
  const Gates& gates = campaign.inputs->policy.gates;
  const bool usable = std::all_of(campaign.cases.begin(), campaign.cases.end(), [](const auto& c) {
    return c.blockers.empty() && c.outputs.equal.value_or(true) && !c.exits_differ;
  });
  if (!incomplete || !usable)
    return nullptr;
  std::vector<CaseVerdicts> subset = verdicts;
  for (CaseVerdicts& one : subset)
    for (VerdictValue& v : one)
      v.status = v.subset_status;
  Json kinds = Json::object();
  std::string worst;
  for (const Kind kind : kKinds) {
    const std::string name(kind_name(kind));
    kinds[name] = top_verdict(campaign, subset, kind);
    const auto rank = [&](const std::string& which) {
      return badness_rank(kinds.at(which).at("status").get<std::string>());
    };
    if (is_gated(gates, kind) && (worst.empty() || rank(name) < rank(worst)))
      worst = name;
  }
  Json json = kinds.at(worst);
  json["kind"] = worst;
  json["verdicts"] = std::move(kinds);
  return json;
}

std::set<std::string> blockers_of(const Campaign& campaign,
                                  const std::vector<CaseVerdicts>& verdicts) {
  std::set<std::string> blockers;
  for (const CaseData& data : campaign.cases)
    blockers.insert(data.blockers.begin(), data.blockers.end());
  if (campaign.interrupted())
    blockers.insert("interrupted");
  if (campaign.inputs->ending.type == "failed")
    blockers.insert("campaign_failed");
  for (const CaseVerdicts& one : verdicts)
    for (const VerdictValue& v : one)
      for (const char* code : {"planned_runs_missing", "outputs_differ", "output_not_deterministic",
                               "exits_differ", "figures_missing", "no_complete_pairs"})
        if (v.status == "INCOMPLETE" && v.reasons.count(code) != 0)
          blockers.insert(code);
  return blockers;
}

// Why an existing record of a calibration is not cited, as host.json says; "" where nothing is to
// be said.
std::string calibration_passed_over(const CompareInputs& in) {
  if (in.calibration || !in.host.is_object())
    return "";
  const auto fact = in.host.find("calibration");
  if (fact == in.host.end() || !fact->is_object())
    return "";
  const Json reason = fact->value("reason", Json(nullptr));
  for (const char* code :
       {"calibration_expired", "calibration_of_another_host", "calibration_unreadable"})
    if (reason == code)
      return code;
  return "";
}

// A record that was made on a disturbed host says so in its own limits.
bool calibrated_under_load(const std::optional<Json>& calibration) {
  if (!calibration || !calibration->is_object() || !calibration->contains("limits"))
    return false;
  const Json& limits = calibration->at("limits");
  return std::any_of(limits.begin(), limits.end(),
                     [](const Json& code) { return code == "load_high" || code == "steal_high"; });
}

// Without an oracle a long output is only counted: the outputs were not compared whole.
bool output_truncated(const CompareInputs& in) {
  return std::any_of(in.samples.begin(), in.samples.end(), [](const Sample& s) {
    const auto reason = s.reasons.find("stdout_sha256");
    return reason != s.reasons.end() && reason->second == "output_truncated";
  });
}

std::set<std::string> limits_of(const Campaign& campaign) {
  const CompareInputs& in = *campaign.inputs;
  std::set<std::string> limits = {"other_workload_not_excluded", "one_host_only",
                                  "ratio_drift_not_excluded"};
  if (!in.policy.gates.tail)
    limits.insert("tail_not_asked");
  if (!in.plan.options.layout_padding)
    limits.insert("layout_padding_off");
  if (!in.calibration)
    limits.insert("host_not_calibrated");
  if (const std::string code = calibration_passed_over(in); !code.empty())
    limits.insert(code);
  const bool no_oracle = std::any_of(in.policy.cases.begin(), in.policy.cases.end(),
                                     [](const CasePolicy& c) { return !c.oracle_sha256; });
  if (no_oracle)
    limits.insert("no_oracle");
  if (no_oracle && output_truncated(in))
    limits.insert("output_truncated");
  limits.merge(host_disturbances(in.policy.host_bounds, in.host, in.samples));
  if (calibrated_under_load(in.calibration))
    limits.insert("calibration_under_load");
  return limits;
}

Json calibration_summary(const std::optional<Json>& calibration) {
  if (!calibration || !calibration->is_object())
    return nullptr;
  Json summary = {{"archive_id", calibration->value("archive_id", Json(nullptr))},
                  {"created_utc", calibration->value("created_utc", Json(nullptr))}};
  const Json table = calibration->value("calibration", Json::object());
  for (const char* kind : {"wall", "cpu"})
    summary["states"][kind] = table.is_object() && table.contains(kind) && table[kind].is_object()
                                  ? table[kind].value("state", Json(nullptr))
                                  : Json(nullptr);
  return summary;
}

Json header_value(const Json& header, const char* key) {
  return header.is_object() ? header.value(key, Json(nullptr)) : Json(nullptr);
}

Json diagnostics_list(const std::vector<Diagnostic>& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics)
    list.push_back(
        {{"code", d.code}, {"case", d.case_name}, {"value", d.value}, {"detail", d.detail}});
  return list;
}

// Every code used anywhere, sorted and unique.
std::set<std::string> all_codes(const std::vector<CaseVerdicts>& verdicts,
                                const std::vector<Diagnostic>& diagnostics) {
  std::set<std::string> codes;
  for (const CaseVerdicts& one : verdicts)
    for (const VerdictValue& v : one)
      codes.insert(v.reasons.begin(), v.reasons.end());
  for (const Diagnostic& d : diagnostics)
    codes.insert(d.code);
  return codes;
}

Json assemble(const Campaign& campaign) {
  const CompareInputs& in = *campaign.inputs;
  const std::vector<CaseVerdicts> verdicts = judge_all(campaign);
  Json report = {{"schema", {{"name", "assay.report.compare"}, {"major", 1}, {"minor", 0}}},
                 {"kind", "comparison"},
                 {"status", campaign.status},
                 {"ending", {{"type", in.ending.type}, {"reason", in.ending.reason}}},
                 {"scope", scope_json(campaign)},
                 {"gated", any_gate(in.policy.gates)},
                 {"means", Json::array()},
                 {"rejected_runs", rejected_json(campaign)},
                 {"rejected_count", campaign.rejected.size()},
                 {"calibration", calibration_summary(in.calibration)}};
  for (const char* key : {"archive_id", "created_utc", "tool_version"})
    report[key] = header_value(in.header, key);
  std::vector<Diagnostic> diagnostics;
  report["cases"] = Json::array();
  for (std::size_t i = 0; i < campaign.cases.size(); ++i) {
    CaseReport one = case_report(campaign, i, verdicts[i]);
    report["cases"].push_back(std::move(one.json));
    diagnostics.insert(diagnostics.end(), one.diagnostics.begin(), one.diagnostics.end());
  }
  Json tops = Json::object();
  for (const Kind kind : kKinds)
    tops[std::string(kind_name(kind))] = top_verdict(campaign, verdicts, kind);
  const Overall overall = overall_of(campaign, verdicts, tops);
  report["observed_subset"] = observed_subset(campaign, verdicts, overall.incomplete);
  report["verdicts"] = std::move(tops);
  report["overall"] = overall.json;
  report["diagnostics"] = diagnostics_list(diagnostics);
  const std::set<std::string> blockers = blockers_of(campaign, verdicts);
  const std::set<std::string> limits = limits_of(campaign);
  std::set<std::string> codes = all_codes(verdicts, diagnostics);
  codes.insert(blockers.begin(), blockers.end());
  codes.insert(limits.begin(), limits.end());
  for (const Json& code : report["overall"]["reasons"])
    codes.insert(code.get<std::string>());
  report["blockers"] = blockers;
  report["limits"] = limits;
  report["reason_codes"] = codes;
  return report;
}

}  // namespace

Result<Json> derive_compare_report(const CompareInputs& inputs) {
  ASSAY_TRY(const Campaign campaign, collect(inputs));
  return assemble(campaign);
}

Result<bool> decided_at_look(const CompareInputs& inputs, int batches) {
  ASSAY_TRY(const Campaign campaign, collect(inputs, batches));
  const Gates& gates = inputs.policy.gates;
  const bool gated = any_gate(gates);
  for (const CaseVerdicts& one : judge_all(campaign)) {
    for (const Kind kind : kKinds) {
      const VerdictValue& v = one[static_cast<std::size_t>(kind)];
      if (gated ? v.gated && v.status != "PASS" && v.status != "FAIL"
                : kind == Kind::wall && (v.finding.empty() || v.finding == "no_difference"))
        return false;
    }
  }
  return true;
}

}  // namespace assay::verdict
