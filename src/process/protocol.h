// What assay and assay-launch say to each other over one stream socket, shared by both sides.
//
// Every message is a Header, then `length` bytes. The layout of the first 28 bytes (magic, version,
// build) never changes, so that any two builds can refuse each other by name. Both ends run on one
// machine from one build: native byte order and plain structs. docs/design/launcher.md
#pragma once

#include <cstdint>

namespace assay::process {

inline constexpr char kWireMagic[9] = "ASSAYLP\n";
inline constexpr std::uint32_t kWireVersion = 1;
inline constexpr int kBuildIdSize = 16;
// A hash of the sources of both sides, fixed when the build is configured.
extern const char kBuildId[kBuildIdSize + 1];

inline constexpr int kCpuWords = 16;  // sched_setaffinity mask of 1,024 CPUs
inline constexpr std::uint64_t kMaxMessage = 64u << 20;

enum class MessageType : std::uint32_t { hello = 1, hello_ok, refused, run, kill, result };

struct Header {
  char magic[8];
  std::uint32_t version;
  char build[kBuildIdSize];
  MessageType type;
  std::uint64_t length;
};
static_assert(sizeof(Header) == 40);

// Carries two descriptors: the memory files that receive captured stdout and stderr.
struct HelloMessage {
  std::uint64_t own_cpus[kCpuWords];
  std::uint32_t pin;
};

// Followed by the path of the run cgroup, empty where there is none.
struct HelloOkMessage {
  std::int32_t worker_pid;
  std::int32_t guard_pid;
};

// Followed by NUL-terminated strings: the path, then argc arguments, then envc NAME=value entries.
// Carries one descriptor for each of has_fd[] that is set (stdin, stdout, stderr); without one,
// stdin is /dev/null and the output is captured.
struct RunMessage {
  std::uint64_t strings;    // bytes that follow
  std::int64_t timeout_ns;  // < 0: none
  std::int64_t bound[2];    // stdout, stderr
  std::uint64_t cpus[kCpuWords];
  std::uint32_t argc, envc;
  std::uint32_t has_fd[3];
  std::uint32_t kill_on_output_limit;
  std::uint32_t pin;
};

enum class Stage : std::uint32_t { none, prepare, clone, affinity, exec, capture };
enum class Cause : std::uint32_t { none, timeout, out_bound, err_bound, asked, lost };

struct ResultMessage {
  std::int64_t start_ns, end_ns;
  std::int64_t user_ns, system_ns;
  std::int64_t max_rss_kib;
  std::int64_t minor_faults, major_faults, voluntary, involuntary;
  std::int64_t captured[2], total[2];
  std::int32_t wait_status;
  Cause cause;  // why the launcher ended the run
  Stage stage;  // where the launch failed, with error_number
  std::int32_t error_number;
  std::int32_t descendants;
  std::int32_t unkillable;
};

}  // namespace assay::process
