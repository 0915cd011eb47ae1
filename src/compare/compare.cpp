#include "assay/compare/compare.h"

#include "calibration_store.h"
#include "evidence_sink.h"
#include "failure_text.h"
#include "place.h"
#include "prepare.h"
#include "provenance.h"
#include "record.h"

#include "assay/base/ids.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace assay::compare {
namespace {

// --oracle-cmd: once per parameter point, before anything is measured. Cases at the same point
// share it.
Result<void> run_oracles(const CompareOptions& options, Prepared& prepared,
                         process::Launcher& launcher) {
  std::map<Argv, std::string> answers;
  for (PreparedCase& one : prepared.cases) {
    if (one.oracle_command.empty())
      continue;
    const auto known = answers.find(one.oracle_command);
    if (known != answers.end()) {
      one.oracle = known->second;
      continue;
    }
    process::RunRequest request;
    request.argv = one.oracle_command;
    request.environment = {{"LC_ALL", "C"}};
    request.stdin_path = options.input;
    request.stdout_bound = Bytes(options.stdout_bound);
    request.stderr_bound = Bytes(options.stderr_bound);
    if (options.hook_timeout_ns > 0)
      request.timeout = Nanoseconds(options.hook_timeout_ns);
    ASSAY_TRY(const process::RunResult run, launcher.run(request));
    const std::string where =
        fmt::format("--oracle-cmd '{}'", printable(join_command(one.oracle_command), 120));
    if (run.outcome == process::Outcome::output_limit || run.out.truncated)
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("printed more than {} bytes: raise --max-output", options.stdout_bound),
          where);
    if (run.outcome != process::Outcome::ok)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("failed, so there is no right output to compare with: {}{}",
                              hook_ending_text(run), stderr_excerpt(run.err.bytes)),
                  where);
    one.oracle = run.out.bytes;
    answers.emplace(one.oracle_command, run.out.bytes);
  }
  return {};
}

std::string gates_text(const verdict::Gates& gates) {
  std::string text;
  const auto add = [&text](const std::optional<double>& cap, const char* what) {
    if (cap)
      text += fmt::format("{}{} above +{:.4g} %", text.empty() ? "" : ", ", what, (*cap - 1) * 100);
  };
  add(gates.wall_cap, "wall time");
  add(gates.cpu_cap, "CPU time");
  add(gates.rss_cap, "peak RSS");
  if (gates.tail)
    text.append(text.empty() ? "" : ", ").append("slow runs (tail)");
  return text.empty() ? "none" : text;
}

void give_notices(const CompareOptions& options, const Prepared& prepared) {
  if (!options.notice)
    return;
  for (const std::string& notice : prepared.notices)
    options.notice(notice);
}

// Nothing about records stops a comparison.
CalibrationChoice calibration_of(const CompareOptions& options, const Json& host) {
  CalibrationChoice choice = choose_calibration(calibration_directory(), host, utc_now());
  if (!options.notice)
    return choice;
  for (const std::string& warning : choice.warnings)
    options.notice(printable(warning));
  if (!choice.detail.empty())
    options.notice("no calibration record is cited: " + printable(choice.detail));
  return choice;
}

Result<std::optional<std::string>> place_of(const CompareOptions& options, const Prepared& prepared,
                                            const std::string& id) {
  if (options.no_archive)
    return std::optional<std::string>{};
  if (!prepared.archive_path.empty())
    return std::optional(prepared.archive_path);
  std::string path = default_archive_path(options.store, id);
  ASSAY_TRY_VOID(check_creatable(path, fmt::format("archive {}", printable(path, 200))));
  return std::optional(std::move(path));
}

// What the caller means to write must be neither read nor made by the campaign.
Result<void> check_files(const CompareOptions& options, const Prepared& prepared,
                         const std::optional<std::string>& place) {
  if (!options.check_files)
    return {};
  std::vector<UsedFile> used = prepared.used_files;
  if (place) {
    used.push_back({options.archive ? "--archive" : "the archive", *place});
    if (!options.archive)
      used.push_back({options.store ? "--store" : "the store of archives",
                      std::filesystem::path(*place).parent_path().string()});
  }
  return options.check_files(used);
}

// What --dry-run checks: all that a campaign checks before its first run.
Result<Prepared> rehearse(const CompareOptions& options) {
  ASSAY_TRY(Prepared prepared, prepare(options));
  ASSAY_TRY(const std::optional<std::string> place, place_of(options, prepared, uuid_v4()));
  ASSAY_TRY_VOID(check_files(options, prepared, place));
  give_notices(options, prepared);
  return prepared;
}

}  // namespace

Result<CompareResult> run_compare(const CompareOptions& options, process::Launcher& launcher,
                                  const std::function<void(const Progress&)>& progress) {
  ASSAY_TRY(Prepared prepared, prepare(options));
  const std::string id = uuid_v4();
  ASSAY_TRY(const std::optional<std::string> place, place_of(options, prepared, id));
  ASSAY_TRY_VOID(check_files(options, prepared, place));
  give_notices(options, prepared);
  ASSAY_TRY_VOID(run_oracles(options, prepared, launcher));
  const host::Redactor redact = host::Redactor::for_this_process();
  Json host = host_json(prepared, launcher, redact);
  CalibrationChoice calibration = calibration_of(options, host);
  host["calibration"] = calibration.fact();
  Result<EvidenceSink> opened =
      EvidenceSink::open(place, {.policy = policy_of(options, prepared, redact),
                                 .plan = verdict::make_plan(prepared.plan),
                                 .host = std::move(host),
                                 .tool_version = options.tool_version,
                                 .archive_id = id,
                                 .calibration = std::move(calibration.record)});
  if (!opened)
    return tl::unexpected(in_archive_flag(opened.error(), prepared.archive_path));
  EvidenceSink sink = *std::move(opened);
  ASSAY_TRY_VOID(sink.event("campaign_started", Json::object()));
  ASSAY_TRY_VOID(sink.sync());
  ASSAY_TRY(CampaignEnd end,
            run_campaign(prepared.cases, prepared.settings, launcher, sink, progress));
  CompareResult result;
  ASSAY_TRY(result.report_bytes, sink.finalize(end.ending));
  ASSAY_TRY(result.report, parse_json(result.report_bytes, "report.json"));
  result.archive_path = sink.path();
  result.digests = sink.digests();
  result.sample_lines = sink.take_lines();
  result.first_failure = std::move(end.first_failure);
  result.stop_signal = end.stop_signal;
  return result;
}

Result<std::vector<std::string>> sample_lines(const CompareResult& result) {
  if (result.archive_path.empty())
    return result.sample_lines;
  std::vector<std::string> lines;
  ASSAY_TRY(const auto archive,
            evidence::ArchiveReader::open_verified(result.archive_path, result.digests));
  ASSAY_TRY_VOID(archive.for_each_line(
      "samples.jsonl", [&lines](std::string_view line, std::int64_t) -> Result<void> {
        lines.emplace_back(line);
        return {};
      }));
  return lines;
}

Result<Json> plan_documents(const CompareOptions& options) {
  ASSAY_TRY(const Prepared prepared, rehearse(options));
  const host::Redactor redact = host::Redactor::for_this_process();
  const verdict::Plan plan = verdict::make_plan(prepared.plan);
  ASSAY_TRY(Json plan_json, parse_json(verdict::plan_text(plan), "plan.json"));
  return Json{{"plan", std::move(plan_json)},
              {"policy", verdict::policy_json(policy_of(options, prepared, redact))}};
}

Result<std::string> describe_plan(const CompareOptions& options) {
  ASSAY_TRY(const Prepared prepared, rehearse(options));
  const verdict::PlanOptions& plan = prepared.plan;
  std::string text = fmt::format("seed {}{}\n", plan.seed, options.seed ? "" : " (drawn now)");
  text += fmt::format("{} batches x {} pairs, {} warm-up pair{} per batch and case{}\n",
                      plan.batches, plan.pairs, plan.warmups, plan.warmups == 1 ? "" : "s",
                      plan.layout_padding ? ", layout padding per batch" : "");
  if (!plan.looks.empty())
    text += fmt::format("adaptive: may stop after {} batches\n", fmt::join(plan.looks, ", "));
  text += fmt::format("gates: {}\n", gates_text(options.gates));
  const std::int64_t per_case = std::int64_t{2} * plan.batches * (plan.pairs + plan.warmups);
  text += fmt::format("{} case{}, {} runs in all, at most\n", prepared.cases.size(),
                      prepared.cases.size() == 1 ? "" : "s",
                      per_case * static_cast<std::int64_t>(prepared.cases.size()));
  for (const PreparedCase& one : prepared.cases) {
    text += fmt::format("case {}\n", one.name);
    for (const PreparedSide& side : one.sides)
      text +=
          fmt::format("  {}: {}\n    runs {}\n", &side == &one.sides[0] ? "reference" : "candidate",
                      printable(join_command(side.argv), 160), printable(side.program, 160));
  }
  text += "nothing was run (--dry-run)\n";
  return text;
}

}  // namespace assay::compare
