// Ends process trees through /proc. Compiled into assay-launch as well: no allocation, no
// exceptions.
#pragma once

#include <sys/types.h>

namespace assay::process {

// Which children of the calling process start a tree. assay itself may have children of its own in
// its session; everything that assay-launch started lives in another one.
enum class Roots { all_children, other_sessions };

struct TreeEnd {
  int found = 0;  // how many descendants were alive
  int left = 0;   // how many could not be ended
};

// The letter of /proc/PID/stat: T for one that a signal has stopped; 0: there is no such process.
char process_state(pid_t pid);

// Ends every descendant and reaps it, for at most `limit_ms`. Stops them first, parents before
// children: a stopped parent neither forks nor reaps, so its list of children holds still. The
// caller must be a child subreaper, or daemons escape. Not thread safe.
TreeEnd end_descendants(Roots roots, int limit_ms);

}  // namespace assay::process
