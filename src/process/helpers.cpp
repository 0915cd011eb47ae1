#include "helpers.h"

#include "tree.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::process {
namespace {

constexpr int kGuardLimitMs = 12000;  // longer than the guard needs at worst
constexpr int kWakeMs = 100;
constexpr int kSettleLimit = 100;  // scans, kSettlePauseUs apart
constexpr int kSettledScans = 5;
constexpr useconds_t kSettlePauseUs = 2000;
constexpr int kTreeLimitMs = 5000;

bool has_ended(int handle, int limit_ms) {
  pollfd item{handle, POLLIN, 0};
  return poll(&item, 1, limit_ms) == 1;
}

bool is_stopped(pid_t pid) {
  return pid > 0 && process_state(pid) == 'T';
}

}  // namespace

void Helpers::set_worker(pid_t worker, std::string cgroup) {
  worker_ = worker;
  worker_handle_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, worker, 0)));
  cgroup_ = std::move(cgroup);
}

const char* Helpers::stopped() const {
  return is_stopped(worker_) ? "assay-launch" : is_stopped(guard_) ? "assay-guard" : nullptr;
}

void Helpers::kill_worker() const {
  if (worker_handle_.valid())
    syscall(SYS_pidfd_send_signal, worker_handle_.get(), SIGKILL, nullptr, 0);
}

void Helpers::end() {
  if (guard_ <= 0)
    return;
  const Fd guard(static_cast<int>(syscall(SYS_pidfd_open, guard_, 0)));
  bool ended = false;
  for (int waited = 0; !ended && waited < kGuardLimitMs; waited += kWakeMs) {
    ended = has_ended(guard.get(), kWakeMs);
    if (!ended) {
      kill(guard_, SIGCONT);
      if (worker_handle_.valid())
        syscall(SYS_pidfd_send_signal, worker_handle_.get(), SIGCONT, nullptr, 0);
    }
  }
  if (!ended) {
    kill_worker();
    kill(guard_, SIGKILL);
  }
  while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guard_ = -1;
}

int Helpers::end_all() {
  kill_worker();
  end();
  if (!cgroup_.empty()) {
    const Fd control(open((cgroup_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    [[maybe_unused]] const ssize_t written = control.valid() ? write(control.get(), "1", 1) : 0;
  }
  int left = end_descendants(Roots::other_sessions, kTreeLimitMs).left;
  // A dying process closes its socket before its children are handed on to us: look again until the
  // worker is gone, and a few times more for what its children hand on in turn.
  for (int again = 0, settled = 0; again < kSettleLimit && settled < kSettledScans; ++again) {
    usleep(kSettlePauseUs);
    settled = worker_handle_.valid() && !has_ended(worker_handle_.get(), 0) ? 0 : settled + 1;
    left = end_descendants(Roots::other_sessions, kTreeLimitMs).left;
  }
  if (!cgroup_.empty())
    rmdir(cgroup_.c_str());
  return left;
}

}  // namespace assay::process
