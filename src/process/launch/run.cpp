// One run: prepare, clone, wait, reap, end the tree, collect the output.
#include "launch.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::process::launch {
namespace {

constexpr int kPipeSize = 1 << 20;
constexpr int kLastReads = 64;  // after the tree is gone a pipe holds at most one such load
constexpr std::size_t kStackSize = 16384;

// The child borrows our memory until it executes; only then does clone() return to us.
alignas(16) char g_child_stack[kStackSize];

struct Stream {
  int read_end = -1;
  int write_end = -1;
  std::int64_t captured = 0;
  std::int64_t total = 0;
};

struct Run {
  const Worker& worker;
  const Launch& launch;
  ResultMessage result{};
  Stream streams[2];
  int null_input = -1;
  int discard = -1;
  int child_fd[3] = {-1, -1, -1};
  int pidfd = -1;
  pid_t pid = -1;
  // Written by the child before it executes.
  volatile Stage child_stage = Stage::none;
  volatile int child_errno = 0;
};

[[noreturn]] void give_up(Run* run, Stage stage) {
  run->child_errno = errno;
  run->child_stage = stage;
  _exit(127);
}

// Everything here is inside the timed span: system calls only, and as few as possible. A process
// group of its own keeps kill(0, ...) away from the worker; the session has no terminal already
// (and a new session would cost microseconds for its scheduling group).
int child_main(void* argument) {
  Run* run = static_cast<Run*>(argument);
  for (int fd = 0; fd < 3; ++fd)
    if (dup2(run->child_fd[fd], fd) < 0)
      give_up(run, Stage::prepare);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != run->worker.pid)
    _exit(127);
  const RunMessage* request = run->launch.request;
  if (request->pin != 0 || run->worker.pinned) {
    const void* mask = request->pin != 0 ? static_cast<const void*>(request->cpus)
                                         : static_cast<const void*>(&run->worker.inherited_cpus);
    if (syscall(SYS_sched_setaffinity, 0, sizeof(CpuMask), mask) != 0)
      give_up(run, Stage::affinity);
  }
  const std::uint64_t none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  execve(run->launch.path, run->launch.argv, run->launch.environment);
  give_up(run, Stage::exec);
}

bool prepare_stream(Run* run, int index) {
  if (run->launch.given_fd[index + 1] >= 0) {
    run->child_fd[index + 1] = run->launch.given_fd[index + 1];
    return true;
  }
  Stream& stream = run->streams[index];
  int ends[2];
  if (ftruncate(run->worker.memory[index], 0) != 0 || pipe2(ends, O_CLOEXEC) != 0)
    return false;
  stream.read_end = ends[0];
  stream.write_end = ends[1];
  fcntl(stream.read_end, F_SETPIPE_SZ, kPipeSize);  // may be refused to a user with many pipes
  // We keep the write end, so a child that ends or closes its output does not wake us for it.
  run->child_fd[index + 1] = stream.write_end;
  return true;
}

bool prepare(Run* run) {
  run->null_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  run->discard = open("/dev/null", O_WRONLY | O_CLOEXEC);
  run->child_fd[0] = run->launch.given_fd[0] >= 0 ? run->launch.given_fd[0] : run->null_input;
  return run->null_input >= 0 && run->discard >= 0 && prepare_stream(run, 0) &&
         prepare_stream(run, 1);
}

void close_all(Run* run) {
  const int fds[] = {run->null_input,
                     run->discard,
                     run->streams[0].read_end,
                     run->streams[0].write_end,
                     run->streams[1].read_end,
                     run->streams[1].write_end,
                     run->pidfd};
  for (const int fd : fds)
    if (fd >= 0)
      close(fd);
}

// Moves one load from the pipe to the memory file, or counts it beyond the bound. Spliced, because
// memory touched by this process would count as the next child's. False: nothing was there.
bool drain_once(Run* run, int index) {
  Stream& stream = run->streams[index];
  const std::int64_t room = run->launch.request->bound[index] - stream.captured;
  loff_t offset = stream.captured;
  ssize_t moved;
  if (room > 0) {
    const std::size_t most = room < kPipeSize ? static_cast<std::size_t>(room) : kPipeSize;
    moved = splice(stream.read_end, nullptr, run->worker.memory[index], &offset, most,
                   SPLICE_F_NONBLOCK);
  } else {
    moved = splice(stream.read_end, nullptr, run->discard, nullptr, kPipeSize, SPLICE_F_NONBLOCK);
  }
  if (moved < 0 && errno != EAGAIN && errno != EINTR) {
    run->result.stage = Stage::capture;
    run->result.error_number = errno;
  }
  if (moved <= 0)
    return false;
  stream.total += moved;
  if (room > 0)
    stream.captured += moved;
  return true;
}

bool over_bound(const Run& run, int index) {
  return run.streams[index].total > run.launch.request->bound[index];
}

// What assay says during a run: stop, or (by an end of file or anything else) that it is gone.
Cause read_socket() {
  Header header;
  if (!read_exactly(kSocket, &header, sizeof header))
    return Cause::lost;
  return header.type == MessageType::kill && header.length == 0 ? Cause::asked : Cause::lost;
}

// Looks at everything but the child's end. Returns why the run must be ended, if it must.
Cause check_others(Run* run, const pollfd* items) {
  if (items[2].revents != 0)
    return Cause::lost;
  if (items[1].revents != 0)
    return read_socket();
  for (int index = 0; index < 2; ++index) {
    if (items[3 + index].revents == 0)
      continue;
    drain_once(run, index);
    if (run->result.stage == Stage::capture)
      return Cause::asked;
    if (over_bound(*run, index) && run->launch.request->kill_on_output_limit != 0)
      return index == 0 ? Cause::out_bound : Cause::err_bound;
  }
  return Cause::none;
}

// Sleeps until the child has ended or must be ended.
Cause watch(Run* run) {
  pollfd items[5] = {{run->pidfd, POLLIN, 0},
                     {kSocket, POLLIN, 0},
                     {kAbove, POLLIN, 0},
                     {run->streams[0].read_end, POLLIN, 0},
                     {run->streams[1].read_end, POLLIN, 0}};
  const std::int64_t timeout = run->launch.request->timeout_ns;
  const std::int64_t deadline = run->result.start_ns + timeout;
  for (;;) {
    timespec rest{};
    if (timeout >= 0) {
      const std::int64_t left = deadline - now_ns();
      if (left > 0)
        rest = {static_cast<time_t>(left / 1000000000), static_cast<long>(left % 1000000000)};
    }
    const int ready = ppoll(items, 5, timeout >= 0 ? &rest : nullptr, nullptr);
    if (ready > 0 && items[0].revents != 0)
      return Cause::none;
    const Cause cause = ready > 0 ? check_others(run, items) : Cause::none;
    if (cause != Cause::none)
      return cause;
    if (timeout >= 0 && now_ns() >= deadline)
      return Cause::timeout;
  }
}

// Reaps the child. False when it will not die (blocked inside the kernel).
bool reap_child(Run* run, rusage* usage) {
  if (run->result.cause != Cause::none) {
    syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, nullptr, 0);
    pollfd item{run->pidfd, POLLIN, 0};
    if (poll(&item, 1, kKillLimitMs) != 1)
      return false;
  }
  int status = 0;
  pid_t reaped;
  do {
    reaped = wait4(run->pid, &status, __WALL, usage);
  } while (reaped < 0 && errno == EINTR);
  run->result.end_ns = now_ns();
  run->result.wait_status = status;
  return reaped == run->pid;
}

std::int64_t nanoseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1000000000 +
         static_cast<std::int64_t>(time.tv_usec) * 1000;
}

void keep_usage(const rusage& usage, ResultMessage* result) {
  result->user_ns = nanoseconds(usage.ru_utime);
  result->system_ns = nanoseconds(usage.ru_stime);
  result->max_rss_kib = usage.ru_maxrss;
  result->minor_faults = usage.ru_minflt;
  result->major_faults = usage.ru_majflt;
  result->voluntary = usage.ru_nvcsw;
  result->involuntary = usage.ru_nivcsw;
}

void collect_output(Run* run) {
  for (int index = 0; index < 2; ++index) {
    Stream& stream = run->streams[index];
    if (stream.read_end < 0)
      continue;
    for (int reads = 0; reads < kLastReads && drain_once(run, index); ++reads) {
    }
    run->result.captured[index] = stream.captured;
    run->result.total[index] = stream.total;
  }
}

void start_and_wait(Run* run) {
  ResultMessage& result = run->result;
  rusage usage{};
  result.start_ns = now_ns();
  run->pid = clone(child_main, g_child_stack + kStackSize,
                   CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, run, &run->pidfd);
  if (run->pid < 0) {
    result.end_ns = now_ns();
    result.stage = Stage::clone;
    result.error_number = errno;
    return;
  }
  result.cause = watch(run);
  if (!reap_child(run, &usage)) {
    result.end_ns = now_ns();
    result.unkillable = 1;
    return;
  }
  keep_usage(usage, &result);
  // In the ordinary case one call: no child left proves an empty tree.
  const TreeEnd end = end_descendants(Roots::all_children, kKillLimitMs);
  result.descendants = end.found;
  result.unkillable = end.left;
  if (run->child_stage != Stage::none) {
    result.stage = run->child_stage;
    result.error_number = run->child_errno;
  }
}

}  // namespace

ResultMessage run_program(const Worker& worker, const Launch& launch) {
  Run run{worker, launch};
  if (prepare(&run)) {
    start_and_wait(&run);
    collect_output(&run);
  } else {
    run.result.stage = Stage::prepare;
    run.result.error_number = errno;
  }
  close_all(&run);
  return run.result;
}

}  // namespace assay::process::launch
