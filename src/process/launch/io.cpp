#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace assay::process::launch {

std::int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

bool read_exactly(int fd, void* to, std::size_t size) {
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = read(fd, at, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_exactly(int fd, const void* from, std::size_t size) {
  const char* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = send(fd, at, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

bool readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  return poll(&item, 1, 0) == 1;
}

int open_pidfd(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

void become_role(const char* name, int last) {
  prctl(PR_SET_NAME, name);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (syscall(SYS_close_range, last + 1, ~0u, 0) != 0)  // before Linux 5.9
    for (int fd = last + 1, end = static_cast<int>(sysconf(_SC_OPEN_MAX)); fd < end; ++fd)
      close(fd);
  for (int fd = kSocket; fd <= last; ++fd)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  // Blocked, not ignored: an ignored signal would stay ignored in the measured program.
  for (int number = 1; number < NSIG; ++number)
    signal(number, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();  // Ctrl-C at the terminal is for assay alone
}

bool append_text(char* to, std::size_t capacity, const char* text) {
  const std::size_t used = strlen(to);
  const std::size_t wanted = strlen(text);
  const std::size_t copied = used + wanted < capacity ? wanted : capacity - used - 1;
  memcpy(to + used, text, copied);
  to[used + copied] = 0;
  return copied == wanted;
}

}  // namespace assay::process::launch
