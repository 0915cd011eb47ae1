// Inside assay-launch: one static program, two roles, no heap.
//
// The guard is assay's child; the worker is the guard's child and starts the measured programs.
// Both are subreapers, so whichever of assay, guard and worker survives inherits the orphans and
// ends them.
#pragma once

#include "protocol.h"

#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <sys/types.h>

namespace assay::process::launch {

// Descriptors that a role finds open when it starts.
inline constexpr int kSocket = 3;  // to assay
inline constexpr int kAbove =
    4;  // pidfd of the process above: assay for the guard, the guard for the worker
inline constexpr int kCgroup = 5;  // worker only: the run cgroup's directory, where there is one
inline constexpr int kKillLimitMs = 5000;

inline constexpr int kExitRefused = 3;
inline constexpr int kExitBroken = 4;

struct CpuMask {
  std::uint64_t words[kCpuWords];
};

// --- io.cpp
std::int64_t now_ns();
bool read_exactly(int fd, void* to, std::size_t size);
bool write_exactly(int fd, const void* from, std::size_t size);
bool readable(int fd);
int open_pidfd(pid_t pid);
// Fresh signal state, no inherited descriptors above `last`, no terminal.
void become_role(const char* name, int last);
// Copies into a buffer of `capacity`, always terminated; false when it had to cut.
bool append_text(char* to, std::size_t capacity, const char* text);

// --- cgroup.cpp
// A cgroup v2 leaf below our own cgroup for the worker and everything it starts. It costs a run
// nothing, and its cgroup.kill still works when the worker is dead.
class RunCgroup {
 public:
  // Also ends what earlier, killed campaigns left behind. No-op where v2 is missing or not
  // writable.
  void create();
  void kill_all();
  void remove();
  int directory() const { return directory_; }
  const char* path() const { return path_; }

 private:
  bool try_create(const char* parent, int attempt);
  char path_[1024] = {};
  int directory_ = -1;
};

// --- run.cpp
// What the worker keeps between runs.
struct Worker {
  int memory[2] = {-1, -1};  // captured stdout and stderr, shared with assay
  CpuMask inherited_cpus{};  // where children run unless told otherwise
  bool pinned = false;
  pid_t pid = 0;
};

struct Launch {
  const RunMessage* request;
  char* path;
  char** argv;
  char** environment;
  int given_fd[3];  // -1: /dev/null or capture
};

ResultMessage run_program(const Worker& worker, const Launch& launch);

// --- the roles
int guard_main(const char* own_path);
int worker_main(int guard_pid, const char* cgroup_path);

}  // namespace assay::process::launch
