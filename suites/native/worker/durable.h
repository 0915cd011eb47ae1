// The file layer of the worker, and the points at which it can be made to die. Everything that the
// worker writes and syncs goes through here, in the same way with and without faults.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace durable {

[[noreturn]] inline void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

[[noreturn]] inline void system_failed(const std::string& what) {
  give_up(what + ": " + std::strerror(errno));
}

// ---- faults
// --------------------------------------------------------------------------------------

inline constexpr std::array<std::string_view, 18> kPoints = {
    "recovery.cut",  "recovery.queue", "recovery.after", "enqueue.before", "enqueue.written",
    "enqueue.after", "claim.before",   "claim.written",  "claim.after",    "renew.before",
    "renew.written", "renew.after",    "effect.before",  "effect.written", "effect.after",
    "ack.before",    "ack.written",    "ack.after"};

class Faults {
 public:
  Faults() {
    const char* text = std::getenv("ASSAY_FAULT");
    if (text == nullptr)
      return;
    const std::string_view words = text;
    const std::size_t colon = words.find(':');
    point_ = words.substr(0, colon);
    left_ = colon == std::string_view::npos ? 0 : std::strtoull(text + colon + 1, nullptr, 10);
    if (left_ == 0 || std::find(kPoints.begin(), kPoints.end(), point_) == kPoints.end())
      give_up("ASSAY_FAULT must be POINT:N");
  }
  void pass(std::string_view point) {
    if (left_ > 0 && point == point_ && --left_ == 0)
      std::raise(SIGKILL);
  }

 private:
  std::string_view point_;
  std::uint64_t left_ = 0;
};

// ---- files
// ---------------------------------------------------------------------------------------

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ < 0)
      system_failed(path);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0)
        system_failed("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  int fd_;
};

class Directory {
 public:
  explicit Directory(const std::string& path) : fd_(path, O_RDONLY | O_DIRECTORY) {}

  // An entry is durable when the directory was synced after it was made. One that is found may have
  // been made by a run that was killed before that, so this is for every start.
  void sync() const {
    if (::fsync(fd_.get()) != 0)
      system_failed("fsync of a directory");
  }

 private:
  Descriptor fd_;
};

inline void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    system_failed(path);
}

enum class Kind : std::uint8_t { open = 1, enqueue, claim, renew, fail, done, dead, effect };

struct Record {
  Kind kind;
  std::uint64_t job, tick, value;
};

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

inline void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

inline std::uint64_t get(std::string_view in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(in[at + static_cast<std::size_t>(i)]);
  return value;
}

// Records of a fixed size behind their length and checksum, only ever appended.
class Log {
 public:
  explicit Log(const std::string& path) : file_(path, O_RDWR | O_CREAT | O_APPEND) {
    const std::string bytes = read_all();
    std::size_t good = 0;
    while (good + kFrame <= bytes.size() && take(std::string_view(bytes).substr(good, kFrame)))
      good += kFrame;
    // What follows the last whole record was never synced, or was torn by a crash. New records
    // behind it would never be read.
    if (good < bytes.size() && ::ftruncate(file_.get(), static_cast<off_t>(good)) != 0)
      system_failed("ftruncate");
  }

  const std::vector<Record>& found() const { return found_; }
  void write(const std::vector<Record>& records) const {
    std::string out;
    for (const Record& record : records) {
      std::string payload(1, static_cast<char>(record.kind));
      for (const std::uint64_t value : {record.job, record.tick, record.value})
        put(payload, value, 8);
      put(out, payload.size(), 4);
      put(out, crc32(payload), 4);
      out += payload;
    }
    file_.write(out);
  }
  void sync() const {
    if (::fsync(file_.get()) != 0)
      system_failed("fsync");
  }

 private:
  static constexpr std::size_t kPayload = 25;
  static constexpr std::size_t kFrame = 8 + kPayload;

  std::string read_all() const {
    std::string bytes;
    char buffer[65536];
    for (;;) {
      const ssize_t got = ::read(file_.get(), buffer, sizeof buffer);
      if (got < 0)
        system_failed("read");
      if (got == 0)
        return bytes;
      bytes.append(buffer, static_cast<std::size_t>(got));
    }
  }
  bool take(std::string_view frame) {
    const std::string_view payload = frame.substr(8);
    if (get(frame, 0, 4) != kPayload)
      return false;
    if (get(frame, 4, 4) != crc32(payload))
      return false;
    found_.push_back({static_cast<Kind>(payload[0]), get(payload, 1, 8), get(payload, 9, 8),
                      get(payload, 17, 8)});
    return true;
  }

  Descriptor file_;
  std::vector<Record> found_;
};

}  // namespace durable
