#include "assay/compare/calibrate.h"

#include "calibration_store.h"
#include "copies.h"
#include "place.h"
#include "provenance.h"
#include "record.h"

#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/evidence/archive.h"
#include "assay/host/host.h"
#include "assay/stats/calibration.h"
#include "assay/verdict/calibration.h"
#include "assay/verdict/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace assay::compare {
namespace {

constexpr int kPairsPerBatch = 6;
constexpr int kPairsPerBlock = 30;  // 30 runs of A, then 30 of B: one campaign in blocks order
constexpr int kMaxBatches = 6000;
constexpr int kProbeRuns = 5;

// Threads that keep cores busy on purpose; they stop when the object dies.
class BusyThreads {
 public:
  explicit BusyThreads(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
  }
  ~BusyThreads() {
    stop_ = true;
    for (auto& thread : threads_)
      thread.join();
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

process::RunRequest request_for(const std::string& program,
                                const std::vector<std::string>& arguments,
                                const std::string& padding) {
  process::RunRequest request;
  request.argv.push_back(program);
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.environment = {{"LC_ALL", "C"}, {"ASSAY_PAD", padding}};
  return request;
}

struct Probe {
  Nanoseconds elapsed{}, cpu{};       // medians
  std::optional<std::string> digest;  // of the output when all probes agree
};

Result<Probe> probe(process::Launcher& launcher, const process::RunRequest& request) {
  std::vector<std::int64_t> elapsed;
  std::vector<std::int64_t> cpu;
  std::vector<std::string> outputs;
  for (int i = 0; i < kProbeRuns; ++i) {
    ASSAY_TRY(const process::RunResult run, launcher.run(request));
    if (run.outcome != process::Outcome::ok)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a copy of the program does not run to success ({}, exit code {}): "
                              "calibrate needs a command that works from a copied file",
                              process::outcome_name(run.outcome), run.exit_code),
                  request.argv.front());
    elapsed.push_back(run.elapsed.value);
    cpu.push_back(run.user.value + run.system.value);
    outputs.push_back(run.out.truncated ? "" : run.out.bytes);
  }
  const auto middle = [](std::vector<std::int64_t>& times) {
    std::sort(times.begin(), times.end());
    return Nanoseconds(times[times.size() / 2]);
  };
  Probe result{middle(elapsed), middle(cpu), std::nullopt};
  const bool same = std::all_of(outputs.begin(), outputs.end(),
                                [&](const std::string& o) { return o == outputs.front(); });
  if (same)
    result.digest = sha256_hex(outputs.front());
  return result;
}

// What each side executes, fixed before the plan is written.
struct Subject {
  std::vector<std::string> arguments;
  std::vector<std::string> injected_arguments;
  Probe probe;
  std::optional<std::string> injected_digest;
};

// Nanoseconds of CPU time per iteration of the built-in work, beyond its start-up `empty`. CPU
// time, because under load the elapsed time of a short run says little. The trial grows until its
// work is plain to see: more than the start-up, and half of what is wanted or 50 ms.
Result<double> nanoseconds_per_iteration(process::Launcher& launcher, const std::string& program,
                                         std::int64_t work_ns, const Probe& empty) {
  constexpr std::int64_t kFirstTrial = 100'000;
  constexpr std::int64_t kLastTrial = INT64_C(1) << 40;
  constexpr std::int64_t kLongEnoughNs = 50'000'000;
  const std::int64_t plain = std::max(empty.cpu.value, std::min(work_ns / 2, kLongEnoughNs));
  for (std::int64_t trial = kFirstTrial;; trial *= 2) {
    ASSAY_TRY(const Probe full, probe(launcher, request_for(program, {std::to_string(trial)}, "")));
    const std::int64_t span = full.cpu.value - empty.cpu.value;
    if (span > plain || trial >= kLastTrial)
      return static_cast<double>(std::max<std::int64_t>(1, span)) / static_cast<double>(trial);
  }
}

// Sizes the built-in work so that one run takes about work_ns, of which start-up is at most half,
// and an injected one that much longer: the effect is one of whole runs, which is what verdicts
// judge.
Result<Subject> built_in_subject(const CalibrateOptions& options, process::Launcher& launcher,
                                 const std::string& program) {
  ASSAY_TRY(const Probe empty, probe(launcher, request_for(program, {"1"}, "")));
  ASSAY_TRY(const double each,
            nanoseconds_per_iteration(launcher, program, options.work_ns, empty));
  const auto wanted = static_cast<double>(
      std::max<std::int64_t>(options.work_ns - empty.cpu.value, options.work_ns / 2));
  const double extra =
      (wanted + static_cast<double>(empty.cpu.value)) * options.inject_percent / 100;
  const auto iterations = [each](double ns) {
    return std::to_string(static_cast<std::int64_t>(ns / each));
  };
  Subject subject;
  subject.arguments = {iterations(wanted)};
  subject.injected_arguments = {iterations(wanted + extra)};
  ASSAY_TRY(subject.probe, probe(launcher, request_for(program, subject.arguments, "")));
  ASSAY_TRY(const Probe injected,
            probe(launcher, request_for(program, subject.injected_arguments, "")));
  subject.injected_digest = injected.digest;
  return subject;
}

Result<Subject> subject_of(const CalibrateOptions& options, process::Launcher& launcher,
                           const std::string& program) {
  if (options.command.empty())
    return built_in_subject(options, launcher, program);
  if (options.inject_percent > 0)
    return fail(ErrorCode::invalid_argument,
                "extra work can only be injected into the built-in program; leave out the command",
                "--inject");
  Subject subject;
  subject.arguments.assign(options.command.begin() + 1, options.command.end());
  ASSAY_TRY(subject.probe, probe(launcher, request_for(program, subject.arguments, "")));
  return subject;
}

verdict::Plan plan_for(const CalibrateOptions& options, const Subject& subject) {
  verdict::PlanOptions plan;
  plan.seed = options.seed.value_or(random_seed());
  plan.warmups = 0;
  plan.blocks_order = options.blocks;
  plan.pairs = options.blocks ? kPairsPerBlock : kPairsPerBatch;
  plan.cases = {verdict::kAaCase};
  if (options.inject_percent > 0)
    plan.cases.emplace_back(verdict::kInjectedCase);
  const double seconds_per_batch = 2.2e-9 * static_cast<double>(subject.probe.elapsed.value) *
                                   plan.pairs * static_cast<double>(plan.cases.size());
  const double affordable = options.budget_seconds / std::max(seconds_per_batch, 1e-6);
  plan.batches = options.batches.value_or(
      static_cast<int>(std::clamp(affordable, 1.0, static_cast<double>(kMaxBatches))));
  return verdict::make_plan(plan);
}

// Runs the plan; every batch's samples are durable before the next batch starts.
class Runner {
 public:
  Runner(const Subject& subject, Copies& copies, process::Launcher& launcher)
      : subject_(subject), copies_(copies), launcher_(launcher) {}

  Result<verdict::Ending> run(const verdict::Plan& plan, evidence::ArchiveWriter& archive,
                              const std::function<void(const Progress&)>& progress) {
    const Nanoseconds start = monotonic_now();
    verdict::Ending ending;
    std::size_t next = 0;
    const int batches_per_campaign = plan.options.blocks_order ? 1 : stats::kCampaignBatches;
    for (int batch = 0; batch < plan.options.batches; ++batch) {
      if (batch > 0 && batch % batches_per_campaign == 0) {
        ASSAY_TRY_VOID(copies_.renew());
      }
      ASSAY_TRY_VOID(archive.event("batch_started", {{"batch", batch}}));
      ASSAY_TRY(const bool complete, run_batch(plan, next, archive));
      if (!complete) {
        ending.type = "interrupted";
        ending.reason = reason_;
        return ending;
      }
      ending.batches_done = batch + 1;
      if (progress) {
        const double elapsed = static_cast<double>((monotonic_now() - start).value) / 1e9;
        progress({(batch + 1) * plan.options.pairs, plan.options.batches * plan.options.pairs,
                  batch + 1, plan.options.batches, "calibrating", elapsed});
      }
    }
    return ending;
  }

 private:
  // Returns false when we were asked to stop; the runs of the unfinished batch are kept.
  Result<bool> run_batch(const verdict::Plan& plan, std::size_t& next,
                         evidence::ArchiveWriter& archive) {
    const int batch = plan.runs[next].batch;
    const std::string padding(
        static_cast<std::size_t>(plan.padding[static_cast<std::size_t>(batch)]), 'x');
    std::string lines;
    evidence::ArchiveWriter::PairAnchor anchor{batch, 0, -1};
    const auto reading = load_.read();
    bool complete = true;
    for (; next < plan.runs.size() && plan.runs[next].batch == batch && complete; ++next) {
      const verdict::PlannedRun& planned = plan.runs[next];
      const bool more = planned.case_index == 1 && planned.side == verdict::Side::candidate;
      const auto result = launcher_.run(
          request_for(copies_.path(planned.side),
                      more ? subject_.injected_arguments : subject_.arguments, padding));
      if (!result) {
        complete = false;
        reason_ = result.error().code == ErrorCode::interrupted ? "signal" : "launcher_lost";
        break;
      }
      const std::string& name = plan.options.cases[static_cast<std::size_t>(planned.case_index)];
      lines += verdict::sample_line(to_sample(planned, name, *result, reading)) + "\n";
      anchor.pair = planned.pair;
      anchor.last_seq = planned.seq;
    }
    if (!lines.empty()) {
      ASSAY_TRY_VOID(archive.append_samples(lines, anchor));
    }
    return complete;
  }

  const Subject& subject_;
  Copies& copies_;
  process::Launcher& launcher_;
  host::LoadMeter load_;
  std::string reason_;
};

Json policy_of(const CalibrateOptions& options, const Subject& subject, const Copies& copies,
               const host::Redactor& redact) {
  Json command = Json::array();
  for (const std::string& word : options.command)
    command.push_back(redact(sanitize_utf8(word)));
  return {
      {"schema", {{"name", "assay.policy.calibration"}, {"major", 1}, {"minor", 0}}},
      {"command", command},
      {"built_in", options.command.empty()},
      {"arguments_of_built_in", options.command.empty() ? Json(subject.arguments) : Json(nullptr)},
      {"program_sha256", copies.digest()},
      {"inject_percent", options.inject_percent},
      {"busy_threads", options.busy_threads},
      {"blocks_order", options.blocks},
      {"host_bounds", verdict::host_bounds_json(host_bounds(host::usable_cpus().size()))},
      {"oracle_sha256", subject.probe.digest ? Json(*subject.probe.digest) : Json(nullptr)},
      {"injected_oracle_sha256",
       subject.injected_digest ? Json(*subject.injected_digest) : Json(nullptr)}};
}

Result<verdict::CalibrationInputs> read_inputs(const evidence::ArchiveWriter& writer,
                                               const verdict::Plan& plan,
                                               const verdict::Ending& ending) {
  ASSAY_TRY(const evidence::ArchiveReader archive, writer.reader());
  verdict::CalibrationInputs inputs;
  ASSAY_TRY(inputs.header, archive.document("header.json"));
  ASSAY_TRY(inputs.policy, archive.document("policy.json"));
  ASSAY_TRY(inputs.host, archive.document("host.json"));
  inputs.plan = plan;
  inputs.ending = ending;
  ASSAY_TRY(inputs.samples, read_samples(archive));
  return inputs;
}

// A host's record is a whole calibration of the host as it usually is, with something to say: ""
// for one that is, else why not.
std::string why_no_record(const CalibrateOptions& options, const Json& report) {
  if (options.blocks)
    return "blocks order says nothing about interleaved pairs";
  if (options.busy_threads > 0)
    return "the load of --busy is not this host's usual state";
  if (report.at("status") != "measured")
    return "the calibration did not run to its end";
  for (const auto& [metric, value] : report.at("calibration").items())
    if (value.at("state") != "INCOMPLETE")
      return "";
  return "there were too few batches for any state";
}

// The archive is the evidence; failing to keep the record takes nothing from it.
void keep_record(const CalibrateOptions& options, const Json& host, CalibrateResult& result) {
  result.no_record = why_no_record(options, result.report);
  if (!result.no_record.empty())
    return;
  auto kept = keep_calibration(calibration_directory(), calibration_record(result.report, host));
  if (kept)
    result.record_path = std::move(*kept);
  else
    result.record_error = std::move(kept).error();
}

}  // namespace

Result<CalibrateResult> run_calibration(const CalibrateOptions& options,
                                        process::Launcher& launcher,
                                        const std::function<void(const Progress&)>& progress) {
  std::string named;
  if (options.archive) {
    ASSAY_TRY(named, named_archive(*options.archive));
  }
  const std::string program =
      options.command.empty() ? options.work_program : options.command.front();
  ASSAY_TRY(const std::string resolved, process::resolve_program(program));
  ASSAY_TRY(Copies copies, Copies::make(resolved));
  const BusyThreads busy(options.busy_threads);
  ASSAY_TRY(const Subject subject,
            subject_of(options, launcher, copies.path(verdict::Side::reference)));
  const verdict::Plan plan = plan_for(options, subject);
  const std::string id = uuid_v4();
  const std::string path = named.empty() ? default_archive_path({}, id) : named;
  const Json host = host::collect();
  Result<evidence::ArchiveWriter> created = evidence::ArchiveWriter::create(
      path, {"calibration", options.tool_version, id},
      policy_of(options, subject, copies, host::Redactor::for_this_process()),
      verdict::plan_text(plan), host);
  if (!created)
    return tl::unexpected(in_archive_flag(created.error(), named));
  evidence::ArchiveWriter archive = *std::move(created);
  ASSAY_TRY_VOID(archive.event("campaign_started"));
  ASSAY_TRY_VOID(archive.sync());

  Runner runner(subject, copies, launcher);
  const Nanoseconds start = monotonic_now();
  ASSAY_TRY(const verdict::Ending ending, runner.run(plan, archive, progress));
  CalibrateResult result;
  result.archive_path = path;
  result.stop_signal = process::stop_signal();
  result.seconds_per_batch = static_cast<double>((monotonic_now() - start).value) / 1e9 /
                             static_cast<double>(std::max<std::int64_t>(1, ending.batches_done));
  Json report;
  ASSAY_TRY_VOID(archive.finalize(
      ending.type, {{"reason", ending.reason}, {"batches_done", ending.batches_done}},
      [&]() -> Result<Json> {
        ASSAY_TRY(const auto inputs, read_inputs(archive, plan, ending));
        ASSAY_TRY(report, verdict::derive_calibration_report(inputs));
        return report;
      }));
  result.report = std::move(report);
  keep_record(options, host, result);
  return result;
}

}  // namespace assay::compare
