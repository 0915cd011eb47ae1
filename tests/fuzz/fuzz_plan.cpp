#include "fuzz.h"

#include "assay/verdict/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = assay::fuzz::as_text(data, size);
  const auto plan = assay::verdict::parse_plan(text, "plan.json");
  if (plan)
    assay::fuzz::require(assay::verdict::plan_text(*plan) == text,
                         "an accepted plan is byte-equal to the one that its options give");
  return 0;
}
