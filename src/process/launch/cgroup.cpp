#include "launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::process::launch {
namespace {

constexpr int kAttempts = 16;
constexpr int kEmptyWaitMs = 2000;

// Reads a small /proc file line by line into `line`; visit returns true to stop.
template <typename Visit>
bool each_line(const char* path, char* line, std::size_t capacity, Visit visit) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  char buffer[1024];
  std::size_t used = 0;
  bool found = false;
  ssize_t size;
  while (!found && (size = read(fd, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < size && !found; ++i) {
      if (buffer[i] != '\n') {
        if (used + 1 < capacity)
          line[used++] = buffer[i];
        continue;
      }
      line[used] = 0;
      used = 0;
      found = visit(line);
    }
  }
  close(fd);
  return found;
}

// The n-th word of a line, terminated in place; nullptr when there are fewer.
char* word(char* line, int n) {
  for (; n > 0; --n) {
    line = strchr(line, ' ');
    if (line == nullptr)
      return nullptr;
    ++line;
  }
  if (char* end = strchr(line, ' '))
    *end = 0;
  return line;
}

// Where the file system of v2 cgroups is mounted, and which cgroup its root shows.
bool find_mount(char* mount, char* root, std::size_t capacity) {
  char line[1024];
  return each_line("/proc/self/mountinfo", line, sizeof line, [&](char* text) {
    const char* type = strstr(text, " - ");
    if (type == nullptr || strncmp(type + 3, "cgroup2 ", 8) != 0)
      return false;
    const char* point = word(text, 4);  // cutting the later word leaves the earlier one whole
    const char* shown = word(text, 3);
    if (point == nullptr || shown == nullptr)
      return false;
    mount[0] = root[0] = 0;
    const bool whole = append_text(mount, capacity, point);
    return append_text(root, capacity, shown) && whole;
  });
}

// Our own cgroup as a path in the file system.
bool find_own(char* path, std::size_t capacity) {
  char mount[1024];
  char root[1024];
  char line[1024];
  if (!find_mount(mount, root, sizeof mount))
    return false;
  return each_line("/proc/self/cgroup", line, sizeof line, [&](char* text) {
    if (strncmp(text, "0::/", 4) != 0)
      return false;
    const char* own = text + 3;
    const std::size_t shown = strlen(root);
    if (strcmp(root, "/") != 0) {
      if (strncmp(own, root, shown) != 0)
        return false;
      own += shown;
    }
    path[0] = 0;
    return append_text(path, capacity, mount) &&
           append_text(path, capacity, strcmp(own, "/") == 0 ? "" : own);
  });
}

bool write_file(int directory, const char* name, const char* text) {
  const int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const bool done = write(fd, text, strlen(text)) > 0;
  close(fd);
  return done;
}

bool populated(int directory) {
  const int fd = openat(directory, "cgroup.events", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  char text[256];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0)
    return false;
  text[size] = 0;
  return strstr(text, "populated 1") != nullptr;
}

void kill_and_wait(int directory) {
  if (!write_file(directory, "cgroup.kill", "1"))
    return;  // another user's
  for (int waited = 0; waited < kEmptyWaitMs && populated(directory); ++waited)
    poll(nullptr, 0, 1);
}

struct Entry64 {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

template <typename Visit>
void each_directory(int directory, Visit visit) {
  alignas(8) char buffer[2048];
  lseek(directory, 0, SEEK_SET);
  long size;
  while ((size = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      Entry64 entry;
      memcpy(&entry, buffer + at, offsetof(Entry64, name));
      const char* name = buffer + at + offsetof(Entry64, name);
      if (entry.type == DT_DIR && name[0] != '.')
        visit(name);
      at += entry.size;
    }
  }
}

// Removes the cgroups that a payload may have made below ours (it needs root for that).
void remove_below(int directory, int depth) {
  if (depth > 8)
    return;
  each_directory(directory, [&](const char* name) {
    const int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (below < 0)
      return;
    remove_below(below, depth + 1);
    close(below);
    unlinkat(directory, name, AT_REMOVEDIR);
  });
}

// A leaf is stale when nobody holds its lock. The lock, not the process number in its name,
// decides: process numbers are reused, and another container's are not ours.
void tidy_stale(int parent) {
  each_directory(parent, [&](const char* name) {
    if (strncmp(name, "assay.", 6) != 0)
      return;
    const int leaf = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (leaf < 0)
      return;
    if (flock(leaf, LOCK_EX | LOCK_NB) == 0) {
      kill_and_wait(leaf);
      remove_below(leaf, 0);
      unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(leaf);
  });
}

void append_number(char* to, std::size_t capacity, unsigned value) {
  char digits[12];
  int at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  append_text(to, capacity, digits + at);
}

}  // namespace

bool RunCgroup::try_create(const char* parent, int attempt) {
  path_[0] = 0;
  append_text(path_, sizeof path_, parent);
  append_text(path_, sizeof path_, "/assay.");
  append_number(path_, sizeof path_, static_cast<unsigned>(getpid()));
  append_text(path_, sizeof path_, ".");
  append_number(path_, sizeof path_, static_cast<unsigned>(attempt));
  if (mkdir(path_, 0755) != 0)
    return false;
  directory_ = open(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  // Another starting campaign may have tidied the leaf away before it was locked: then the file is
  // missing. Kernels before 5.14 have no cgroup.kill: then the leaf is of no use.
  if (directory_ >= 0 && flock(directory_, LOCK_EX | LOCK_NB) == 0 &&
      faccessat(directory_, "cgroup.kill", W_OK, 0) == 0)
    return true;
  if (directory_ >= 0)
    close(directory_);
  directory_ = -1;
  rmdir(path_);
  return false;
}

void RunCgroup::create() {
  const char* off = getenv("ASSAY_NO_CGROUP");
  if (off != nullptr && strcmp(off, "1") == 0)
    return;
  char parent[1024];
  if (!find_own(parent, sizeof parent - 64))
    return;
  const int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  tidy_stale(directory);
  close(directory);
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if (try_create(parent, attempt) || (errno != EEXIST && errno != ENOENT && errno != ENODEV))
      break;
  if (directory_ < 0)
    path_[0] = 0;
}

void RunCgroup::kill_all() {
  if (directory_ >= 0)
    kill_and_wait(directory_);
}

void RunCgroup::remove() {
  if (directory_ < 0)
    return;
  remove_below(directory_, 0);
  rmdir(path_);
}

}  // namespace assay::process::launch
