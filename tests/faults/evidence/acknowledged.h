// What the fault driver has been told is safe, and what it writes.
#pragma once

#include <cstdint>
#include <string>

namespace assay::faults {

struct Acknowledged {
  std::int32_t pairs;
  std::int32_t events;
};

inline constexpr int kPairs = 3;

inline std::string pair_lines(int pair) {
  const std::string seq = std::to_string(2 * pair);
  return "{\"seq\":" + seq + ",\"side\":\"reference\"}\n{\"seq\":" + seq +
         ",\"side\":\"candidate\"}\n";
}

}  // namespace assay::faults
