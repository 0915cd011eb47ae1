// The limits of our own cgroup: the smallest on the way from it to the root of the hierarchy. The
// path itself is not evidence (it names sessions and users) and leaves this file only as numbers.
#include "facts.h"

namespace assay::host {

namespace {

constexpr std::int64_t kMaxMicroseconds = INT64_C(1) << 40;
// The v1 hierarchy spells "no limit" as the largest page-aligned number.
constexpr std::int64_t kUnlimitedBytes = INT64_C(1) << 62;

struct Membership {
  std::string unified, cpu, memory;  // paths in the hierarchies, "" when not a member
};

Fact<Membership> read_membership(const Roots& roots) {
  const auto text = read_prefix(roots.proc + "/self/cgroup", 16384);
  if (!text)
    return no_fact(text.error());
  Membership membership;
  for (const auto line : split(*text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos)
      continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto path = line.substr(second + 1);
    if (path.empty() || path[0] != '/')
      continue;
    if (controllers.empty())
      membership.unified = path;
    for (const auto controller : split(controllers, ',')) {
      if (controller == "cpu")
        membership.cpu = path;
      if (controller == "memory")
        membership.memory = path;
    }
  }
  if (membership.unified.empty() && membership.cpu.empty() && membership.memory.empty())
    return no_fact(kUnexpected);
  return membership;
}

// CPUs allowed by one directory; reason "unlimited" or why it is unknown.
Fact<double> cpus_v2(const std::string& directory) {
  const auto text = read_word(directory + "/cpu.max");
  if (!text)
    return no_fact(text.error());
  const auto parts = split(*text, ' ');
  if (parts.size() == 2 && parts[0] == "max")
    return no_fact("unlimited");
  if (parts.size() != 2)
    return no_fact(kUnexpected);
  const auto quota = to_number(parts[0], 1, kMaxMicroseconds);
  const auto period = to_number(parts[1], 1, kMaxMicroseconds);
  if (!quota || !period)
    return no_fact(kUnexpected);
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

Fact<double> cpus_v1(const std::string& directory) {
  const auto quota = read_number(directory + "/cpu.cfs_quota_us", -1, kMaxMicroseconds);
  if (!quota)
    return no_fact(quota.error());
  if (*quota <= 0)
    return no_fact("unlimited");
  const auto period = read_number(directory + "/cpu.cfs_period_us", 1, kMaxMicroseconds);
  if (!period)
    return no_fact(period.error());
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

Fact<std::int64_t> memory_of(const std::string& path) {
  const auto text = read_word(path);
  if (!text)
    return no_fact(text.error());
  if (*text == "max")
    return no_fact("unlimited");
  const auto bytes = to_number(*text, 0, INT64_MAX);
  if (bytes && *bytes >= kUnlimitedBytes)
    return no_fact("unlimited");
  return bytes;
}
Fact<std::int64_t> memory_v2(const std::string& directory) {
  return memory_of(directory + "/memory.max");
}
Fact<std::int64_t> memory_v1(const std::string& directory) {
  return memory_of(directory + "/memory.limit_in_bytes");
}

// The smallest limit of `mount``path` and its ancestors. A path that is not visible here (another
// cgroup namespace) leaves the mount's own root, which is then our cgroup.
template <typename T>
Fact<T> smallest(const std::string& mount, std::string path, Fact<T> (*read)(const std::string&)) {
  if (path.find("/..") != std::string::npos)
    path.assign(1, '/');
  Fact<T> best = no_fact("not_present");
  for (;;) {
    const auto here = read(path == "/" ? mount : mount + path);
    if (here) {
      if (!best || *here < *best)
        best = here;
    } else if (here.error() == "unlimited") {
      if (!best)
        best = here;
    } else if (here.error() != "not_present") {
      return here;  // one unreadable level: the limit is unknown
    }
    if (path.empty() || path == "/")
      return best;
    path.erase(path.rfind('/'));
    if (path.empty())
      path.assign(1, '/');
  }
}

}  // namespace

Fact<Cgroup> read_cgroup(const Roots& roots) {
  const auto membership = read_membership(roots);
  if (!membership)
    return no_fact(membership.error());
  const std::string mount = roots.sys + "/fs/cgroup";
  Cgroup cgroup{2, no_fact("not_present"), no_fact("not_present")};
  if (membership->cpu.empty() && membership->memory.empty()) {
    cgroup.cpus = smallest<double>(mount, membership->unified, cpus_v2);
    cgroup.memory = smallest<std::int64_t>(mount, membership->unified, memory_v2);
    // No level has the file: at the hierarchy's root, or the controller is not enabled. Both mean
    // no limit, if what is mounted there really is a cgroup v2.
    if (read_prefix(mount + "/cgroup.controllers", 1)) {
      if (!cgroup.cpus && cgroup.cpus.error() == "not_present")
        cgroup.cpus = no_fact("unlimited");
      if (!cgroup.memory && cgroup.memory.error() == "not_present")
        cgroup.memory = no_fact("unlimited");
    }
    return cgroup;
  }
  cgroup.version = 1;
  if (!membership->cpu.empty())
    cgroup.cpus = smallest<double>(mount + "/cpu", membership->cpu, cpus_v1);
  if (!membership->memory.empty())
    cgroup.memory = smallest<std::int64_t>(mount + "/memory", membership->memory, memory_v1);
  return cgroup;
}

}  // namespace assay::host
