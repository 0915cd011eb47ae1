#include "rows.h"

#include "verdicts.h"
#include "view.h"

#include <algorithm>

namespace assay::report {
namespace {

CaseRow row_of(const Json& report, const Json& case_value, const std::string& unit_name) {
  const Json& wall = verdict_of(case_value, Kind::wall);
  const auto reference = number_at(case_value, {"reference", "median_ns"});
  const auto candidate = number_at(case_value, {"candidate", "median_ns"});
  const TimeUnit unit = time_unit(unit_name, reference ? reference : candidate);
  CaseRow row;
  row.name = case_name(case_value);
  const Kind deciding = deciding_kind(case_value);
  row.verdict = deciding_word(case_value);
  row.ratio = ratio_text(number_at(wall, {"estimate"}));
  row.bar = {number_at(wall, {"estimate"}), number_at(wall, {"lower"}), number_at(wall, {"upper"}),
             number_at(wall, {"cap"})};
  row.interval = interval_text(row.bar.lower, row.bar.upper);
  row.gate = gate_text(verdict_of(case_value, deciding), deciding);
  row.pairs = layout_text(wall);
  row.reference = time_text(reference, unit);
  row.candidate = time_text(candidate, unit);
  row.flags = case_flags(report, case_value);
  row.value = &case_value;
  return row;
}

}  // namespace

std::string case_name(const Json& case_value) {
  const std::string name = text_at(case_value, {"name"});
  return name.empty() ? "(no name)" : name;
}

std::vector<CaseRow> case_rows(const Json& report, const std::string& time_unit) {
  std::vector<CaseRow> rows;
  for (const Json& case_value : array_at(report, {"cases"}))
    rows.push_back(row_of(report, case_value, time_unit));
  return rows;
}

std::string interval_title(const Json& report) {
  std::optional<double> level;
  for (const Json& case_value : array_at(report, {"cases"})) {
    const auto own = number_at(verdict_of(case_value, Kind::wall), {"level"});
    if (!own || (level && *level != *own))
      return "interval";
    level = own;
  }
  return level ? share_text(level) + " interval" : "interval";
}

}  // namespace assay::report
