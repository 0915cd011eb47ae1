/* floor_loop N PROGRAM [PAUSE_NS]: the floor of timing a process: vfork, three dup2, exec, wait4,
 * nothing else, after a sleep of PAUSE_NS that is not timed. Prints "median_ns min_ns". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a;
  const int64_t y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4)
    return 2;
  const int n = atoi(argv[1]);
  const int64_t pause_ns = argc == 4 ? atoll(argv[3]) : 0;
  const struct timespec pause = {pause_ns / 1000000000, pause_ns % 1000000000};
  char* child_argv[] = {argv[2], NULL};
  int64_t* elapsed = calloc((size_t)n, sizeof *elapsed);
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < n; ++i) {
    int status = 0;
    struct rusage usage;
    if (pause_ns > 0)
      nanosleep(&pause, NULL);
    const int64_t start = now_ns();
    const pid_t pid = vfork();
    if (pid == 0) {
      dup2(null_fd, 0);
      dup2(null_fd, 1);
      dup2(null_fd, 2);
      execve(argv[2], child_argv, environ);
      _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
      return 1;
    elapsed[i] = now_ns() - start;
  }
  qsort(elapsed, (size_t)n, sizeof *elapsed, by_value);
  printf("%lld %lld\n", (long long)elapsed[n / 2], (long long)elapsed[0]);
  return 0;
}
