#include "tree.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace assay::process {
namespace {

// Untouched pages of these arrays cost nothing; a bigger tree is ended in several passes.
constexpr int kMaxTree = 32768;
constexpr int kQuietPauses = 5;  // of 200 us
constexpr int kMaxPauses = 25;
pid_t g_tree[kMaxTree];
pid_t g_parent[kMaxTree];  // only where the kernel has no "children" files
int g_count = 0;

class File {
 public:
  File(const char* path, int flags) : fd_(open(path, flags | O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0)
      close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A path below /proc, built without the heap.
struct ProcPath {
  char text[96] = {};
  std::size_t size = 0;

  ProcPath& add(const char* part) {
    while (*part != 0 && size + 1 < sizeof text)
      text[size++] = *part++;
    return *this;
  }
  ProcPath& add(pid_t number) {
    int digits = 1;
    for (pid_t rest = number; rest > 9; rest /= 10)
      ++digits;
    if (size + static_cast<std::size_t>(digits) >= sizeof text)
      return *this;
    for (int at = digits; at-- > 0; number /= 10)
      text[size + static_cast<std::size_t>(at)] = static_cast<char>('0' + number % 10);
    size += static_cast<std::size_t>(digits);
    return *this;
  }
};

struct ProcessState {
  char state = 0;  // 0: gone
  pid_t parent = 0;
  pid_t session = 0;
};

ProcessState read_state(pid_t pid) {
  ProcessState result;
  const ProcPath path = ProcPath().add("/proc/").add(pid).add("/stat");
  File file(path.text, 0);
  char text[512];
  const ssize_t size = file.get() < 0 ? -1 : read(file.get(), text, sizeof text - 1);
  if (size <= 0)
    return result;
  text[size] = 0;
  const char* at = strrchr(text, ')');  // the name before it may hold anything
  if (at == nullptr || at[1] == 0)
    return result;
  result.state = at[2];
  pid_t fields[3] = {};
  at += 3;
  for (pid_t& field : fields) {
    while (*at == ' ')
      ++at;
    while (*at >= '0' && *at <= '9')
      field = field * 10 + (*at++ - '0');
  }
  result.parent = fields[0];
  result.session = fields[2];
  return result;
}

struct Entry64 {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

// Calls visit(number) for every entry of a directory that is a number. False: it cannot be read.
template <typename Visit>
bool each_number(const char* path, Visit visit) {
  File directory(path, O_DIRECTORY);
  if (directory.get() < 0)
    return false;
  alignas(8) char buffer[2048];
  for (;;) {
    const long size = syscall(SYS_getdents64, directory.get(), buffer, sizeof buffer);
    if (size <= 0)
      return size == 0;
    for (long at = 0; at < size;) {
      Entry64 entry;
      memcpy(&entry, buffer + at, offsetof(Entry64, name));
      const char* name = buffer + at + offsetof(Entry64, name);
      pid_t number = 0;
      while (*name >= '0' && *name <= '9')
        number = number * 10 + (*name++ - '0');
      if (*name == 0 && number > 0)
        visit(number);
      at += entry.size;
    }
  }
}

void keep(pid_t pid) {
  if (pid > 1 && g_count < kMaxTree)
    g_tree[g_count++] = pid;
}

// Appends the children of one thread. False: this kernel has no such file (or the thread is gone).
bool add_children_of_thread(pid_t pid, pid_t thread) {
  const ProcPath path =
      ProcPath().add("/proc/").add(pid).add("/task/").add(thread).add("/children");
  File file(path.text, 0);
  if (file.get() < 0)
    return false;
  char text[4096];
  pid_t number = 0;
  ssize_t size;
  while ((size = read(file.get(), text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < size; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        number = number * 10 + (text[i] - '0');
      } else if (number > 0) {
        keep(number);
        number = 0;
      }
    }
  }
  if (number > 0)
    keep(number);
  return true;
}

void add_children(pid_t pid) {
  const ProcPath path = ProcPath().add("/proc/").add(pid).add("/task");
  each_number(path.text, [pid](pid_t thread) { add_children_of_thread(pid, thread); });
}

bool have_children_files() {
  const int before = g_count;
  const bool have = add_children_of_thread(getpid(), getpid());
  g_count = before;
  return have;
}

// Keeps of g_tree[0, g_count), the children of this process, those that start a tree.
void keep_roots(Roots roots) {
  if (roots == Roots::all_children)
    return;
  const pid_t own = getsid(0);
  int kept = 0;
  for (int i = 0; i < g_count; ++i) {
    const ProcessState state = read_state(g_tree[i]);
    if (state.state != 0 && state.session != own)
      g_tree[kept++] = g_tree[i];
  }
  g_count = kept;
}

// One look at the whole of /proc, then the closure over parent links.
void collect_by_scan(Roots roots, int signal_number) {
  static pid_t all[kMaxTree];
  int count = 0;
  each_number("/proc", [&count](pid_t pid) {
    if (count < kMaxTree) {
      all[count] = pid;
      g_parent[count++] = read_state(pid).parent;
    }
  });
  const pid_t self = getpid();
  for (int i = 0; i < count; ++i)
    if (g_parent[i] == self)
      keep(all[i]);
  keep_roots(roots);
  for (int at = 0; at < g_count; ++at) {
    if (signal_number != 0)
      kill(g_tree[at], signal_number);
    for (int i = 0; i < count; ++i)
      if (g_parent[i] == g_tree[at])
        keep(all[i]);
  }
}

// Fills g_tree with every descendant, parents first; each gets the signal before its children are
// listed.
void collect(Roots roots, int signal_number) {
  g_count = 0;
  if (!have_children_files()) {
    collect_by_scan(roots, signal_number);
    return;
  }
  add_children(getpid());
  keep_roots(roots);
  for (int at = 0; at < g_count; ++at) {
    if (signal_number != 0)
      kill(g_tree[at], signal_number);
    add_children(g_tree[at]);
  }
}

enum class Reaped { nothing, some, all };

// Reaps what has ended. `all`: no child is left; orphans come to a subreaper at the instant their
// parent dies, so no child means no descendant.
Reaped reap(Roots roots) {
  bool some = false;
  if (roots == Roots::all_children) {
    pid_t pid;
    do {
      pid = waitpid(-1, nullptr, WNOHANG | __WALL);
      some = some || pid > 0;
    } while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid < 0 ? Reaped::all : some ? Reaped::some : Reaped::nothing;
  }
  collect(roots, 0);
  bool left = false;
  for (int i = 0; i < g_count; ++i) {
    const pid_t pid = waitpid(g_tree[i], nullptr, WNOHANG | __WALL);
    left = left || pid == 0;
    some = some || pid > 0;
  }
  return !left ? Reaped::all : some ? Reaped::some : Reaped::nothing;
}

// Gives the killed time to end: until none is left, or nothing ends any more, or another look is
// due (a tree that renews itself would keep us here). True: none is left.
bool wait_for_ends(Roots roots) {
  for (int pause = 0, quiet = 0; pause < kMaxPauses && quiet < kQuietPauses; ++pause) {
    const timespec length{0, 200000};
    nanosleep(&length, nullptr);
    const Reaped reaped = reap(roots);
    if (reaped == Reaped::all)
      return true;
    quiet = reaped == Reaped::some ? 0 : quiet + 1;
  }
  return false;
}

std::int64_t milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

int count_living() {
  int living = 0;
  for (int i = 0; i < g_count; ++i) {
    const char state = read_state(g_tree[i]).state;
    living += state != 0 && state != 'Z' && state != 'X' ? 1 : 0;
  }
  return living;
}

}  // namespace

char process_state(pid_t pid) {
  return read_state(pid).state;
}

TreeEnd end_descendants(Roots roots, int limit_ms) {
  TreeEnd result;
  if (reap(roots) == Reaped::all)
    return result;
  const std::int64_t deadline = milliseconds() + limit_ms;
  for (bool first = true;; first = false) {
    collect(roots, SIGSTOP);
    if (first)
      result.found = count_living();
    for (int i = 0; i < g_count; ++i)
      kill(g_tree[i], SIGKILL);
    if (wait_for_ends(roots))
      return result;
    if (milliseconds() > deadline) {
      collect(roots, 0);
      result.left = count_living();
      return result;
    }
  }
}

}  // namespace assay::process
