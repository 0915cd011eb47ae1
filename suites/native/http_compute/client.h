// The requests of one run over many connections in one thread. When a request is due never depends
// on an answer: it goes out at once, or, when every connection is busy, as soon as one is free, and
// its latency counts from when it was due.
#pragma once

#include "child.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <vector>

namespace load {

struct Exchange {
  std::string request, answer;
};

enum class End { open, right, wrong, error, timeout };

struct Sample {
  Ns due = 0;      // when it was to be sent
  Ns noticed = 0;  // when the generator came to it: its own lateness
  Ns sent = 0;     // when it went to a connection; 0: never
  Ns done = 0;
  End end = End::open;
  std::uint64_t digest = 0;  // what was answered
};

struct Plan {
  std::vector<Ns> due;    // from the start of the run on, ascending
  bool closed = false;    // the times do not count: a request is due when a connection is free
  std::size_t block = 1;  // request i is exchange (i mod block) mod table
};

struct Limits {
  std::size_t connections = 64;
  Ns timeout = 5 * kSecond;   // from sending on
  Ns closed = 120 * kSecond;  // of a whole run in closed mode
};

inline constexpr std::size_t kOpenedAtOnce = 64;

class Client {
 public:
  Client(std::uint16_t port, const Limits& limits, const std::vector<Exchange>& table)
      : port_(port), limits_(limits), table_(table), connections_(limits.connections) {}

  std::vector<Sample> run(const Plan& plan) {
    plan_ = &plan;
    samples_.assign(plan.due.size(), Sample{});
    next_ = ended_ = 0;
    queue_.clear();
    open_all();
    start_ = now() + (plan.closed ? 0 : kSecond / 500);
    const Ns last = plan.closed || plan.due.empty() ? 0 : plan.due.back();
    const Ns limit = start_ + (plan.closed ? limits_.closed : last + limits_.timeout + kSecond);
    while (ended_ < samples_.size() && now() < limit) {
      take_due();
      send_queued();
      wait(limit);
    }
    for (Sample& sample : samples_)
      if (sample.end == End::open)
        finish(&sample, End::timeout);
    for (Connection& one : connections_)
      one = Connection{};
    return std::move(samples_);
  }

 private:
  enum class State { closed, idle, connecting, busy };
  struct Connection {
    Descriptor socket;
    State state = State::closed;
    std::size_t request = 0, written = 0;
    Ns deadline = 0;
    std::string input;
  };

  // So that a run does not begin with its handshakes. What cannot be opened is tried again when it
  // is needed, and counts as an error then.
  void open_all() {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      Connection& one = connections_[i];
      // An answer shows that the server has accepted those before: its backlog must not overflow,
      // as the kernel would be a second late with the next one.
      if (i % kOpenedAtOnce == 0 && i > 0)
        wait_until_ready(port_);
      one.socket = open_connection(port_);
      pollfd polled{one.socket.get(), POLLOUT, 0};
      int error = 0;
      socklen_t size = sizeof error;
      const bool good = one.socket.get() >= 0 && ::poll(&polled, 1, 1000) > 0 &&
                        ::getsockopt(one.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
                        error == 0;
      if (good)
        one.state = State::idle;
      else
        one = Connection{};
    }
  }

  Connection* free_connection() {
    Connection* closed = nullptr;
    for (Connection& one : connections_) {
      if (one.state == State::idle)
        return &one;
      if (one.state == State::closed && closed == nullptr)
        closed = &one;
    }
    return closed;
  }

  void take_due() {
    const Ns at = now();
    if (plan_->closed) {
      std::size_t free = 0;
      for (const Connection& one : connections_)
        free += one.state == State::idle || one.state == State::closed;
      for (; next_ < samples_.size() && queue_.size() < free; ++next_) {
        samples_[next_].due = samples_[next_].noticed = at;
        queue_.push_back(next_);
      }
    }
    for (; !plan_->closed && next_ < samples_.size() && start_ + plan_->due[next_] <= at; ++next_) {
      samples_[next_].due = start_ + plan_->due[next_];
      samples_[next_].noticed = at;
      queue_.push_back(next_);
    }
  }

  void send_queued() {
    while (!queue_.empty()) {
      Connection* const one = free_connection();
      if (one == nullptr)
        return;
      one->request = queue_.front();
      queue_.pop_front();
      one->written = 0;
      one->input.clear();
      one->deadline = now() + limits_.timeout;
      if (one->state == State::idle) {
        one->state = State::busy;
        write(one);
        continue;
      }
      one->socket = open_connection(port_);
      one->state = State::connecting;
      if (one->socket.get() < 0)
        fail(one, End::error);
    }
  }

  void wait(Ns limit) {
    polled_.clear();
    Ns until = limit;
    if (!plan_->closed && next_ < samples_.size())
      until = std::min(until, start_ + plan_->due[next_]);
    for (const Connection& one : connections_) {
      short events = one.state == State::closed ? 0 : POLLIN;
      if (one.state == State::connecting ||
          (one.state == State::busy && one.written < text(one).size()))
        events = static_cast<short>(events | POLLOUT);
      polled_.push_back({one.state == State::closed ? -1 : one.socket.get(), events, 0});
      if (one.state == State::busy || one.state == State::connecting)
        until = std::min(until, one.deadline);
    }
    const Ns left = ended_ == samples_.size() ? 0 : std::max<Ns>(0, until - now());
    const timespec pause{left / kSecond, left % kSecond};
    ::ppoll(polled_.data(), polled_.size(), &pause, nullptr);
    const Ns at = now();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      Connection* const one = &connections_[i];
      if (polled_[i].revents != 0)
        react(one, polled_[i].revents);
      if ((one->state == State::busy || one->state == State::connecting) && one->deadline <= at)
        fail(one, End::timeout);
    }
  }

  void react(Connection* one, short events) {
    if (one->state == State::connecting) {
      int error = 0;
      socklen_t size = sizeof error;
      if (::getsockopt(one->socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
        return fail(one, End::error);
      one->state = State::busy;
    }
    if (one->state == State::busy && (events & POLLOUT) != 0)
      write(one);
    if (one->state != State::closed && (events & (POLLIN | POLLHUP | POLLERR)) != 0)
      read(one);
  }

  const std::string& text(const Connection& one) const { return exchange(one).request; }
  const Exchange& exchange(const Connection& one) const {
    return table_[one.request % plan_->block % table_.size()];
  }

  void write(Connection* one) {
    const std::string_view rest = std::string_view(text(*one)).substr(one->written);
    if (rest.empty())
      return;
    Sample& sample = samples_[one->request];
    if (sample.sent == 0)
      sample.sent = now();
    const ssize_t sent = ::send(one->socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      one->written += static_cast<std::size_t>(sent);
    else if (errno != EAGAIN && errno != EINTR)
      fail(one, End::error);
  }

  void read(Connection* one) {
    char buffer[4096];
    const ssize_t got = ::recv(one->socket.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (one->state == State::idle) {  // nothing was asked: it was closed, or is out of step
      *one = Connection{};
      return;
    }
    if (got <= 0)
      return fail(one, End::error);
    one->input.append(buffer, static_cast<std::size_t>(got));
    answered(one);
  }

  // An answer is whole when its head and as many bytes as it announces are there.
  void answered(Connection* one) {
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::string_view input = one->input;
    const std::size_t head = input.find("\r\n\r\n");
    if (head == std::string_view::npos)
      return input.size() > 4096 ? fail(one, End::error) : void();
    const std::string_view fields = input.substr(0, head + 2);
    const std::size_t field = fields.find(kLength);
    if (input.substr(0, 9) != "HTTP/1.1 " || field == std::string_view::npos)
      return fail(one, End::error);
    const std::size_t length =
        std::strtoull(one->input.c_str() + field + kLength.size(), nullptr, 10);
    const std::size_t whole = head + 4 + std::min<std::size_t>(length, 1 << 20);
    if (input.size() < whole)
      return;
    if (input.size() > whole || one->written < text(*one).size())
      return fail(one, End::error);
    const std::string_view body = input.substr(head + 4);
    const bool right = input.substr(9, 4) == "200 " && body == exchange(*one).answer;
    Sample& sample = samples_[one->request];
    sample.digest = std::strtoull(std::string(body).c_str(), nullptr, 10);
    finish(&sample, right ? End::right : End::wrong);
    if (fields.find("\r\nConnection: close\r\n") != std::string_view::npos)
      *one = Connection{};
    else
      one->state = State::idle;
  }

  void fail(Connection* one, End end) {
    finish(&samples_[one->request], end);
    *one = Connection{};
  }

  void finish(Sample* sample, End end) {
    sample->end = end;
    sample->done = now();
    ++ended_;
  }

  std::uint16_t port_;
  Limits limits_;
  const std::vector<Exchange>& table_;
  std::vector<Connection> connections_;
  std::vector<pollfd> polled_;
  const Plan* plan_ = nullptr;
  std::vector<Sample> samples_;
  std::deque<std::size_t> queue_;
  std::size_t next_ = 0, ended_ = 0;
  Ns start_ = 0;
};

}  // namespace load
