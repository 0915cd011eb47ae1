#include "start_helper.h"

#include "assay/base/text.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace assay::process {
namespace {

constexpr int kSocket = 3;  // as the helper's roles expect them
constexpr int kAbove = 4;
constexpr int kOutOfTheWay = 10;

// The same open file at a number that cannot collide with the child's 0..4.
Result<Fd> moved_up(Fd fd) {
  Fd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, kOutOfTheWay));
  // EINVAL: the number itself is beyond the limit.
  if (!moved.valid())
    return tl::unexpected(system_error(ErrorCode::launcher, "cannot start assay-launch",
                                       errno == EINVAL ? EMFILE : errno));
  return moved;
}

Result<Fd> own_pidfd() {
  Fd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.valid() && errno == ENOSYS)
    return fail(ErrorCode::unsupported, "there is no pidfd_open: assay needs Linux 5.4 or newer");
  if (!self.valid())
    return tl::unexpected(system_error(ErrorCode::launcher, "pidfd_open", errno));
  return moved_up(std::move(self));
}

// 0, or the errno of posix_spawn.
int spawn_guard(const std::string& path, int socket, int self, pid_t* guard) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, 0, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocket);
  posix_spawn_file_actions_adddup2(&actions, self, kAbove);
  std::string name = "assay-guard";
  std::string role = "guard";
  std::string own_path = path;
  char* argv[] = {name.data(), role.data(), own_path.data(), nullptr};
  // From its first instruction on, signals of the terminal are not for the helper.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  const int error = posix_spawn(guard, path.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<std::string> helper_path(const std::string& named) {
  std::string path = named;
  if (path.empty()) {
    char self[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self);
    if (size <= 0)
      return tl::unexpected(system_error(ErrorCode::launcher, "cannot read /proc/self/exe", errno));
    path.assign(self, static_cast<std::size_t>(size));
    path = path.substr(0, path.rfind('/') + 1) + "assay-launch";
  }
  if (access(path.c_str(), X_OK) != 0)
    return tl::unexpected(system_error(
        ErrorCode::launcher, "the helper assay-launch is missing; build or install it beside assay",
        errno, printable(path)));
  return path;
}

Result<StartedHelper> start_helper(const std::string& path) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return tl::unexpected(system_error(ErrorCode::launcher, "socketpair", errno));
  StartedHelper helper;
  helper.socket = Fd(ends[0]);
  ASSAY_TRY(const Fd theirs, moved_up(Fd(ends[1])));
  ASSAY_TRY(const Fd self, own_pidfd());
  const int error = spawn_guard(path, theirs.get(), self.get(), &helper.guard);
  if (error != 0)
    return tl::unexpected(
        system_error(ErrorCode::launcher, "cannot start assay-launch", error, printable(path)));
  return helper;
}

}  // namespace assay::process
