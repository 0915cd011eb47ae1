#include "fuzz.h"

#include "assay/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using assay::fuzz::require;
  const auto parsed = assay::parse_json(assay::fuzz::as_text(data, size), "input");
  if (!parsed) {
    require(!parsed.error().what.empty(), "a refusal says why");
    return 0;
  }
  const std::string canonical = assay::canonical_json(*parsed);
  const auto again = assay::parse_canonical_json(canonical, "canonical");
  require(again.has_value(), "canonical text is accepted as canonical");
  require(assay::canonical_json(*again) == canonical, "canonical form is a fixed point");
  return 0;
}
