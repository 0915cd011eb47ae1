// A small HTTP/1.1 service on 127.0.0.1: POST /digest answers with a digest of its body, computed
// in ASSAY_BENCH_STEPS rounds (64); GET /ready answers "ready". One thread, one poll loop,
// connections kept alive, pipelined requests answered in their order, one per connection and turn.
//
//   http_compute [PORT]
//
// Without a PORT, or with 0, the system chooses one. Prints "listening PORT", and ends on SIGTERM
// and at the end of its standard input, so that it does not outlive whoever started it.
// docs/design/http-compute-case.md says what is accepted.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultRounds = 64;
constexpr std::uint64_t kMostRounds = 1000000;
constexpr std::uint64_t kModulus = 1000000007;
constexpr std::size_t kMostHead = 4096;
constexpr std::size_t kMostBody = 65536;
constexpr std::size_t kMostConnections = 1024;
constexpr std::size_t kMostOutput = 65536;    // waiting to be written: then no more is read
constexpr std::size_t kMostDrained = 262144;  // read and dropped after a refusal, then closed

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// ---- requests
// ------------------------------------------------------------------------------------

enum class Kind { incomplete, digest, ready, refused };

struct Request {
  Kind kind = Kind::incomplete;
  int status = 0;  // of a refusal
  std::size_t head = 0, body = 0;
  bool last = false;  // the client wants no further answer
};

Request refusal(int status) {
  return {Kind::refused, status, 0, 0, true};
}

struct Headers {
  int hosts = 0, lengths = 0;
  std::size_t length = 0;
  bool close = false;
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           (c != 0 && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
  });
}
bool is_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}
bool is_target(std::string_view text) {
  return !text.empty() && text[0] == '/' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

// A length that is too long to count is as good as the first one that is too long to accept.
bool read_length(std::string_view text, std::size_t* length) {
  *length = 0;
  for (const char c : text) {
    if (c < '0' || c > '9')
      return false;
    *length = std::min(*length * 10 + static_cast<std::size_t>(c - '0'), kMostBody + 1);
  }
  return !text.empty();
}

bool read_header(std::string_view line, Headers* headers) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!is_value(value) || same_word(name, "transfer-encoding") || same_word(name, "expect"))
    return false;
  headers->hosts += same_word(name, "host");
  if (same_word(name, "connection"))
    headers->close = headers->close || same_word(value, "close");
  if (same_word(name, "content-length"))
    return ++headers->lengths == 1 && read_length(value, &headers->length);
  return true;
}

// What the target and the method come to, with a head that is well formed.
Request routed(std::string_view method, std::string_view target, const Headers& headers) {
  const bool digest = target == "/digest";
  if (!digest && target != "/ready")
    return refusal(404);
  if (method != (digest ? "POST" : "GET"))
    return refusal(405);
  if (digest && headers.lengths == 0)
    return refusal(411);
  if (headers.length > kMostBody)
    return refusal(413);
  if (!digest && headers.length > 0)
    return refusal(400);
  return {digest ? Kind::digest : Kind::ready, 0, 0, headers.length, headers.close};
}

Request parse(std::string_view input) {
  const std::size_t end = input.substr(0, kMostHead).find("\r\n\r\n");
  if (end == std::string_view::npos)
    return input.size() >= kMostHead ? refusal(431) : Request{};
  std::string_view lines = input.substr(0, end + 2);
  const std::string_view first = lines.substr(0, lines.find("\r\n"));
  lines.remove_prefix(first.size() + 2);
  const std::size_t one = first.find(' ');
  const std::size_t two = one == std::string_view::npos ? one : first.find(' ', one + 1);
  if (two == std::string_view::npos || !is_token(first.substr(0, one)) ||
      !is_target(first.substr(one + 1, two - one - 1)) || first.substr(two + 1) != "HTTP/1.1")
    return refusal(400);
  Headers headers;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size() + 2);
    if (!read_header(line, &headers))
      return refusal(400);
  }
  if (headers.hosts != 1)
    return refusal(400);
  Request request = routed(first.substr(0, one), first.substr(one + 1, two - one - 1), headers);
  request.head = end + 4;
  if (request.kind != Kind::refused && input.size() < request.head + request.body)
    return Request{};
  return request;
}

// ---- answers
// -------------------------------------------------------------------------------------

std::uint64_t digest(std::string_view body, std::uint64_t rounds) {
  std::uint64_t h = 0;
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (const char c : body)
      h = (33 * h + static_cast<unsigned char>(c) + 1) % kModulus;
  return h;
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

void answer(int status, std::string_view body, bool last, std::string* output) {
  *output += "HTTP/1.1 " + std::to_string(status) + ' ' + reason(status) +
             "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n";
  if (last)
    *output += "Connection: close\r\n";
  *output += "\r\n";
  *output += body;
}

class Connection {
 public:
  Connection(int fd, std::uint64_t rounds) : fd_(fd), rounds_(rounds) {}

  int fd() const { return fd_.get(); }
  bool closed() const { return closed_; }
  bool more() const { return more_; }
  short events() const {
    const bool reads = !ended_ && !more_ && output_.size() < kMostOutput;
    return static_cast<short>((reads ? POLLIN : 0) | (output_.empty() ? 0 : POLLOUT));
  }

  void turn(short events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !ended_)
      read();
    if (!closed_ && !finished_ && output_.size() < kMostOutput)
      serve();
    if (!closed_ && !output_.empty())
      write();
    if (!closed_ && finished_ && output_.empty())
      finish();
  }

 private:
  void read() {
    std::array<char, 16384> buffer;
    const ssize_t got = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (got > 0 && finished_)
      drained_ += static_cast<std::size_t>(got);
    else if (got > 0)
      input_.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0)
      ended_ = true;
    else if (errno != EAGAIN && errno != EINTR)
      closed_ = true;
  }

  // At most one request, so that a client with many does not keep the others waiting.
  void serve() {
    const Request request = parse(input_);
    more_ = false;
    if (request.kind == Kind::incomplete) {
      finished_ = ended_;
      if (ended_ && !input_.empty())
        answer(400, reason(400), true, &output_);
      return;
    }
    const std::string_view body = std::string_view(input_).substr(
        request.kind == Kind::refused ? 0 : request.head, request.body);
    if (request.kind == Kind::digest)
      answer(200, std::to_string(digest(body, rounds_)), request.last, &output_);
    else if (request.kind == Kind::ready)
      answer(200, "ready", request.last, &output_);
    else
      answer(request.status, reason(request.status), true, &output_);
    input_.erase(0, request.head + request.body);
    finished_ = request.last;
    more_ = !finished_ && (!input_.empty() || ended_);
  }

  void write() {
    const ssize_t sent = ::send(fd(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (sent > 0)
      output_.erase(0, static_cast<std::size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      closed_ = true;
  }

  // Closing with bytes unread would reset the connection, and the client might miss the answer.
  void finish() {
    if (!shut_)
      ::shutdown(fd(), SHUT_WR);
    shut_ = true;
    closed_ = ended_ || drained_ > kMostDrained;
  }

  Descriptor fd_;
  std::uint64_t rounds_;
  std::string input_, output_;
  std::size_t drained_ = 0;
  bool more_ = false;      // there may be a whole request in the input
  bool ended_ = false;     // the client sends no more
  bool finished_ = false;  // the last answer is in the output
  bool shut_ = false, closed_ = false;
};

// ---- the service
// ---------------------------------------------------------------------------------

int wake_end = -1;

void on_term(int) {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(wake_end, &byte, 1);
}

int listen_on(std::uint16_t* port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*port);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    give_up(std::string("socket: ") + std::strerror(errno));
  const bool bound = ::bind(fd, plain, size) == 0 && ::listen(fd, 128) == 0;
  if (!bound && errno == EADDRINUSE)
    give_up("127.0.0.1:" + std::to_string(*port) +
            ": address in use; stop what listens there, or give port 0 for a free one");
  if (!bound || ::getsockname(fd, plain, &size) != 0)
    give_up("127.0.0.1:" + std::to_string(*port) + ": " + std::strerror(errno));
  *port = ntohs(address.sin_port);
  return fd;
}

void accept_all(int listener, std::uint64_t rounds,
                std::vector<std::unique_ptr<Connection>>* connections) {
  while (connections->size() < kMostConnections) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections->push_back(std::make_unique<Connection>(fd, rounds));
  }
}

// Whether standard input still has a writer.
bool parent_is_there() {
  char buffer[256];
  return ::read(0, buffer, sizeof buffer) != 0;
}

void serve(int listener, int wake, std::uint64_t rounds) {
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<pollfd> polled;
  for (;;) {
    const bool full = connections.size() >= kMostConnections;
    polled = {{wake, POLLIN, 0}, {0, POLLIN, 0}, {full ? -1 : listener, POLLIN, 0}};
    bool more = false;
    for (const auto& one : connections) {
      polled.push_back({one->fd(), one->events(), 0});
      more = more || one->more();
    }
    if (::poll(polled.data(), polled.size(), more ? 0 : -1) < 0) {
      if (errno != EINTR)
        give_up(std::string("poll: ") + std::strerror(errno));
      continue;
    }
    if (polled[0].revents != 0 || (polled[1].revents != 0 && !parent_is_there()))
      return;
    for (std::size_t i = 0; i < connections.size(); ++i)
      if (polled[i + 3].revents != 0 || connections[i]->more())
        connections[i]->turn(polled[i + 3].revents);
    connections.erase(std::remove_if(connections.begin(), connections.end(),
                                     [](const auto& one) { return one->closed(); }),
                      connections.end());
    if (polled[2].revents != 0)
      accept_all(listener, rounds, &connections);
  }
}

std::uint16_t read_port(int argc, char** argv) {
  const std::string_view text = argc == 1 ? "0" : argv[1];
  const bool digits = !text.empty() && text.size() <= 5 &&
                      text.find_first_not_of("0123456789") == std::string_view::npos;
  if (argc > 2 || !digits || std::stoul(std::string(text)) > 65535) {
    std::fprintf(stderr, "usage: %s [PORT], 0 to 65535\n", argv[0]);
    std::exit(2);
  }
  return static_cast<std::uint16_t>(std::stoul(std::string(text)));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = read_port(argc, argv);
  const std::uint64_t rounds = bench::steps(kDefaultRounds, kMostRounds);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    give_up(std::string("socketpair: ") + std::strerror(errno));
  const Descriptor wake(pair[0]), waker(pair[1]);
  wake_end = waker.get();
  std::signal(SIGTERM, on_term);
  const Descriptor listener(listen_on(&port));
  std::printf("listening %u\n", port);
  std::fflush(stdout);
  serve(listener.get(), wake.get(), rounds);
}
