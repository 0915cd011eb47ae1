// The row of a case, shared by the terminal's table and the Markdown, AsciiDoc and org ones.
#pragma once

#include "table.h"

#include "assay/base/json.h"

#include <string>
#include <vector>

namespace assay::report {

struct CaseRow {
  std::string name;  // raw
  std::string verdict, ratio, interval, gate, pairs, reference, candidate;
  const char* figure = "wall time";  // what ratio, interval, bar and medians are of
  std::vector<std::string> flags;
  Bar bar;
  const Json* value = nullptr;
};

// In the report's order; `time_unit` as in TerminalStyle.
std::vector<CaseRow> case_rows(const Json& report, const std::string& time_unit);
// "95 % interval", or "interval" where the cases have different levels.
std::string interval_title(const Json& report);
// "Ratio and interval are of wall time; reference and candidate are medians."
std::string figures_legend(const std::vector<CaseRow>& rows);
// What was run: "reference ./old; candidate ./new", candidates by their numbers where there are
// several. Each command in at most `cells` (0 = whole).
std::string commands_line(const std::vector<CaseRow>& rows, std::size_t cells, bool ascii);
std::string case_name(const Json& case_value);

}  // namespace assay::report
