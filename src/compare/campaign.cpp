#include "campaign.h"

#include "failure_text.h"
#include "record.h"

#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <poll.h>

namespace assay::compare {
namespace {

constexpr Nanoseconds kReadingAge(
    INT64_C(200'000'000));  // ticks are 10 ms: younger readings say nothing
constexpr Nanoseconds kWidestGap(INT64_C(60'000'000'000));
constexpr Bytes kHookOutput(INT64_C(64) << 10);

const char* signal_reason(int signal) {
  switch (signal) {
    case SIGINT:
      return "sigint";
    case SIGQUIT:
      return "sigquit";
    case SIGTERM:
      return "sigterm";
    default:
      return "sighup";
  }
}

bool same_pair(const verdict::PlannedRun& a, const verdict::PlannedRun& b) {
  return a.batch == b.batch && a.case_index == b.case_index && a.phase == b.phase &&
         a.pair == b.pair;
}

bool same_group(const verdict::PlannedRun& a, const verdict::PlannedRun& b) {
  return a.batch == b.batch && a.case_index == b.case_index;
}

constexpr std::array kSides = {verdict::Side::reference, verdict::Side::candidate};

}  // namespace

Campaign::Campaign(const std::vector<PreparedCase>& cases, const RunSettings& settings,
                   process::Launcher& launcher, CampaignEvidence& evidence)
    : cases_(cases),
      settings_(settings),
      launcher_(launcher),
      evidence_(evidence),
      plan_(evidence.plan()) {
  for (std::size_t i = 0; i < cases_.size(); ++i)
    expectations_.push_back(evidence_.expectation(i));
  watch_files();
}

void Campaign::watch_files() {
  for (const PreparedCase& one : cases_) {
    watched_.watch(one.input, one.input_sha256.value_or(""), "the input");
    for (const verdict::Side which : kSides) {
      const PreparedSide& side = one.side(which);
      // A hook may build the program: then the first batch shows which one it is.
      const bool built = !side.setup.empty() || !side.prepare.empty();
      watched_.watch(side.program, built ? "" : side.program_sha256,
                     which == verdict::Side::reference ? "the reference's program"
                                                       : "the candidate's program");
    }
  }
}

// After every batch: runs of another program must not stand under the recorded name.
void Campaign::check_files() {
  const std::optional<std::string> what = watched_.changed();
  if (!what)
    return;
  end_.ending.type = "failed";
  end_.ending.reason = "files_changed";
  end_.first_failure = fmt::format(
      "in batch {} or before it {}: runs of different files cannot be compared; leave them alone "
      "and run again",
      batch_ + 1, *what);
}

Campaign::Unit Campaign::unit_at(std::size_t first) const {
  Unit unit{first, first + 1};
  while (unit.last < plan_.runs.size() && same_pair(plan_.runs[first], plan_.runs[unit.last]))
    ++unit.last;
  return unit;
}

Result<CampaignEnd> Campaign::run(const std::function<void(const Progress&)>& progress) {
  const Result<void> done = run_plan(progress);
  // The set-up of an unfinished group is cleaned up whatever stopped the campaign, evidence that
  // cannot be written included.
  leave_group();
  if (!done)
    return tl::unexpected<Error>(done.error());
  note_built_programs();
  return std::move(end_);
}

Result<void> Campaign::run_plan(const std::function<void(const Progress&)>& progress) {
  const Nanoseconds start = monotonic_now();
  Progress state;
  state.batches = plan_.options.batches;
  state.pairs_planned = static_cast<int>(plan_.runs.size() / 2);
  std::int64_t iteration = 0;
  for (std::size_t at = 0; at < plan_.runs.size() && running();) {
    const Unit unit = unit_at(at);
    const verdict::PlannedRun& next = plan_.runs[unit.first];
    iteration_ = iteration++;
    if (group_ == nullptr || !same_group(*group_, next)) {
      ASSAY_TRY_VOID(enter_group(next));
    }
    if (running()) {
      ASSAY_TRY_VOID(run_unit(unit));
    }
    at = unit.last;
    const bool batch_ends = at == plan_.runs.size() || plan_.runs[at].batch != next.batch;
    if (running() && (batch_ends || !same_group(plan_.runs[at], next)))
      leave_group();
    if (running() && batch_ends) {
      ASSAY_TRY_VOID(leave_batch(next.batch));
    }
    if (progress) {
      state.pairs_done = static_cast<int>(at / 2);
      state.batch = next.batch + 1;
      state.what = case_of(next).name;
      state.elapsed_seconds = static_cast<double>((monotonic_now() - start).value) / 1e9;
      progress(state);
    }
  }
  return {};
}

Result<void> Campaign::enter_group(const verdict::PlannedRun& next) {
  if (batch_ != next.batch) {
    batch_ = next.batch;
    padding_.assign(static_cast<std::size_t>(plan_.padding[static_cast<std::size_t>(batch_)]), 'x');
    ASSAY_TRY_VOID(evidence_.event("batch_started", {{"batch", batch_}}));
  }
  group_ = &next;
  const PreparedCase& one = case_of(next);
  for (const verdict::Side side : kSides)
    if (!run_hook(one.side(side).setup, "--setup", one, side))
      return {};
  return {};
}

void Campaign::leave_group() {
  if (group_ == nullptr)
    return;
  const PreparedCase& one = case_of(*group_);
  group_ = nullptr;
  if (end_.ending.reason == "launcher_lost")
    return;
  for (const verdict::Side side : kSides)
    run_hook(one.side(side).cleanup, "--cleanup", one, side);
}

Result<void> Campaign::leave_batch(std::int64_t batch) {
  end_.ending.batches_done = batch + 1;
  ASSAY_TRY_VOID(evidence_.event("batch_ended", {{"batch", batch}}));
  ASSAY_TRY_VOID(evidence_.sync());
  check_files();
  note_built_programs();
  if (!running())
    return {};
  const std::vector<int>& looks = plan_.options.looks;
  const auto done = static_cast<int>(batch + 1);
  if (done == plan_.options.batches || std::find(looks.begin(), looks.end(), done) == looks.end())
    return {};
  ASSAY_TRY(const bool decided, evidence_.decided(end_.ending, done));
  ASSAY_TRY_VOID(evidence_.event("look", {{"batches", done}, {"decided", decided}}));
  if (decided)
    end_.ending.reason = "stopped_at_look";
  return {};
}

Result<void> Campaign::run_unit(const Unit& unit) {
  if (stop_requested())
    return {};
  ASSAY_TRY_VOID(evidence_.event("pair_started", {{"first_seq", plan_.runs[unit.first].seq}}));
  std::vector<Finished> finished;
  for (std::size_t at = unit.first; at < unit.last; ++at) {
    std::optional<process::RunResult> result = run_one(plan_.runs[at]);
    if (!result) {
      // The unfinished pair is dropped; the journal shows that it was started.
      if (!finished.empty())
        name_lost_run(finished.back());
      return {};
    }
    finished.push_back({&plan_.runs[at], *std::move(result), {}});
    if (!running() && at + 1 < unit.last) {  // a hook behind the first run ended the campaign
      name_lost_run(finished.back());
      return {};
    }
  }
  ASSAY_TRY_VOID(record(finished));
  return judge(finished);
}

// What ended the campaign may be the consequence of a run that is not recorded with its pair.
void Campaign::name_lost_run(Finished& run) {
  run.sample = sample_of(run);
  const auto& expectation = expectations_[static_cast<std::size_t>(run.planned->case_index)];
  if (const std::string_view why = verdict::rejection(run.sample, expectation); !why.empty())
    name_failure(run, why);
}

// The failure of a run stands before that of a hook behind it.
void Campaign::name_failure(const Finished& run, std::string_view why) {
  std::string text =
      failure_text({case_of(*run.planned), plan_, *run.planned, run.sample, run.result, why});
  if (end_.first_failure.empty())
    end_.first_failure = std::move(text);
  else if (end_.ending.reason == "hook_failed" && !failure_named_)
    end_.first_failure = text + "\n" + end_.first_failure;
  failure_named_ = true;
}

verdict::Sample Campaign::sample_of(const Finished& run) {
  const PreparedCase& one = case_of(*run.planned);
  return to_sample(*run.planned, one.name, run.result, load(), one.side(run.planned->side).output);
}

// After the first batch, or at the end of a campaign that was shorter.
void Campaign::note_built_programs() {
  if (built_noted_)
    return;
  built_noted_ = true;
  for (std::size_t i = 0; i < cases_.size(); ++i)
    for (const verdict::Side which : kSides) {
      const PreparedSide& side = cases_[i].side(which);
      if (side.setup.empty() && side.prepare.empty())
        continue;
      const auto digest = sha256_file(side.program);
      if (digest && *digest != side.program_sha256)
        end_.ending.built.push_back({static_cast<std::int64_t>(i), which, *digest});
    }
}

std::optional<process::RunResult> Campaign::run_one(const verdict::PlannedRun& planned) {
  const PreparedCase& one = case_of(planned);
  const PreparedSide& side = one.side(planned.side);
  if (!run_hook(side.prepare, "--prepare", one, planned.side))
    return std::nullopt;
  if (settings_.idle_gap)
    equalise_gap();
  process::RunRequest request = request_for(side.argv, one);
  request.stdin_path = one.input;
  request.output = side.output;
  request.output_path = side.output_path;
  request.timeout = settings_.timeout;
  request.stdout_bound = settings_.stdout_bound;
  request.stderr_bound = settings_.stderr_bound;
  // Without an oracle a long output is drained, and only its digest is missing.
  request.kill_on_output_limit = one.oracle.has_value();
  request.cpus = settings_.cpus;
  auto result = launcher_.run(request);
  last_run_end_ = monotonic_now();
  if (!result) {
    stopped_by(result.error());
    return std::nullopt;
  }
  if (result->outcome == process::Outcome::launcher_lost) {
    stopped_by(Error{ErrorCode::launcher, "assay-launch died", ""});
    return std::nullopt;
  }
  run_hook(side.conclude, "--conclude", one, planned.side);  // the run is there, however it ends
  return *std::move(result);
}

Result<void> Campaign::record(std::vector<Finished>& finished) {
  std::string lines;
  for (Finished& run : finished) {
    run.sample = sample_of(run);
    for (const auto& [digest, stream] : {std::pair(&run.sample.stdout_sha256, &run.result.out),
                                         std::pair(&run.sample.stderr_sha256, &run.result.err)})
      if (digest->has_value()) {
        ASSAY_TRY_VOID(evidence_.keep_output(**digest, stream->bytes));
      }
    lines += verdict::sample_line(run.sample) + "\n";
  }
  const verdict::PlannedRun& last = *finished.back().planned;
  return evidence_.append_pair(lines, {last.batch, last.pair, last.seq});
}

// Runs only after record(): the evidence is on disk whatever is found here.
Result<void> Campaign::judge(const std::vector<Finished>& finished) {
  for (const Finished& run : finished) {
    const auto& expectation = expectations_[static_cast<std::size_t>(run.planned->case_index)];
    const std::string_view why = verdict::rejection(run.sample, expectation);
    if (why.empty())
      continue;
    ASSAY_TRY_VOID(evidence_.event("run_rejected", {{"run", run.planned->seq}, {"why", why}}));
    name_failure(run, why);
    if (running() && settings_.stops_at_rejection) {
      end_.ending.type = "failed";
      end_.ending.reason = "run_failed";
    }
  }
  return {};
}

bool Campaign::run_hook(const Argv& argv, const char* flag, const PreparedCase& one,
                        verdict::Side side) {
  if (argv.empty())
    return true;
  process::RunRequest request = request_for(argv, one);
  request.environment.emplace_back("ASSAY_SIDE", verdict::side_name(side));
  request.stdout_bound = kHookOutput;
  request.stderr_bound = kHookOutput;
  request.kill_on_output_limit = false;
  request.run_after_stop = end_.stop_signal != 0;
  request.timeout = settings_.hook_timeout;
  auto result = launcher_.run(request);
  if (!result)
    return !stopped_by(result.error());
  if (result->outcome == process::Outcome::ok)
    return true;
  if (!running())
    return false;
  end_.ending.type = "failed";
  end_.ending.reason = "hook_failed";
  const std::string excerpt = stderr_excerpt(result->err.bytes);
  end_.first_failure = fmt::format("{} '{}' (for the {} of case '{}', batch {}) failed: {}{}", flag,
                                   printable(join_command(argv), 120), verdict::side_name(side),
                                   one.name, batch_ + 1, hook_ending_text(*result),
                                   excerpt.empty() ? std::string("\n  (stderr is empty)")
                                                   : fmt::format("\n  its stderr:{}", excerpt));
  return false;
}

bool Campaign::stopped_by(const Error& error) {
  if (!running())
    return true;
  end_.ending.type = "interrupted";
  end_.stop_signal = error.code == ErrorCode::interrupted ? process::stop_signal() : 0;
  end_.ending.reason = end_.stop_signal != 0 ? signal_reason(end_.stop_signal) : "launcher_lost";
  if (end_.stop_signal == 0)
    end_.first_failure = fmt::format("the campaign was interrupted: {}", error.message());
  return true;
}

bool Campaign::stop_requested() {
  if (process::stop_signal() == 0)
    return false;
  return stopped_by(Error{ErrorCode::interrupted, "", ""});
}

// Every run starts after the same idle time: the longest that was seen between two runs so far.
void Campaign::equalise_gap() {
  if (!last_run_end_)
    return;
  const Nanoseconds gap = monotonic_now() - *last_run_end_;
  widest_gap_ = std::min(std::max(widest_gap_, gap), kWidestGap);
  pollfd waiting{process::stop_signal_fd(), POLLIN, 0};
  const std::int64_t rest_ms = (widest_gap_ - gap).value / 1'000'000;
  if (rest_ms > 0)
    ::poll(&waiting, waiting.fd >= 0 ? 1 : 0, static_cast<int>(rest_ms));
}

process::RunRequest Campaign::request_for(const Argv& argv, const PreparedCase& one) const {
  process::RunRequest request;
  request.argv = argv;
  request.echo_output = settings_.show_output;
  request.environment = {{"LC_ALL", "C"}, {"ASSAY_ITERATION", std::to_string(iteration_)}};
  request.environment.insert(request.environment.end(), one.environment.begin(),
                             one.environment.end());
  if (settings_.layout_padding)
    request.environment.emplace_back("ASSAY_PAD", padding_);
  return request;
}

const host::LoadMeter::Reading& Campaign::load() {
  const Nanoseconds now = monotonic_now();
  if (!last_reading_ || now - *last_reading_ >= kReadingAge) {
    reading_ = meter_.read();
    last_reading_ = now;
  }
  return reading_;
}

Result<CampaignEnd> run_campaign(const std::vector<PreparedCase>& cases,
                                 const RunSettings& settings, process::Launcher& launcher,
                                 CampaignEvidence& evidence,
                                 const std::function<void(const Progress&)>& progress) {
  return Campaign(cases, settings, launcher, evidence).run(progress);
}

}  // namespace assay::compare
