#include "facts.h"

#include "assay/base/files.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace assay::host {

namespace {

// The first bytes of a file into the caller's buffer: no allocation between two measured pairs.
std::string_view read_head(const std::string& path, std::array<char, 512>& buffer) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid())
    return {};
  const auto got = ::read(fd.get(), buffer.data(), buffer.size());
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace

std::optional<Ticks> parse_ticks(std::string_view stat) {
  if (stat.substr(0, 4) != "cpu ")
    return std::nullopt;
  const auto line_end = stat.find('\n');
  if (line_end == std::string_view::npos)
    return std::nullopt;
  const char* at = stat.data() + 4;
  const char* end = stat.data() + line_end;
  Ticks ticks;
  // user nice system idle iowait irq softirq steal; guest time is already inside user.
  for (int field = 0; field < 8; ++field) {
    while (at < end && *at == ' ')
      ++at;
    std::uint64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value > UINT64_MAX - ticks.total)
      return std::nullopt;
    at = next;
    ticks.total += value;
    ticks.steal = value;  // the last of the eight stays
  }
  if (at < end && *at != ' ')
    return std::nullopt;
  return ticks;
}

LoadMeter::LoadMeter(const Roots& roots)
    : loadavg_path_(roots.proc + "/loadavg"), stat_path_(roots.proc + "/stat") {}

LoadMeter::Reading LoadMeter::read() {
  Reading reading;
  std::array<char, 512> buffer{};
  const auto loadavg = read_head(loadavg_path_, buffer);
  if (const auto load = to_decimal(loadavg.substr(0, loadavg.find(' '))))
    reading.load1 = *load;
  const auto ticks = parse_ticks(read_head(stat_path_, buffer));
  if (!ticks) {
    previous_.reset();
    return reading;
  }
  // The kernel's idle and iowait counters may step back: then there is no share for this interval.
  if (previous_ && ticks->total > previous_->second && ticks->steal >= previous_->first) {
    const auto stolen = ticks->steal - previous_->first;
    const auto passed = ticks->total - previous_->second;
    if (stolen <= passed)
      reading.steal_share = static_cast<double>(stolen) / static_cast<double>(passed);
  }
  previous_ = {ticks->steal, ticks->total};
  return reading;
}

}  // namespace assay::host
