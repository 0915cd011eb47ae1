// What every fuzz target shares: the entry point's declaration and a check that a fuzzer notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool condition, const char* property) {
  if (condition)
    return;
  std::fprintf(stderr, "broken property: %s\n", property);
  std::abort();
}

}  // namespace assay::fuzz
