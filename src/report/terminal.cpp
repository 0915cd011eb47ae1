#include "case_block.h"
#include "rows.h"
#include "table.h"
#include "verdicts.h"
#include "view.h"

#include "assay/base/text.h"
#include "assay/report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace assay::report {
namespace {

constexpr std::size_t kNameCells = 28;
constexpr std::size_t kFlagsCells = 30;
constexpr std::size_t kRejectedShown = 5;
constexpr int kSeenShown = 3;
constexpr std::size_t kClosingCases = 6;
constexpr int kNarrowest = 40;
constexpr int kWidest = 10000;

std::string flags_text(const std::vector<std::string>& flags) {
  if (flags.empty())
    return "-";
  std::string out = safe_text(flags[0], kFlagsCells - 4);
  std::size_t shown = 1;
  for (; shown < flags.size(); ++shown) {
    const std::string next = fmt::format(" {}", safe_text(flags[shown], kFlagsCells));
    if (out.size() + next.size() + 4 > kFlagsCells)
      break;
    out += next;
  }
  return shown < flags.size() ? fmt::format("{} +{}", out, flags.size() - shown) : out;
}

void sort_rows(std::vector<CaseRow>& rows, const std::string& order) {
  if (order != "mean-time")
    return;
  std::stable_sort(rows.begin(), rows.end(), [](const CaseRow& a, const CaseRow& b) {
    const auto left = number_at(*a.value, {"candidate", "mean_ns"});
    const auto right = number_at(*b.value, {"candidate", "mean_ns"});
    return left && (!right || *left < *right);
  });
}

std::string head(const Json& report, const Sheet& sheet) {
  const std::string status = overall_status(report);
  const auto scope = [&report](const char* key) {
    return count_text(integer_at(report, {"scope", key}));
  };
  // Without the empty line that a heading starts with.
  const std::string found = conclusion(report);
  std::string out =
      sheet
          .heading("assay comparison: " + status + (found.empty() ? "" : "; ") + found,
                   status_colour(status))
          .substr(1);
  out += sheet.paragraph("runs", overall_clause(report));
  std::string plan = fmt::format("{} batches x {} pairs, warm-up pairs per batch: {}, seed {}",
                                 scope("batches_planned"), scope("pairs_per_batch"),
                                 scope("warmups"), scope("seed"));
  if (const auto look = integer_at(report, {"scope", "stopped_at_look"}))
    plan += fmt::format(", stopped after {} batches", *look);
  else if (integer_at(report, {"scope", "batches_used"}) !=
           integer_at(report, {"scope", "batches_planned"}))
    plan += fmt::format(", {} batches used", scope("batches_used"));
  if (flag_at(report, {"scope", "layout_padding"}) == false)
    plan += ", layout padding off";
  out += sheet.paragraph("plan", plan);
  const auto id = [&report](const char* key) {
    const std::string text = text_at(report, {key});
    return text.empty() ? std::string("n/a") : safe_text(text, 64, true);
  };
  out += sheet.archived
             ? sheet.paragraph("archive", fmt::format("{}, {}, assay {}", id("archive_id"),
                                                      id("created_utc"), id("tool_version")))
             : sheet.paragraph("archive", "none (--no-archive): nothing but this report is kept");
  const Json& calibration = at(report, {"calibration"});
  if (calibration.is_object()) {
    const auto state = [&calibration](const char* kind) {
      const std::string text = text_at(calibration, {"states", kind});
      return text.empty() ? std::string("n/a") : safe_text(text, 40, true);
    };
    std::string made = safe_text(text_at(calibration, {"created_utc"}), 40);
    if (const std::size_t fraction = made.find('.'); fraction != std::string::npos)
      made = made.substr(0, fraction) + "Z";
    out += sheet.paragraph("host", fmt::format("calibrated {}: wall time {}, CPU time {}", made,
                                               state("wall"), state("cpu")));
  }
  return out;
}

std::string table_text(const Json& report, const std::vector<CaseRow>& rows, const Sheet& sheet) {
  std::vector<Bar> bars;
  bool any_cap = false;
  for (const CaseRow& row : rows) {
    bars.push_back(row.bar);
    any_cap = any_cap || row.bar.cap;
  }
  const Axis axis = axis_for(bars);
  Table table;
  // What is left out stands in the block of each case.
  table.columns = {{"case"},
                   {"verdict"},
                   {"ratio", true, 1},
                   {interval_title(report), false, 2},
                   {"bar", false, 3},
                   {"gate", false, extra},
                   {"pairs", false, extra + 1},
                   {"reference", true, 4},
                   {"candidate", true, 4},
                   {"flags", false, extra + 2}};
  const auto name = [&](std::size_t i, std::size_t cells) {
    const std::string number = rows.size() > 1 ? fmt::format("{} ", i + 1) : "";
    const std::size_t room = cells > number.size() ? cells - number.size() : 1;
    return number + safe_text(rows[i].name, std::min(room, kNameCells), !sheet.unicode);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CaseRow& row = rows[i];
    table.rows.push_back({{name(i, kNameCells * 2)},
                          {row.verdict, status_colour(row.verdict)},
                          {row.ratio},
                          {row.interval},
                          {bar_text(row.bar, axis, sheet.unicode)},
                          {row.gate},
                          {row.pairs},
                          {row.reference},
                          {row.candidate},
                          {flags_text(row.flags)}});
  }
  const std::size_t name_cells = fit_columns(table, sheet.width);
  for (std::size_t i = 0; i < rows.size(); ++i)
    table.rows[i][0].text = name(i, name_cells);
  std::string out(1, '\n');
  out += layout_table(table, sheet.color);
  const std::string legend = bar_legend(axis, any_cap, sheet.unicode);
  return out + wrap(legend + (legend.empty() ? "" : " ") + figures_legend(rows),
                    {"  ", 2, 2, sheet.width});
}

// Of one candidate --verbose shows it with its figures.
std::string commands_text(const std::vector<CaseRow>& rows, const Sheet& sheet) {
  constexpr std::size_t kCommandCells = 60;
  if (rows.size() < 2 && sheet.verbose)
    return "";
  return wrap("Commands: " + commands_line(rows, kCommandCells, !sheet.unicode) + ".",
              {"  ", 2, 4, sheet.width});
}

// Candidates of one parameter point in the order of their ratios, the reference among them.
std::string ranking_text(const std::vector<CaseRow>& rows, const Sheet& sheet) {
  std::vector<std::pair<double, std::string>> places = {{1.0, "reference"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].bar.estimate ||
        at(*rows[i].value, {"parameters"}) != at(*rows[0].value, {"parameters"}))
      return "";
    places.emplace_back(
        *rows[i].bar.estimate,
        fmt::format("{} {}", i + 1, safe_text(rows[i].name, kNameCells, !sheet.unicode)));
  }
  if (places.size() < 3)
    return "";
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [ratio, name] : places)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, ratio_text(ratio));
  return wrap("Ranking by ratio of wall time, fastest first: " + text +
                  " (order of estimates; where intervals overlap it may be another).",
              {"  ", 2, 4, sheet.width});
}

std::string rejected_text(const Json& report, const Sheet& sheet) {
  const Json& runs = array_at(report, {"rejected_runs"});
  const auto count = integer_at(report, {"rejected_count"});
  const std::size_t total = count && *count > 0 ? static_cast<std::size_t>(*count) : runs.size();
  if (total == 0)
    return "";
  std::string out = sheet.heading(fmt::format("Rejected runs ({})", total));
  for (std::size_t i = 0; i < std::min(runs.size(), kRejectedShown); ++i) {
    const Json& run = runs[i];
    const auto figure = [&run](const char* key) { return count_text(integer_at(run, {key})); };
    const auto from_one = [&run](const char* key) {
      const auto at_zero = integer_at(run, {key});
      // A damaged report may hold any number.
      return count_text(at_zero && *at_zero < INT64_MAX ? std::optional(*at_zero + 1) : at_zero);
    };
    std::string ended = fmt::format("exit code {}", figure("exit_code"));
    if (integer_at(run, {"signal"}).value_or(0) != 0)
      ended = fmt::format("signal {}", figure("signal"));
    const auto word = [&run](const char* key) {
      const std::string text = text_at(run, {key});
      return text.empty() ? std::string("n/a") : safe_text(text, 60, true);
    };
    out += sheet.item(fmt::format("run {} (batch {}, pair {}, {}, {} of {}): {}, {}", figure("seq"),
                                  from_one("batch"), from_one("pair"), word("phase"), word("side"),
                                  safe_text(text_at(run, {"case"}), kNameCells, !sheet.unicode),
                                  word("why"), ended));
  }
  if (total > kRejectedShown)
    out += sheet.item(fmt::format("and {} more", total - std::min(runs.size(), kRejectedShown)));
  return out;
}

// The figure of a diagnostic in its unit (docs/reference/report.md, diagnostics).
std::string diagnostic_figure(const std::string& code, double value) {
  if (code == "short_run" || code == "gaps_differ")
    return time_text(value, time_unit("", value));
  if (code == "order_effect" || code == "trend")
    return plain_number(value, 3) + " %";
  return code == "host_steal" ? probability_text(value) : plain_number(value, 3);
}

// "candidate 1.4 %, other 2 %": the figures behind a diagnostic code.
std::string seen_text(const Json& report, const std::string& code, const Sheet& sheet) {
  std::string out;
  int shown = 0;
  for (const Json& diagnostic : array_at(report, {"diagnostics"})) {
    const auto value = number_at(diagnostic, {"value"});
    if (text_at(diagnostic, {"code"}) != code || !value)
      continue;
    if (++shown > kSeenShown)
      return out + ", ...";
    const bool several = array_at(report, {"cases"}).size() > 1;
    const std::string name = several ? text_at(diagnostic, {"case"}) : "";
    // Its figure says nothing without the batch, which only the text names.
    const std::string figure = code == "one_batch_decides"
                                   ? safe_text(text_at(diagnostic, {"detail"}), 120, !sheet.unicode)
                                   : diagnostic_figure(code, *value);
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ",
                       !several       ? ""
                       : name.empty() ? "all "
                                      : safe_text(name, kNameCells, !sheet.unicode) + " ",
                       figure);
  }
  return out;
}

std::string reasons_text(const Json& report, const Sheet& sheet) {
  const std::vector<std::string> limits = texts_at(report, {"limits"});
  std::set<std::string> done(limits.begin(), limits.end());
  std::string items;
  const std::string ended = is_unfinished(report) ? text_at(report, {"ending", "reason"}) : "";
  if (!ended.empty() && done.insert(ended).second)
    items += sheet.code(ended, "");
  for (const char* list : {"blockers", "reason_codes"})
    for (const std::string& code : texts_at(report, {list}))
      if (done.insert(code).second)
        items += sheet.code(code, seen_text(report, code, sheet));
  std::string out = items.empty() ? "" : sheet.heading("Reasons") + items;
  out += sheet.heading("What this does not prove");
  std::set<std::string> listed;
  for (const std::string& code : limits)
    if (listed.insert(code).second)
      out += sheet.code(code, seen_text(report, code, sheet));
  if (limits.empty())
    out += sheet.item("n/a (the report lists no limits; that does not mean that there are none)");
  return out;
}

// The last lines, which a terminal still shows when the rest has scrolled away: of few cases each
// one's finding, then the verdict as a whole.
std::string closing(const Json& report, const std::vector<CaseRow>& rows, const Sheet& sheet) {
  std::string out(1, '\n');
  if (rows.size() > 1 && rows.size() <= kClosingCases)
    for (std::size_t i = 0; i < rows.size(); ++i)
      out += wrap(
          fmt::format("{} {}: {}; {}", i + 1, safe_text(rows[i].name, kNameCells, !sheet.unicode),
                      rows[i].verdict, case_conclusion(*rows[i].value)),
          {"  ", 2, 4, sheet.width});
  out += ranking_text(rows, sheet);
  const std::string text = conclusion(report);
  const std::string status = overall_status(report);
  const std::string first = "Verdict: " + status + (text.empty() ? "" : "; ");
  if (first.size() > sheet.width)  // colour cannot be wrapped
    return out + wrap(first + text, {"", 0, 2, sheet.width});
  return out + wrap(text, {paint(first, status_colour(status), sheet.color), first.size(), 2,
                           sheet.width});
}

// What the runs that exist say, beside an INCOMPLETE verdict.
std::string subset_text(const Json& report, const Sheet& sheet) {
  const Json& subset = at(report, {"observed_subset"});
  if (!subset.is_object())
    return "";
  Kind kind = Kind::wall;
  for (const Kind one : kKinds)
    if (text_at(subset, {"kind"}) == kind_key(one))
      kind = one;
  const std::string name = text_at(subset, {"case"});
  std::string text = fmt::format(
      "of the runs that exist, not a verdict: {}{}, {}",
      name.empty() ? "" : safe_text(name, kNameCells, !sheet.unicode) + ", ", kind_title(kind),
      kind == Kind::tail ? status_of(subset) : finding_clause(subset));
  return sheet.heading("Observed subset") +
         sheet.item(text + " (" + method_clause(subset, kind) + ")");
}

}  // namespace

std::string terminal(const Json& report, const TerminalStyle& style) {
  Sheet sheet;
  sheet.width = static_cast<std::size_t>(std::clamp(style.columns, kNarrowest, kWidest));
  sheet.color = style.color;
  sheet.unicode = style.unicode;
  sheet.verbose = style.verbose;
  sheet.archived = style.archived;
  sheet.time_unit = style.time_unit;
  std::vector<CaseRow> rows = case_rows(report, style.time_unit);
  sort_rows(rows, style.sort);
  std::string out = head(report, sheet);
  if (rows.empty())
    out += wrap("No case: n/a (the report holds none).", {"  ", 2, 2, sheet.width});
  else
    out += table_text(report, rows, sheet) + commands_text(rows, sheet);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string number =
        rows.size() > 1 ? fmt::format("Case {} of {}: ", i + 1, rows.size()) : "Case: ";
    out += case_block(*rows[i].value, number, sheet);
  }
  return out + subset_text(report, sheet) + rejected_text(report, sheet) +
         reasons_text(report, sheet) + closing(report, rows, sheet);
}

std::string verdict_sentence(const Json& /*report*/, const Json& case_value) {
  const Json& wall = verdict_of(case_value, Kind::wall);
  const std::string status =
      is_gated(wall) ? verdict_word(case_value, wall, Kind::wall) + ": " : "";
  return status + claim(wall, case_value, Kind::wall);
}

}  // namespace assay::report
