#include "facts.h"

#include "assay/base/files.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::host {

namespace {

std::string reason_of(int err) {
  if (err == ENOENT || err == ENOTDIR || err == ENODEV)
    return "not_present";
  if (err == EACCES || err == EPERM)
    return "permission_denied";
  return "read_error";
}

}  // namespace

Json observed(Json value) {
  return {{"value", std::move(value)}, {"grade", "observed"}};
}

Json not_available(const std::string& reason) {
  return {{"value", nullptr}, {"grade", "not_available"}, {"reason", reason}};
}

Fact<std::string> read_prefix(const std::string& path, std::size_t max_bytes) {
  // O_NONBLOCK: a FIFO put in the way must not hang us.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid())
    return no_fact(reason_of(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    return no_fact(reason_of(errno));
  if (!S_ISREG(info.st_mode))
    return no_fact("not_a_file");
  std::string bytes;
  std::array<char, 4096> chunk{};
  while (bytes.size() < max_bytes) {
    const auto want = std::min(chunk.size(), max_bytes - bytes.size());
    const auto got = ::read(fd.get(), chunk.data(), want);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return no_fact(reason_of(errno));
    if (got == 0)
      break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

Fact<std::string> read_word(const std::string& path) {
  auto bytes = read_prefix(path, 4096);
  if (!bytes)
    return bytes;
  std::string_view line = *bytes;
  if (!line.empty() && line.back() == '\n')
    line.remove_suffix(1);
  if (!is_clean(line))
    return no_fact(kUnexpected);
  return std::string(line);
}

Fact<std::int64_t> read_number(const std::string& path, std::int64_t min, std::int64_t max) {
  const auto word = read_word(path);
  if (!word)
    return no_fact(word.error());
  return to_number(*word, min, max);
}

bool is_clean(std::string_view text) {
  if (text.empty() || text.size() > 256 || !is_valid_utf8(text))
    return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      return false;
  }
  return true;
}

Fact<std::int64_t> to_number(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
    return no_fact(kUnexpected);
  return value;
}

Fact<double> to_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0)
    return no_fact(kUnexpected);
  return value;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

Fact<std::int64_t> count_cpu_list(std::string_view text) {
  constexpr std::int64_t kMaxCpu = 65535;
  std::int64_t count = 0;
  std::int64_t previous = -1;
  for (const auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = to_number(part.substr(0, dash), 0, kMaxCpu);
    const auto last =
        dash == std::string_view::npos ? first : to_number(part.substr(dash + 1), 0, kMaxCpu);
    if (!first || !last || *first <= previous || *last < *first)
      return no_fact(kUnexpected);
    count += *last - *first + 1;
    previous = *last;
  }
  return count;
}

}  // namespace assay::host
