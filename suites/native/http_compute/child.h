// The server as a child of the load generator: started, found ready, stopped, reaped.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace load {

using Ns = std::int64_t;
inline constexpr Ns kSecond = 1000000000;
inline constexpr Ns kStartLimit = 10 * kSecond;  // for a server to be ready, and to end

inline Ns now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

[[noreturn]] inline void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset(other.fd_);
      other.fd_ = -1;
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void reset(int fd = -1) {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// A socket that is connected to the port, or on its way: errno is EINPROGRESS then. Closed: failed.
inline Descriptor open_connection(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  errno = 0;
  if (socket.get() < 0 || ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    return Descriptor();
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS)
    return Descriptor();
  return socket;
}

class Server {
 public:
  // Ends the program with exit code 2 when there is no "listening PORT" in time.
  Server(const std::string& program, std::uint16_t port) : program_(program) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      give_up(std::string("pipe: ") + std::strerror(errno));
    input_.reset(in[1]);
    const Descriptor read_end(in[0]), output(out[0]);
    Descriptor write_end(out[1]);
    const std::string number = std::to_string(port);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execl(program.c_str(), program.c_str(), number.c_str(), nullptr);
      std::fprintf(stderr, "%s: %s\n", program.c_str(), std::strerror(errno));
      ::_exit(2);
    }
    if (pid_ < 0)
      give_up(std::string("fork: ") + std::strerror(errno));
    write_end.reset();
    read_port(output.get());
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return port_; }

  // Whether it ended as it should when it was asked to.
  bool stop() {
    if (pid_ <= 0)
      return false;
    ::kill(pid_, SIGTERM);
    int status = 0;
    const Ns end = now() + kStartLimit;
    pid_t done = 0;
    while ((done = ::waitpid(pid_, &status, WNOHANG)) == 0 && now() < end) {
      const timespec pause{0, 1000000};
      ::nanosleep(&pause, nullptr);
    }
    if (done == 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
    pid_ = 0;
    input_.reset();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  void read_port(int output) {
    std::string line;
    const Ns end = now() + kStartLimit;
    while (line.find('\n') == std::string::npos) {
      pollfd polled{output, POLLIN, 0};
      char buffer[64];
      const Ns left = (end - now()) / 1000000;
      const bool said = left > 0 && ::poll(&polled, 1, static_cast<int>(left)) > 0;
      const ssize_t got = said ? ::read(output, buffer, sizeof buffer) : 0;
      if (got <= 0 || line.size() > 64)
        failed();
      line.append(buffer, static_cast<std::size_t>(got));
    }
    unsigned port = 0;
    char after = 0;
    if (std::sscanf(line.c_str(), "listening %u%c", &port, &after) != 2 || after != '\n' ||
        port < 1 || port > 65535)
      failed();
    port_ = static_cast<std::uint16_t>(port);
  }
  [[noreturn]] void failed() {
    stop();
    give_up(program_ + ": the server did not start: no \"listening PORT\" on its standard output");
  }

  std::string program_;
  Descriptor input_;
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

// Asks GET /ready until it is answered, or ends the program with exit code 2.
inline void wait_until_ready(std::uint16_t port) {
  const std::string request = "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  for (const Ns end = now() + kStartLimit; now() < end;) {
    const Descriptor socket = open_connection(port);
    pollfd polled{socket.get(), POLLOUT, 0};
    std::string answer;
    if (socket.get() >= 0 && ::poll(&polled, 1, 1000) > 0 &&
        ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) > 0) {
      polled.events = POLLIN;
      char buffer[512];
      ssize_t got = 0;
      while (::poll(&polled, 1, 1000) > 0 &&
             (got = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0 && answer.size() < 4096)
        answer.append(buffer, static_cast<std::size_t>(got));
    }
    if (answer.rfind("HTTP/1.1 200 ", 0) == 0)
      return;
    const timespec pause{0, 20000000};
    ::nanosleep(&pause, nullptr);
  }
  give_up("127.0.0.1:" + std::to_string(port) + ": GET /ready was not answered");
}

}  // namespace load
