// The worst tenant: daemonises, ignores SIGTERM, and every generation lives for a millisecond, in a
// new session, before it is replaced by the next.
#include <csignal>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void sleep_1_ms() {
  const timespec pause{0, 1000000};
  nanosleep(&pause, nullptr);
}

[[noreturn]] void refork_for_ever() {
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);
  for (;;) {
    if (fork() > 0)
      _exit(0);
    setsid();
    sleep_1_ms();
  }
}

}  // namespace

int main() {
  for (int chain = 0; chain < 3; ++chain)
    if (fork() == 0)
      refork_for_ever();
  if (fork() == 0) {  // and one daemon that just stays
    setsid();
    if (fork() != 0)
      _exit(0);
    std::signal(SIGTERM, SIG_IGN);
    for (;;)
      pause();
  }
  std::signal(SIGTERM, SIG_IGN);
  for (;;)
    pause();
}
