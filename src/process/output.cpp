#include "assay/process/output.h"

#include "assay/process/launcher.h"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <set>
#include <unistd.h>

namespace assay::process {
namespace {

// Long enough for a reader that is merely slow; short enough for whoever asked us to stop.
constexpr int kPatienceMs = 1000;

// Whether a write may be tried: there is room, or the write would say what is wrong.
bool await_room(int fd, bool given_up) {
  for (;;) {
    const bool stopping = stop_signal() != 0;
    // The stop descriptor stays readable, hence it is left out once it has spoken.
    pollfd waiting[] = {{fd, POLLOUT, 0}, {stopping ? -1 : stop_signal_fd(), POLLIN, 0}};
    const int ready = ::poll(waiting, 2, !stopping ? -1 : given_up ? 0 : kPatienceMs);
    if (ready < 0 && (errno != EINTR || stopping))
      return errno != EINTR;
    if (ready > 0 && waiting[0].revents != 0)
      return true;
    if (ready == 0)
      return false;
  }
}

}  // namespace

Result<void> write_unless_stopped(int fd, std::string_view bytes, const std::string& name) {
  static std::set<int> given_up;
  while (!bytes.empty()) {
    if (!await_room(fd, given_up.count(fd) != 0)) {
      given_up.insert(fd);
      return fail(ErrorCode::interrupted,
                  "nobody reads it, and SIG" + std::string(sigabbrev_np(stop_signal())) +
                      " asked to stop: the rest is not written",
                  name);
    }
    // A pipe with room takes this much without waiting.
    const auto put = ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (put < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (put < 0)
      return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot write", errno, name));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace assay::process
