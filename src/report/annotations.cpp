// GitHub workflow commands. Worst first, because the site shows only the first ten of a kind.
#include "rows.h"
#include "verdicts.h"
#include "view.h"

#include "assay/report/render.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

constexpr std::size_t kNameCells = 120;

enum class Severity { error, warning, notice };

std::string data_text(const std::string& text, bool property) {
  std::string out;
  for (const char c : safe_text(text)) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

struct Annotation {
  Severity severity;
  std::string title, text;
};

Severity severity_of(const std::string& status) {
  if (status == "PASS" || status == "NOT_GATED")
    return Severity::notice;
  return status == "INCONCLUSIVE" ? Severity::warning : Severity::error;
}

void add_case(std::vector<Annotation>& out, const Json& case_value) {
  const std::string name = safe_text(case_name(case_value), kNameCells);
  bool any_gate = false;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    if (!is_gated(v))
      continue;
    any_gate = true;
    out.push_back(
        {severity_of(status_of(v)),
         fmt::format("assay {}: {} {}", verdict_word(case_value, v, kind), name, kind_title(kind)),
         claim(v, case_value, kind)});
  }
  if (any_gate)
    return;
  const Json& wall = verdict_of(case_value, Kind::wall);
  out.push_back({Severity::notice, fmt::format("assay: {}", name),
                 "wall time: " + claim(wall, case_value, Kind::wall)});
}

}  // namespace

std::string github_annotations(const Json& report) {
  std::vector<Annotation> annotations;
  const std::string status = status_of(at(report, {"overall"}));
  const bool gated = flag_at(report, {"gated"}) != false;
  const Severity overall = is_unfinished(report) ? Severity::error
                           : gated               ? severity_of(status)
                                                 : Severity::notice;
  const std::string found = conclusion(report);
  annotations.push_back({overall, "assay: " + overall_status(report),
                         found + (found.empty() ? "" : "; ") + overall_clause(report)});
  for (const Json& case_value : array_at(report, {"cases"}))
    add_case(annotations, case_value);
  std::stable_sort(
      annotations.begin(), annotations.end(),
      [](const Annotation& a, const Annotation& b) { return a.severity < b.severity; });
  std::string out;
  for (const Annotation& a : annotations) {
    const char* command = a.severity == Severity::error     ? "error"
                          : a.severity == Severity::warning ? "warning"
                                                            : "notice";
    out += fmt::format("::{} title={}::{}\n", command, data_text(a.title, true),
                       data_text(a.text, false));
  }
  return out;
}

}  // namespace assay::report
