#include "signals.h"

#include "assay/base/result.h"
#include "assay/process/launcher.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::process {
namespace {

// Touched by the handler, hence lock-free and global.
std::atomic<int> g_signal{0};
std::atomic<unsigned> g_count{0};
int g_stop_fd = -1;    // stays readable once a signal arrived
int g_wakeup_fd = -1;  // readable until a run has taken notice

void on_stop_signal(int number) {
  const int saved = errno;
  int expected = 0;
  g_signal.compare_exchange_strong(expected, number);
  g_count.fetch_add(1);
  const std::uint64_t one = 1;
  for (const int fd : {g_stop_fd, g_wakeup_fd}) {
    [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof one);
  }
  errno = saved;
}

bool is_ignored(int number) {
  struct sigaction current {};
  sigaction(number, nullptr, &current);
  return current.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
  if (g_stop_fd >= 0)
    return;
  g_stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  g_wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSAY_CHECK(g_stop_fd >= 0 && g_wakeup_fd >= 0, "eventfd for stop signals");
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;  // a write of evidence in progress is finished, not torn
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // even if ignored: shells start background jobs so
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGQUIT, &action, nullptr);
  if (!is_ignored(SIGHUP))  // nohup asks to outlive the terminal
    sigaction(SIGHUP, &action, nullptr);
}

int stop_signal() {
  return g_signal.load();
}
int stop_signal_fd() {
  return g_stop_fd;
}

unsigned stop_signal_count() {
  return g_count.load();
}
int stop_wakeup_fd() {
  return g_wakeup_fd;
}

void clear_stop_wakeup() {
  std::uint64_t count = 0;
  if (g_wakeup_fd >= 0) {
    [[maybe_unused]] const ssize_t size = read(g_wakeup_fd, &count, sizeof count);
  }
}

}  // namespace assay::process
