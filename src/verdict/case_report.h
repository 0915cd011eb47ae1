// The descriptive parts of one case of a comparison report: sides, second interval, diagnostics.
#pragma once

#include "verdicts.h"

#include "assay/base/json.h"

#include <string>
#include <vector>

namespace assay::verdict {

// One entry of the report's top-level diagnostics[].
struct Diagnostic {
  std::string code;
  std::string case_name;
  Json value;
  std::string detail;
};

struct CaseReport {
  Json json;
  std::vector<Diagnostic> diagnostics;
};

CaseReport case_report(const Campaign& campaign, std::size_t index, const CaseVerdicts& verdicts);

Json side_json(const Campaign& campaign, std::size_t index, Side side);
// cases[].diagnostics; appends the codes that fired to `out`.
Json diagnostics_json(const Campaign& campaign, std::size_t index, std::vector<Diagnostic>& out);

}  // namespace assay::verdict
