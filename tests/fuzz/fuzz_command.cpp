#include "fuzz.h"

#include "assay/base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using assay::fuzz::require;
  const auto text = assay::fuzz::as_text(data, size);
  const auto words = assay::split_command(text);
  if (words) {
    const auto again = assay::split_command(assay::join_command(*words));
    require(again.has_value() && *again == *words, "a joined command splits into the same words");
  }
  const std::string shown = assay::printable(text, 40);
  for (const char c : shown)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "no control character is shown");
  if (const auto value = assay::parse_integer(text, INT64_MIN, INT64_MAX, "value"))
    require(assay::parse_integer(std::to_string(*value), *value, *value, "value").has_value(),
            "an accepted integer reads back");
  if (const auto value = assay::parse_number(text, -1e300, 1e300, "value"))
    require(*value >= -1e300 && *value <= 1e300, "an accepted number is finite and in range");
  return 0;
}
