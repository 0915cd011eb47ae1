#include "assay/process/launcher.h"

#include "channel.h"
#include "request.h"
#include "resolve.h"
#include "result.h"
#include "signals.h"
#include "start_helper.h"
#include "tree.h"

#include "assay/base/ids.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::process {
namespace {

constexpr int kAnswerLimitMs = 30000;
constexpr int kGuardLimitMs = 12000;  // longer than the guard needs at worst
constexpr int kSettleLimit = 100;     // scans, kSettlePauseUs apart
constexpr int kSettledScans = 5;
constexpr useconds_t kSettlePauseUs = 2000;
constexpr int kTreeLimitMs = 5000;

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

void echo(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(STDERR_FILENO, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return;  // a courtesy to the reader; the bytes are kept anyway
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
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
  Result<ResultMessage> wait_for_result(unsigned signals_before);
  Error lose(const Error& cause);
  void end_guard();

  std::string path;
  Channel channel;
  Fd memory[2];
  std::uint64_t allowed_cpus[kCpuWords] = {};
  pid_t guard = -1;
  pid_t worker = -1;
  std::string cgroup;
  bool lost = false;
};

Launcher::State::~State() {
  channel.close();
  end_guard();
}

// Waits until the guard has ended everything and itself.
void Launcher::State::end_guard() {
  if (guard <= 0)
    return;
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, guard, 0)));
  pollfd item{handle.get(), POLLIN, 0};
  int ready;
  do {
    ready = poll(&item, 1, kGuardLimitMs);
  } while (ready < 0 && errno == EINTR);
  if (ready != 1)
    kill(guard, SIGKILL);
  while (waitpid(guard, nullptr, 0) < 0 && errno == EINTR) {
  }
  guard = -1;
}

// The helper is gone: ends whatever it has left behind. Its orphans are ours now, unless the guard
// lives and has done the same already.
Error Launcher::State::lose(const Error& cause) {
  lost = true;
  channel.close();
  end_guard();
  if (!cgroup.empty()) {
    const Fd control(open((cgroup + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    [[maybe_unused]] const ssize_t written = control.valid() ? write(control.get(), "1", 1) : 0;
  }
  int left = end_descendants(Roots::other_sessions, kTreeLimitMs).left;
  // A dying process closes its socket before its children are handed on to us: look again until the
  // worker is gone, and a few times more for what its children hand on in turn.
  for (int again = 0, settled = 0; again < kSettleLimit && settled < kSettledScans; ++again) {
    usleep(kSettlePauseUs);
    settled = kill(worker, 0) == 0 ? 0 : settled + 1;
    left = end_descendants(Roots::other_sessions, kTreeLimitMs).left;
  }
  if (!cgroup.empty())
    rmdir(cgroup.c_str());
  std::string what = "launcher_lost: assay-launch (process " + std::to_string(worker) +
                     ") ended in the middle of the campaign (" + cause.what + "); ";
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
  worker = ok.worker_pid;
  cgroup = answer.payload.substr(sizeof ok);
  if (!options.own_cpus.empty() &&
      syscall(SYS_sched_setaffinity, 0, sizeof hello.own_cpus, hello.own_cpus) < 0)
    return tl::unexpected(system_error(ErrorCode::launcher, "sched_setaffinity", errno));
  return {};
}

Result<ResultMessage> Launcher::State::wait_for_result(unsigned signals_before) {
  bool asked = false;
  for (;;) {
    pollfd items[2] = {{channel.fd(), POLLIN, 0}, {asked ? -1 : stop_wakeup_fd(), POLLIN, 0}};
    const int ready = poll(items, 2, -1);
    if (ready > 0 && items[0].revents != 0)
      break;
    if (!asked && stop_signal_count() != signals_before) {
      asked = true;
      ASSAY_TRY_VOID(channel.send(MessageType::kill, {}));
    }
  }
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
  auto result = wait_for_result(signals_before);
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
  state->guard = helper.guard;
  state->channel = Channel(std::move(helper.socket), state->path);
  ASSAY_TRY_VOID(state->greet(options));
  return Launcher(std::move(state));
}

int Launcher::helper_pid() const {
  return state_->worker;
}
int Launcher::guard_pid() const {
  return state_->guard;
}
bool Launcher::has_cgroup() const {
  return !state_->cgroup.empty();
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
