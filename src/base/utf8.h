// One step of a strict UTF-8 decoder (no overlong forms, no surrogates, at most U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

struct Utf8Step {
  std::size_t length = 1;  // bytes of the code point, or of the maximal invalid prefix
  char32_t code_point = 0;
  bool valid = false;
};

// `bytes` must not be empty.
inline Utf8Step utf8_step(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80)
    return {1, lead, true};
  if (lead < 0xc2 || lead > 0xf4)
    return {};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range rules out overlong forms, surrogates and values above U+10FFFF.
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  char32_t code_point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const bool first = i == 1;
    if (i >= bytes.size() || at(i) < (first ? low : 0x80) || at(i) > (first ? high : 0xbf))
      return {i, 0, false};
    code_point = (code_point << 6) | (at(i) & 0x3fU);
  }
  return {length, code_point, true};
}

}  // namespace assay
