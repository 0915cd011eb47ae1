// Unit types: swapping a time and a size does not compile. Serialised keys carry the unit instead.
#pragma once

#include <compare>
#include <cstdint>

namespace assay {

template <typename Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t v) : value(v) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
};

using Nanoseconds = Quantity<struct NanosecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using Cycles = Quantity<struct CyclesTag>;

// Linux reports ru_maxrss in KiB, macOS in bytes; `import` meets both.
enum class RssUnit { kibibytes, bytes };
constexpr Bytes peak_rss_from_rusage(std::int64_t ru_maxrss, RssUnit unit) {
  return Bytes(unit == RssUnit::kibibytes ? ru_maxrss * 1024 : ru_maxrss);
}

}  // namespace assay
