// assay's end of the socket to assay-launch.
#pragma once

#include "protocol.h"

#include "assay/base/files.h"
#include "assay/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::process {

template <typename T>
std::string_view as_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct ReceivedMessage {
  Header header{};
  std::string payload;
};

// Every error is `launcher`: the peer is gone, silent, or of another build.
class Channel {
 public:
  Channel() = default;
  Channel(Fd socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}

  Result<void> send(MessageType type, std::string_view payload, const std::vector<int>& fds = {});
  // Waits for at most `limit_ms`, < 0 for ever. Names both sides when magic, version or build
  // differ.
  Result<ReceivedMessage> receive(int limit_ms);
  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  Result<void> read_bytes(char* to, std::size_t size, int limit_ms);
  Fd socket_;
  std::string peer_;  // the helper's path, for errors
};

}  // namespace assay::process
