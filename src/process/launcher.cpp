#include "assay/process/launcher.h"

#include "channel.h"
#include "helpers.h"
#include "request.h"
#include "resolve.h"
#include "result.h"
#include "signals.h"
#include "start_helper.h"

#include "assay/base/ids.h"
#include "assay/base/text.h"
#include "assay/process/output.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::process {
namespace {

constexpr int kAnswerLimitMs = 15000;  // the helper needs 10 s at worst
constexpr int kWatchMs = 1000;

// The instant by which an answer must be there after `wait`, which is at most a hundred years.
std::int64_t answer_due(Nanoseconds wait) {
  return monotonic_now().value + wait.value + std::int64_t{kAnswerLimitMs} * 1000000;
}

Result<Fd> memory_file(const char* name) {
  Fd file(memfd_create(name, MFD_CLOEXEC));
  if (!file.valid())
    return tl::unexpected(
        system_error(ErrorCode::launcher, "cannot create memory for captured output", errno));
  return file;
}

Result<std::string> read_captured(int fd, std::int64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return tl::unexpected(
          system_error(ErrorCode::launcher, "captured output is lost", got < 0 ? errno : EIO));
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

// A terminal obeys control characters: a program's output could move the cursor, rename the window
// or hide what assay says. Newline and tab stay, the rest becomes visible.
std::string for_terminal(std::string_view bytes) {
  std::string shown;
  while (!bytes.empty()) {
    const std::size_t plain = std::min(bytes.find_first_of("\n\t"), bytes.size());
    shown += printable(bytes.substr(0, plain));
    if (plain < bytes.size())
      shown += bytes[plain];
    bytes.remove_prefix(std::min(plain + 1, bytes.size()));
  }
  return shown;
}

// A courtesy to the reader: the bytes are kept anyway.
void echo(std::string_view bytes) {
  if (isatty(STDERR_FILENO) == 1)
    (void)write_unless_stopped(STDERR_FILENO, for_terminal(bytes), "standard error");
  else
    (void)write_unless_stopped(STDERR_FILENO, bytes, "standard error");
}

Error interrupted() {
  return {ErrorCode::interrupted, "stopped by SIG" + std::string(sigabbrev_np(stop_signal())), {}};
}

}  // namespace

struct Launcher::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  Result<void> greet(const LauncherOptions& options);
  Result<ResultMessage> exchange(const EncodedRun& run, unsigned signals_before);
  Result<void> await_answer(unsigned signals_before, Nanoseconds timeout);
  Result<ResultMessage> wait_for_result(unsigned signals_before, Nanoseconds timeout);
  Error lose(const Error& cause);

  std::string path;
  Channel channel;
  Fd memory[2];
  std::uint64_t allowed_cpus[kCpuWords] = {};
  Helpers helpers;
  bool lost = false;
};

Launcher::State::~State() {
  channel.close();
  helpers.end();
}

// The helper is gone or of no use any more: ends it and whatever it has left behind.
Error Launcher::State::lose(const Error& cause) {
  lost = true;
  channel.close();
  const int left = helpers.end_all();
  std::string what = "launcher_lost: assay-launch (process " + std::to_string(helpers.worker()) +
                     ") was lost in the middle of the campaign (" + cause.what + "); ";
  what += left == 0 ? "every program it had started was ended; run again"
                    : std::to_string(left) + " program(s) it had started could not be ended";
  return {ErrorCode::launcher, std::move(what), path};
}

Result<void> Launcher::State::greet(const LauncherOptions& options) {
  for (Fd& file : memory) {
    ASSAY_TRY(file, memory_file("assay-output"));
  }
  HelloMessage hello{};
  hello.pin = options.own_cpus.empty() ? 0 : 1;
  if (syscall(SYS_sched_getaffinity, 0, sizeof allowed_cpus, allowed_cpus) < 0)
    return tl::unexpected(system_error(ErrorCode::launcher, "sched_getaffinity", errno));
  ASSAY_TRY_VOID(fill_cpu_mask(options.own_cpus, allowed_cpus, hello.own_cpus));
  ASSAY_TRY_VOID(
      channel.send(MessageType::hello, as_bytes(hello), {memory[0].get(), memory[1].get()}));
  ASSAY_TRY(const ReceivedMessage answer, channel.receive(kAnswerLimitMs));
  HelloOkMessage ok;
  if (answer.header.type != MessageType::hello_ok || answer.payload.size() < sizeof ok)
    return fail(ErrorCode::launcher, "assay-launch refused to start", path);
  std::memcpy(&ok, answer.payload.data(), sizeof ok);
  helpers.set_worker(ok.worker_pid, answer.payload.substr(sizeof ok));
  if (!options.own_cpus.empty() &&
      syscall(SYS_sched_setaffinity, 0, sizeof hello.own_cpus, hello.own_cpus) < 0)
    return tl::unexpected(system_error(ErrorCode::launcher, "sched_setaffinity", errno));
  return {};
}

// Waits for the helper's answer or for a reason not to: it never waits for ever on a helper that
// something holds, neither after a stop signal nor after the run's own timeout.
Result<void> Launcher::State::await_answer(unsigned signals_before, Nanoseconds timeout) {
  bool asked = false;
  int stops_seen = 0;
  std::int64_t deadline = timeout.value < 0 ? -1 : answer_due(timeout);
  for (;;) {
    pollfd items[2] = {{channel.fd(), POLLIN, 0}, {asked ? -1 : stop_wakeup_fd(), POLLIN, 0}};
    const int ready = poll(items, 2, kWatchMs);
    if (ready > 0 && items[0].revents != 0)
      return {};
    if (!asked && stop_signal_count() != signals_before) {
      asked = true;
      deadline = answer_due(Nanoseconds(0));
      ASSAY_TRY_VOID(channel.send(MessageType::kill, {}));
    }
    if (deadline >= 0 && monotonic_now().value > deadline)
      return fail(ErrorCode::launcher, "it does not answer", path);
    // Twice, a watch apart: whoever stops assay with its helpers wakes assay first.
    const char* stopped = ready == 0 ? helpers.stopped() : nullptr;
    stops_seen = stopped == nullptr ? 0 : stops_seen + 1;
    if (stops_seen == 2)
      return fail(ErrorCode::launcher,
                  std::string(stopped) + " was stopped by a signal; the run cannot be timed", path);
  }
}

Result<ResultMessage> Launcher::State::wait_for_result(unsigned signals_before,
                                                       Nanoseconds timeout) {
  ASSAY_TRY_VOID(await_answer(signals_before, timeout));
  ASSAY_TRY(const ReceivedMessage answer, channel.receive(kAnswerLimitMs));
  ResultMessage result;
  if (answer.header.type != MessageType::result || answer.payload.size() != sizeof result)
    return fail(ErrorCode::launcher, "assay-launch broke the protocol", path);
  std::memcpy(&result, answer.payload.data(), sizeof result);
  return result;
}

Result<ResultMessage> Launcher::State::exchange(const EncodedRun& run, unsigned signals_before) {
  auto sent = channel.send(MessageType::run, run.payload, run.fds);
  if (!sent)
    return tl::unexpected(lose(sent.error()));
  auto result = wait_for_result(signals_before, run.timeout);
  if (!result)
    return tl::unexpected(lose(result.error()));
  return result;
}

Launcher::Launcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Launcher::~Launcher() = default;
Launcher::Launcher(Launcher&&) noexcept = default;
Launcher& Launcher::operator=(Launcher&&) noexcept = default;

Result<Launcher> Launcher::start(const LauncherOptions& options) {
  auto state = std::make_unique<State>();
  ASSAY_TRY(state->path, helper_path(options.helper_path));
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return tl::unexpected(system_error(ErrorCode::unsupported, "PR_SET_CHILD_SUBREAPER", errno));
  ASSAY_TRY(StartedHelper helper, start_helper(state->path));
  state->helpers.set_guard(helper.guard);
  state->channel = Channel(std::move(helper.socket), state->path);
  ASSAY_TRY_VOID(state->greet(options));
  return Launcher(std::move(state));
}

int Launcher::helper_pid() const {
  return state_->helpers.worker();
}
int Launcher::guard_pid() const {
  return state_->helpers.guard();
}
bool Launcher::has_cgroup() const {
  return state_->helpers.has_cgroup();
}

Result<RunResult> Launcher::run(const RunRequest& request) {
  if (state_->lost)
    return fail(ErrorCode::launcher, "launcher_lost: assay-launch has ended", state_->path);
  clear_stop_wakeup();
  const unsigned signals_before = request.run_after_stop ? stop_signal_count() : 0;
  if (stop_signal_count() != signals_before)
    return tl::unexpected(interrupted());
  const FoundProgram program = find_program(request.argv.empty() ? "" : request.argv[0]);
  ASSAY_TRY(const EncodedRun encoded, encode_run(request, program.path, state_->allowed_cpus));
  if (program.path.empty()) {
    RunResult result;
    result.launch_errno = program.error;
    result.bound_hit = "none";
    result.start = monotonic_now();
    return result;
  }
  ASSAY_TRY(const ResultMessage wire, state_->exchange(encoded, signals_before));
  ASSAY_TRY(RunResult result, run_result(wire, request));
  if (wire.cause == Cause::asked)
    return tl::unexpected(interrupted());
  ASSAY_TRY(result.out.bytes, read_captured(state_->memory[0].get(), wire.captured[0]));
  ASSAY_TRY(result.err.bytes, read_captured(state_->memory[1].get(), wire.captured[1]));
  if (request.echo_output) {
    echo(result.out.bytes);
    echo(result.err.bytes);
  }
  return result;
}

}  // namespace assay::process
