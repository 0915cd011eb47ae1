// Bounded readers of single facts. Private to this layer.
#pragma once

#include "assay/host/host.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::host {

// A value, or the snake_case reason why there is none.
template <typename T>
using Fact = tl::expected<T, std::string>;

inline tl::unexpected<std::string> no_fact(std::string reason) {
  return tl::unexpected<std::string>(std::move(reason));
}

inline constexpr const char* kUnexpected = "unexpected_content";

// At most `max_bytes` of a regular file (the rest is not read). Reasons: not_present,
// permission_denied, not_a_file, read_error.
Fact<std::string> read_prefix(const std::string& path, std::size_t max_bytes);
// The one line of a one-value file, without its line feed: 1 to 256 bytes of clean text.
Fact<std::string> read_word(const std::string& path);
Fact<std::int64_t> read_number(const std::string& path, std::int64_t min, std::int64_t max);

// Printable UTF-8 without control characters, 1 to 256 bytes.
bool is_clean(std::string_view text);
Fact<std::int64_t> to_number(std::string_view text, std::int64_t min, std::int64_t max);
// Finite and >= 0.
Fact<double> to_decimal(std::string_view text);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// How many CPUs a kernel list such as "0-3,8" names.
Fact<std::int64_t> count_cpu_list(std::string_view text);

template <typename T>
Json fact_json(const Fact<T>& fact) {
  return fact ? observed(Json(*fact)) : not_available(fact.error());
}

// Own cgroup (cgroup.cpp).
struct Cgroup {
  int version = 0;    // 1 or 2
  Fact<double> cpus;  // smallest quota up to the root; reason "unlimited" when there is none
  Fact<std::int64_t> memory;  // bytes, likewise
};
Fact<Cgroup> read_cgroup(const Roots& roots);

// user..steal of the first line of /proc/stat (load.cpp).
struct Ticks {
  std::uint64_t steal = 0;
  std::uint64_t total = 0;
};
std::optional<Ticks> parse_ticks(std::string_view stat);

}  // namespace assay::host
