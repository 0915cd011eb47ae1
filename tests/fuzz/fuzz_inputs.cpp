#include "fuzz.h"

#include "assay/verdict/inputs.h"

#include <cmath>

namespace {

using assay::verdict::InputText;

void check_series(const assay::Result<std::vector<assay::verdict::NamedSeries>>& parsed) {
  if (!parsed)
    return;
  for (const auto& series : *parsed)
    for (const double value : series.values)
      assay::fuzz::require(std::isfinite(value) && value > 0, "an accepted time is finite and > 0");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const InputText file{"input", assay::fuzz::as_text(data, size)};
  const auto parsed = assay::verdict::parse_analyze_input({file}, {});
  if (parsed)
    assay::fuzz::require(!parsed->cases.empty(), "an accepted file holds a case");
  else
    assay::fuzz::require(!parsed.error().what.empty(), "a refusal says why");
  const auto csv = assay::verdict::parse_pairs_csv(file, {});
  if (!csv)
    assay::fuzz::require(!csv.error().what.empty(), "a refusal says why");
  check_series(assay::verdict::parse_hyperfine(file));
  check_series(assay::verdict::parse_google_benchmark(file));
  check_series(assay::verdict::parse_pyperf(file));
  return 0;
}
