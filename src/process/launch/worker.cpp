#include "launch.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::process::launch {
namespace {

constexpr int kMaxFds = 3;

struct Message {
  Header header;
  int fds[kMaxFds];
  int fd_count;
};

Header make_header(MessageType type, std::uint64_t length) {
  Header header{};
  memcpy(header.magic, kWireMagic, sizeof header.magic);
  header.version = kWireVersion;
  memcpy(header.build, kBuildId, sizeof header.build);
  header.type = type;
  header.length = length;
  return header;
}

bool is_ours(const Header& header) {
  return memcmp(header.magic, kWireMagic, sizeof header.magic) == 0 &&
         header.version == kWireVersion &&
         memcmp(header.build, kBuildId, sizeof header.build) == 0 && header.length <= kMaxMessage;
}

[[noreturn]] void end_worker(int status) {
  end_descendants(Roots::all_children, kKillLimitMs);
  _exit(status);
}

void take_fds(msghdr* from, Message* message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(from); part != nullptr; part = CMSG_NXTHDR(from, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count && message->fd_count < kMaxFds; ++i)
      memcpy(&message->fds[message->fd_count++], CMSG_DATA(part) + i * sizeof(int), sizeof(int));
  }
}

bool receive(Message* message) {
  message->fd_count = 0;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
  iovec part{&message->header, sizeof message->header};
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control;
  envelope.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(kSocket, &envelope, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0)
    return false;
  take_fds(&envelope, message);
  const std::size_t have = static_cast<std::size_t>(got);
  return have == sizeof message->header ||
         read_exactly(kSocket, reinterpret_cast<char*>(&message->header) + have,
                      sizeof message->header - have);
}

// Holds the strings of one request. Grows, never shrinks; as large as the environment, which the
// measured program carries as well, so it does not raise that program's peak memory.
class Arena {
 public:
  char* reserve(std::size_t size) {
    if (size > size_) {
      if (at_ != nullptr)
        munmap(at_, size_);
      void* fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      at_ = fresh == MAP_FAILED ? nullptr : static_cast<char*>(fresh);
      size_ = at_ == nullptr ? 0 : size;
    }
    return at_;
  }

 private:
  char* at_ = nullptr;
  std::size_t size_ = 0;
};

// Points `vector` at `count` consecutive strings; returns where they end, nullptr when they do not.
char* point_at(char** vector, std::uint32_t count, char* at, const char* end) {
  for (std::uint32_t i = 0; i < count; ++i) {
    vector[i] = at;
    char* stop = static_cast<char*>(memchr(at, 0, static_cast<std::size_t>(end - at)));
    if (stop == nullptr)
      return nullptr;
    at = stop + 1;
  }
  vector[count] = nullptr;
  return at;
}

// Reads the rest of a run message. False: it breaks the protocol.
bool read_request(const Message& message, Arena* arena, RunMessage* request, Launch* launch) {
  if (message.header.length < sizeof *request || !read_exactly(kSocket, request, sizeof *request) ||
      message.header.length != sizeof *request + request->strings || request->argc == 0)
    return false;
  if (request->argc > request->strings || request->envc > request->strings)
    return false;
  const std::size_t pointers = (std::size_t{request->argc} + request->envc + 2) * sizeof(char*);
  char* at = arena->reserve(pointers + request->strings);
  if (at == nullptr)
    return false;
  launch->argv = reinterpret_cast<char**>(at);
  launch->environment = launch->argv + request->argc + 1;
  launch->path = at + pointers;
  if (!read_exactly(kSocket, launch->path, request->strings))
    return false;
  const char* end = launch->path + request->strings;
  char* path_end = static_cast<char*>(memchr(launch->path, 0, request->strings));
  char* rest =
      path_end == nullptr ? nullptr : point_at(launch->argv, request->argc, path_end + 1, end);
  rest = rest == nullptr ? nullptr : point_at(launch->environment, request->envc, rest, end);
  int next = 0;
  for (int i = 0; i < 3; ++i)
    launch->given_fd[i] =
        request->has_fd[i] != 0 && next < message.fd_count ? message.fds[next++] : -1;
  launch->request = request;
  return rest == end && next == message.fd_count;
}

bool serve_run(const Worker& worker, const Message& message, Arena* arena) {
  RunMessage request;
  Launch launch{};
  if (!read_request(message, arena, &request, &launch))
    return false;
  struct {
    Header header;
    ResultMessage result;
  } answer;
  answer.header = make_header(MessageType::result, sizeof answer.result);
  answer.result = run_program(worker, launch);
  for (int i = 0; i < message.fd_count; ++i)
    close(message.fds[i]);
  if (answer.result.cause == Cause::lost)
    return false;
  static_assert(sizeof answer == sizeof(Header) + sizeof(ResultMessage));
  return write_exactly(kSocket, &answer, sizeof answer);
}

// Reads assay's greeting; on any mismatch answers with our own names and leaves.
void greet(Worker* worker, int guard_pid, const char* cgroup_path) {
  Message message;
  if (!receive(&message))
    end_worker(0);
  if (!is_ours(message.header)) {
    const Header refusal = make_header(MessageType::refused, 0);
    write_exactly(kSocket, &refusal, sizeof refusal);
    end_worker(kExitRefused);
  }
  HelloMessage hello;
  if (message.header.type != MessageType::hello || message.header.length != sizeof hello ||
      message.fd_count != 2 || !read_exactly(kSocket, &hello, sizeof hello))
    end_worker(kExitBroken);
  worker->memory[0] = message.fds[0];
  worker->memory[1] = message.fds[1];
  worker->pinned = hello.pin != 0;
  if (worker->pinned)
    syscall(SYS_sched_setaffinity, 0, sizeof hello.own_cpus, hello.own_cpus);
  const std::size_t path_size = strlen(cgroup_path);
  const HelloOkMessage answer{worker->pid, guard_pid};
  const Header header = make_header(MessageType::hello_ok, sizeof answer + path_size);
  if (!write_exactly(kSocket, &header, sizeof header) ||
      !write_exactly(kSocket, &answer, sizeof answer) ||
      !write_exactly(kSocket, cgroup_path, path_size))
    end_worker(0);
}

bool enter_cgroup() {
  const int fd = openat(kCgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  const bool entered = fd >= 0 && write(fd, "0", 1) == 1;
  if (fd >= 0)
    close(fd);
  return entered;
}

}  // namespace

int worker_main(int guard_pid, const char* cgroup_path) {
  const bool have_cgroup = cgroup_path[0] != 0;
  become_role("assay-launch", have_cgroup ? kCgroup : kAbove);
  Worker worker;
  worker.pid = getpid();
  syscall(SYS_sched_getaffinity, 0, sizeof worker.inherited_cpus, &worker.inherited_cpus);
  greet(&worker, guard_pid, have_cgroup && enter_cgroup() ? cgroup_path : "");
  Arena arena;
  for (;;) {
    pollfd items[2] = {{kSocket, POLLIN, 0}, {kAbove, POLLIN, 0}};
    if (poll(items, 2, -1) < 0)
      continue;
    Message message;
    if (items[1].revents != 0 || !receive(&message))
      end_worker(0);
    if (!is_ours(message.header))
      end_worker(kExitBroken);
    // A kill request that crossed with the result of its run.
    if (message.header.type == MessageType::kill && message.header.length == 0)
      continue;
    if (message.header.type != MessageType::run || !serve_run(worker, message, &arena))
      end_worker(kExitBroken);
  }
}

}  // namespace assay::process::launch
