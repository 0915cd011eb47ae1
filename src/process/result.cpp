#include "result.h"

#include <string>
#include <sys/wait.h>

namespace assay::process {
namespace {

std::string_view stage_text(Stage stage) {
  switch (stage) {
    case Stage::prepare:
      return "assay-launch cannot prepare a run";
    case Stage::clone:
      return "assay-launch cannot start a process (process or memory limit?)";
    case Stage::affinity:
      return "the requested CPUs cannot be used; check --cpu against the allowed CPUs";
    case Stage::capture:
      return "assay-launch cannot keep the captured output";
    case Stage::none:
    case Stage::exec:
      break;
  }
  return "assay-launch failed";
}

Result<void> check_wire(const ResultMessage& wire) {
  if (wire.stage != Stage::none && wire.stage != Stage::exec)
    return tl::unexpected(
        system_error(ErrorCode::launcher, stage_text(wire.stage), wire.error_number));
  if (wire.unkillable > 0)
    return fail(ErrorCode::launcher,
                std::to_string(wire.unkillable) +
                    " process(es) of the run could not be ended: blocked inside the kernel, or of "
                    "another user; end them before measuring again");
  if (wire.end_ns <= wire.start_ns)
    return fail(ErrorCode::launcher, "the run's end is not after its start: the clock is unusable");
  return {};
}

void judge(const ResultMessage& wire, const RunRequest& request, RunResult* result) {
  const bool over[2] = {wire.total[0] > request.stdout_bound.value,
                        wire.total[1] > request.stderr_bound.value};
  result->bound_hit = wire.cause == Cause::timeout ? "timeout"
                      : over[0]                    ? "stdout"
                      : over[1]                    ? "stderr"
                                                   : "none";
  if (wire.stage == Stage::exec) {
    result->outcome = Outcome::launch_error;
    result->launch_errno = wire.error_number;
    result->exit_code = -1;
  } else if (wire.cause == Cause::timeout) {
    result->outcome = Outcome::timeout;
  } else if ((over[0] || over[1]) && request.kill_on_output_limit) {
    // Also when the program ended before the pipe was read: the outcome must not depend on a race.
    result->outcome = Outcome::output_limit;
  } else {
    result->outcome = result->exit_code == 0 ? Outcome::ok : Outcome::failed;
  }
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::failed:
      return "failed";
    case Outcome::timeout:
      return "timeout";
    case Outcome::output_limit:
      return "output_limit";
    case Outcome::launch_error:
      return "launch_error";
    case Outcome::launcher_lost:
      return "launcher_lost";
  }
  ASSAY_CHECK(false, "an Outcome outside its enumeration");
}

Result<RunResult> run_result(const ResultMessage& wire, const RunRequest& request) {
  ASSAY_TRY_VOID(check_wire(wire));
  RunResult result;
  if (WIFEXITED(wire.wait_status))
    result.exit_code = WEXITSTATUS(wire.wait_status);
  if (WIFSIGNALED(wire.wait_status))
    result.signal = WTERMSIG(wire.wait_status);
  result.start = Nanoseconds(wire.start_ns);
  result.elapsed = Nanoseconds(wire.end_ns - wire.start_ns);
  result.user = Nanoseconds(wire.user_ns);
  result.system = Nanoseconds(wire.system_ns);
  result.peak_rss = peak_rss_from_rusage(wire.max_rss_kib, RssUnit::kibibytes);
  result.minor_faults = wire.minor_faults;
  result.major_faults = wire.major_faults;
  result.voluntary_switches = wire.voluntary;
  result.involuntary_switches = wire.involuntary;
  result.descendants_left = wire.descendants;
  result.out.total = wire.total[0];
  result.err.total = wire.total[1];
  result.out.truncated = wire.total[0] > wire.captured[0];
  result.err.truncated = wire.total[1] > wire.captured[1];
  judge(wire, request, &result);
  return result;
}

}  // namespace assay::process
