#include "channel.h"

#include "assay/base/text.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace assay::process {
namespace {

constexpr std::size_t kMaxFds = 3;

Header make_header(MessageType type, std::uint64_t length) {
  Header header{};
  std::memcpy(header.magic, kWireMagic, sizeof header.magic);
  header.version = kWireVersion;
  std::memcpy(header.build, kBuildId, sizeof header.build);
  header.type = type;
  header.length = length;
  return header;
}

std::string side(std::uint32_t version, std::string_view build) {
  return "protocol " + std::to_string(version) + " of build " + printable(build);
}

Result<void> check_header(const Header& header, const std::string& peer) {
  if (std::memcmp(header.magic, kWireMagic, sizeof header.magic) != 0)
    return fail(ErrorCode::launcher,
                "this program does not speak assay-launch's protocol; put the assay-launch of the "
                "same build beside assay",
                peer);
  const std::string_view build(header.build, sizeof header.build);
  if (header.version != kWireVersion || build != kBuildId)
    return fail(ErrorCode::launcher,
                "assay-launch speaks " + side(header.version, build) + ", this assay speaks " +
                    side(kWireVersion, kBuildId) + "; build or install both together",
                peer);
  if (header.length > kMaxMessage)
    return fail(ErrorCode::launcher, "a message of impossible length", peer);
  return {};
}

}  // namespace

Result<void> Channel::send(MessageType type, std::string_view payload,
                           const std::vector<int>& fds) {
  ASSAY_CHECK(fds.size() <= kMaxFds && payload.size() <= kMaxMessage, "message size");
  const Header header = make_header(type, payload.size());
  std::string bytes(as_bytes(header));
  bytes += payload;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{bytes.data() + sent, bytes.size() - sent};
    msghdr envelope{};
    envelope.msg_iov = &part;
    envelope.msg_iovlen = 1;
    if (sent == 0 && !fds.empty()) {
      envelope.msg_control = control;
      envelope.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* rights = CMSG_FIRSTHDR(&envelope);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
    }
    const ssize_t put = sendmsg(socket_.get(), &envelope, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return tl::unexpected(
          system_error(ErrorCode::launcher, "cannot reach assay-launch", errno, peer_));
    sent += static_cast<std::size_t>(put);
  }
  return {};
}

Result<void> Channel::read_bytes(char* to, std::size_t size, int limit_ms) {
  while (size > 0) {
    pollfd item{socket_.get(), POLLIN, 0};
    const int ready = poll(&item, 1, limit_ms);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return fail(ErrorCode::launcher, "assay-launch does not answer", peer_);
    const ssize_t got = recv(socket_.get(), to, size, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return fail(ErrorCode::launcher, "assay-launch has ended", peer_);
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<ReceivedMessage> Channel::receive(int limit_ms) {
  ReceivedMessage message;
  ASSAY_TRY_VOID(
      read_bytes(reinterpret_cast<char*>(&message.header), sizeof message.header, limit_ms));
  ASSAY_TRY_VOID(check_header(message.header, peer_));
  message.payload.resize(message.header.length);
  ASSAY_TRY_VOID(read_bytes(message.payload.data(), message.payload.size(), limit_ms));
  return message;
}

}  // namespace assay::process
