// Ends process trees through /proc. Compiled into assay-launch as well: no allocation, no
// exceptions.
#pragma once

namespace assay::process {

// Which children of the calling process start a tree. assay itself may have children of its own in
// its session; everything that assay-launch started lives in another one.
enum class Roots { all_children, other_sessions };

// Stops the descendants top-down (a stopped parent neither forks nor reaps, so its list of children
// holds still) and counts the living ones.
int stop_descendants(Roots roots);

// Stops, kills and reaps every descendant until none is left or `limit_ms` passed; returns how many
// were left. The caller must be a child subreaper, or daemons escape. Not thread safe.
int kill_descendants(Roots roots, int limit_ms);

}  // namespace assay::process
