#include "launch.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::process::launch {
namespace {

constexpr int kWakeMs = 100;
// What the worker takes at worst: one limit for the program, one for its descendants.
constexpr std::int64_t kWorkerLimitNs = std::int64_t{2} * kKillLimitMs * 1000000;

// Makes `from` the descriptor `to` of the program about to be executed.
void place(int from, int to) {
  if (from == to)
    fcntl(from, F_SETFD, 0);
  else
    dup2(from, to);
}

pid_t start_worker(const char* own_path, int self, RunCgroup& cgroup) {
  char number[12];
  (void)snprintf(number, sizeof number, "%d", getpid());  // an int has at most 11 characters
  char name[] = "assay-launch";
  char role[] = "worker";
  char* argv[] = {name, role, number, const_cast<char*>(cgroup.path()), nullptr};
  const pid_t pid = vfork();
  if (pid != 0)
    return pid;
  fcntl(kSocket, F_SETFD, 0);
  place(self, kAbove);
  if (cgroup.directory() >= 0)
    place(cgroup.directory(), kCgroup);
  execve("/proc/self/exe", argv, environ);
  execve(own_path, argv, environ);
  _exit(kExitBroken);
}

// assay has ended. The worker sees that as well, ends its programs and then itself. Stopping or
// killing it here instead would leave nobody to act if this process were killed next. With a cgroup
// there is no such gap: one write ends them all.
void wait_for_worker(pid_t worker, int worker_pidfd) {
  pollfd item{worker_pidfd, POLLIN, 0};
  const std::int64_t deadline = now_ns() + kWorkerLimitNs;
  while (poll(&item, 1, kWakeMs) != 1 && now_ns() < deadline)
    kill(worker, SIGCONT);  // what it runs may have stopped it
}

}  // namespace

int guard_main(const char* own_path) {
  become_role("assay-guard", kAbove);
  RunCgroup cgroup;
  cgroup.create();
  const int self = open_pidfd(getpid());
  const pid_t worker = self < 0 ? -1 : start_worker(own_path, self, cgroup);
  const int worker_pidfd = worker < 0 ? -1 : open_pidfd(worker);
  close(kSocket);  // the worker alone keeps it: its death is an end of file for assay
  if (worker_pidfd >= 0) {
    pollfd items[2] = {{kAbove, POLLIN, 0}, {worker_pidfd, POLLIN, 0}};
    while (poll(items, 2, -1) < 0 && errno == EINTR) {
    }
  }
  // Whoever ended first, and why, does not matter: nothing may outlive them.
  if (cgroup.directory() >= 0)
    cgroup.kill_all();
  else if (worker_pidfd >= 0)
    wait_for_worker(worker, worker_pidfd);
  const int left = end_descendants(Roots::all_children, kKillLimitMs).left;
  cgroup.remove();
  return left == 0 && worker_pidfd >= 0 ? 0 : kExitBroken;
}

}  // namespace assay::process::launch
