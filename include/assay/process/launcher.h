// The client of assay-launch: a tiny static helper started before the tool grows.
//
// Why a helper: Linux folds the spawner's peak RSS into its child's, and fork costs grow with the
// spawner. The helper is found only beside /proc/self/exe. One Launcher per process; not thread
// safe.
#pragma once

#include "assay/base/result.h"
#include "assay/process/run.h"

#include <memory>
#include <string>

namespace assay::process {

struct LauncherOptions {
  std::string helper_path;    // "" = assay-launch beside /proc/self/exe (tests name their own)
  std::vector<int> own_cpus;  // where the tool and the helper themselves stay; empty = inherited
};

class Launcher {
 public:
  // Starts the helper, checks magic, protocol version and build id (a mismatch names both). Makes
  // this process a child subreaper. Call before the process allocates anything large. Programs run
  // in the working directory of this moment. Children that the caller has of its own must stay in
  // its session, or a lost helper takes them for its leftovers and ends them.
  static Result<Launcher> start(const LauncherOptions& options = {});
  ~Launcher();
  Launcher(Launcher&&) noexcept;
  Launcher& operator=(Launcher&&) noexcept;

  // Runs one program to its end; no descendant survives the return. Errors concern us, never what
  // the child does: launcher (the helper died: "launcher_lost", or could not do its work),
  // invalid_argument, not_found and io for the request itself, and interrupted when a stop signal
  // arrived during the run (its tree is killed) or before it (see RunRequest::run_after_stop).
  Result<RunResult> run(const RunRequest& request);

  int helper_pid() const;   // the worker, which starts the programs
  int guard_pid() const;    // its parent, which ends them if the worker or assay is killed
  bool has_cgroup() const;  // whether runs live in a cgroup of their own

 private:
  struct State;
  explicit Launcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The path that execvp would run, or an Error that says not found / not executable.
Result<std::string> resolve_program(const std::string& name);

// SIGINT, SIGTERM, SIGQUIT and SIGHUP become a flag and a readable descriptor. Installed once, by
// cli.
void install_signal_handlers();
// 0, or the signal that asked us to stop. A second signal while stopping does not abort the
// archive.
int stop_signal();
// For tests and for polling together with other descriptors: readable once a signal arrived.
int stop_signal_fd();

}  // namespace assay::process
