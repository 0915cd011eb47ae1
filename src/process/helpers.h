// The two processes of assay-launch as assay sees them: the guard, its child, and the worker.
#pragma once

#include "assay/base/files.h"

#include <string>
#include <sys/types.h>

namespace assay::process {

class Helpers {
 public:
  Helpers() = default;
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  void set_guard(pid_t guard) { guard_ = guard; }
  void set_worker(pid_t worker, std::string cgroup);
  pid_t guard() const { return guard_; }
  pid_t worker() const { return worker_; }
  bool has_cgroup() const { return !cgroup_.empty(); }

  // The name of one that a stop signal holds, nullptr where both can act.
  const char* stopped() const;
  // Waits until the guard has ended everything and itself, once the socket is closed. Wakes the
  // helpers on the way: a stopped one would be waited for in vain.
  void end();
  // Ends the worker, the guard and whatever they have left behind; returns how many programs could
  // not be ended.
  int end_all();

 private:
  void kill_worker() const;

  pid_t guard_ = -1;
  pid_t worker_ = -1;
  Fd worker_handle_;  // the worker is the guard's child: its number alone may be somebody else's
  std::string cgroup_;
};

}  // namespace assay::process
