#include "assay/base/ids.h"

#include "assay/base/files.h"
#include "assay/base/result.h"
#include "assay/base/sha256.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <sys/random.h>

namespace assay {
namespace {

template <std::size_t N>
std::array<char, N> random_bytes() {
  std::array<char, N> bytes{};
  std::size_t have = 0;
  while (have < N) {
    const ssize_t n = ::getrandom(bytes.data() + have, N - have, 0);
    if (n < 0 && errno == EINTR)
      continue;
    ASSAY_CHECK(n > 0, "getrandom(2) failed");
    have += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace

std::string uuid_v4() {
  std::array<char, 16> bytes = random_bytes<16>();
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  const std::string hex = to_hex(std::string_view(bytes.data(), bytes.size()));
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

std::int64_t random_seed() {
  const std::array<char, 8> bytes = random_bytes<8>();
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<std::int64_t>(value >> 11);
}

std::string utc_now() {
  timespec now{};
  ASSAY_CHECK(::clock_gettime(CLOCK_REALTIME, &now) == 0, "no CLOCK_REALTIME");
  std::tm utc{};
  ASSAY_CHECK(::gmtime_r(&now.tv_sec, &utc) != nullptr, "the wall clock is outside the calendar");
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec);
}

std::string utc_basic(const std::string& utc) {
  ASSAY_CHECK(utc.size() >= 19, "not a UTC instant of utc_now()");
  return utc.substr(0, 4) + utc.substr(5, 2) + utc.substr(8, 2) + "T" + utc.substr(11, 2) +
         utc.substr(14, 2) + utc.substr(17, 2) + "Z";
}

Nanoseconds monotonic_now() {
  timespec now{};
  ASSAY_CHECK(::clock_gettime(CLOCK_MONOTONIC, &now) == 0, "no CLOCK_MONOTONIC");
  return Nanoseconds(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

std::string boot_id() {
  const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 4096);
  if (!text)
    return "";
  return text->substr(0, text->find('\n'));
}

}  // namespace assay
