// Every bound that decides whether a host is fit to measure on. The only place they are written;
// docs/reference/host.md repeats them with the reasons.
#pragma once

namespace assay::host {

// 1-minute load per usable CPU above which `load_high` blocks. The tool and one measured program
// keep one CPU busy between them, so an idle two-core host stays at or below 0.5.
inline constexpr double kMaxLoadPerCpu = 0.6;
// That bound for a whole host, as the 1-minute load of `cpus` usable CPUs.
constexpr double max_load(double cpus) {
  return kMaxLoadPerCpu * cpus;
}
// Share of CPU ticks taken by the hypervisor above which `steal` blocks.
inline constexpr double kMaxStealShare = 0.01;
// Share of memory that must be available, or `memory_low` blocks: below it the kernel reclaims.
inline constexpr double kMinAvailableMemoryShare = 0.05;
// A cgroup CPU quota below this many CPUs throttles even one single-threaded program: it blocks.
inline constexpr double kMinCgroupCpus = 1.0;

// A monotonic clock coarser than this can't time a short program: it blocks.
inline constexpr double kMaxClockResolutionNs = 1000;

}  // namespace assay::host
