#include "rows.h"

#include "verdicts.h"
#include "view.h"

#include "assay/base/text.h"

#include <algorithm>

namespace assay::report {
namespace {

CaseRow row_of(const Json& report, const Json& case_value, const std::string& unit_name) {
  const Kind deciding = deciding_kind(case_value);
  // The tail rule has neither ratio nor interval.
  const Kind shown = deciding == Kind::tail ? Kind::wall : deciding;
  const Json& v = verdict_of(case_value, shown);
  const char* median = shown == Kind::cpu   ? "median_cpu_ns"
                       : shown == Kind::rss ? "median_peak_rss_bytes"
                                            : "median_ns";
  const auto reference = number_at(case_value, {"reference", median});
  const auto candidate = number_at(case_value, {"candidate", median});
  const TimeUnit unit = time_unit(unit_name, reference ? reference : candidate);
  CaseRow row;
  row.name = case_name(case_value);
  row.figure = kind_title(shown);
  row.verdict = deciding_word(case_value);
  row.ratio = ratio_text(number_at(v, {"estimate"}));
  row.bar = {number_at(v, {"estimate"}), number_at(v, {"lower"}), number_at(v, {"upper"}),
             number_at(v, {"cap"})};
  row.interval = interval_text(row.bar.lower, row.bar.upper);
  row.gate = gate_text(verdict_of(case_value, deciding), deciding);
  row.pairs = layout_text(v);
  row.reference = shown == Kind::rss ? bytes_text(reference) : time_text(reference, unit);
  row.candidate = shown == Kind::rss ? bytes_text(candidate) : time_text(candidate, unit);
  row.flags = case_flags(report, case_value);
  row.value = &case_value;
  return row;
}

}  // namespace

std::string case_name(const Json& case_value) {
  const std::string name = text_at(case_value, {"name"});
  return name.empty() ? "(no name)" : name;
}

std::string figures_legend(const std::vector<CaseRow>& rows) {
  const std::string first = rows.empty() ? "wall time" : rows[0].figure;
  const bool one = std::all_of(rows.begin(), rows.end(),
                               [&first](const CaseRow& row) { return row.figure == first; });
  return "Ratio and interval are of " +
         (one ? first : "wall time, or of what the verdict names in parentheses") +
         "; reference and candidate are medians.";
}

std::string commands_line(const std::vector<CaseRow>& rows, std::size_t cells, bool ascii) {
  const auto command = [cells, ascii](const CaseRow& row, const char* side) {
    const std::string text = join_command(texts_at(*row.value, {side, "argv"}));
    return text.empty() ? "n/a" : safe_text(text, cells, ascii);
  };
  if (rows.empty())
    return "n/a";
  // Of a parameter scan each point has a reference of its own.
  const std::string first = command(rows[0], "reference");
  const bool one = std::all_of(rows.begin(), rows.end(), [&](const CaseRow& row) {
    return command(row, "reference") == first;
  });
  std::string text = one ? "reference " + first : "";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += text.empty() ? "" : "; ";
    text += rows.size() > 1 ? std::to_string(i + 1) + " " : "";
    text += one ? "" : "reference " + command(rows[i], "reference") + ", ";
    text += (rows.size() > 1 && one ? "" : "candidate ") + command(rows[i], "candidate");
  }
  return text;
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
