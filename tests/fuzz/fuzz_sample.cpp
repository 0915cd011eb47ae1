#include "fuzz.h"

#include "assay/verdict/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using assay::fuzz::require;
  const auto sample = assay::verdict::parse_sample(assay::fuzz::as_text(data, size), "line");
  if (!sample)
    return 0;
  const std::string line = assay::verdict::sample_line(*sample);
  const auto again = assay::verdict::parse_sample(line, "line");
  require(again.has_value(), "a written sample is read");
  require(assay::verdict::sample_line(*again) == line, "a sample reads back to itself");
  return 0;
}
