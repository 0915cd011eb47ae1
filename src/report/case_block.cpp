#include "case_block.h"

#include "rows.h"
#include "table.h"
#include "verdicts.h"
#include "view.h"

#include "assay/base/text.h"
#include "assay/report/render.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t kLabelCells = 11;
constexpr std::size_t kHeadingCells = 300;
constexpr std::size_t kCommandCells = 400;

std::string command_text(const Json& side, bool ascii) {
  std::vector<std::string> argv = texts_at(side, {"argv"});
  if (argv.empty())
    return "n/a";
  return safe_text(join_command(argv), kCommandCells, ascii);
}

std::string side_text(const Json& side, const TimeUnit& unit, const Sheet& sheet) {
  const auto time = [&](const char* key) { return time_text(number_at(side, {key}), unit); };
  std::string out = fmt::format(
      "{}; {} runs, wall median {}, p95 {}, min {}, max {}; CPU median {} (user {}, system {}); "
      "peak RSS median {}",
      command_text(side, !sheet.unicode), count_text(integer_at(side, {"runs"})), time("median_ns"),
      time("p95_ns"), time("min_ns"), time("max_ns"), time("median_cpu_ns"), time("median_user_ns"),
      time("median_system_ns"), bytes_text(number_at(side, {"median_peak_rss_bytes"})));
  if (integer_at(side, {"descendants_left_runs"}).value_or(0) > 0)
    out += fmt::format("; processes left behind in {} runs",
                       count_text(integer_at(side, {"descendants_left_runs"})));
  return out;
}

void add_clause(std::string& out, const std::string& clause) {
  out += (out.empty() ? "" : "; ") + clause;
}

std::string dependence_clause(const Json& d) {
  std::string out;
  const Json& order = at(d, {"order_effect"});
  if (order.is_object())
    add_clause(out, fmt::format("order effect {} % ({}; candidate first {}, reference first {})",
                                plain_number(number_at(order, {"effect_percent"}), 3),
                                p_clause("p", number_at(order, {"p"})),
                                count_text(integer_at(order, {"candidate_first"})),
                                count_text(integer_at(order, {"reference_first"}))));
  const struct {
    const char* key;
    const char* title;
  } lags[] = {{"lag1_pairs", "neighbouring pairs"}, {"lag1_batches", "neighbouring batches"}};
  for (const auto& lag : lags)
    if (at(d, {lag.key}).is_object())
      add_clause(out, fmt::format("correlation of {} {} ({})", lag.title,
                                  plain_number(number_at(d, {lag.key, "r"}), 2),
                                  p_clause("p", number_at(d, {lag.key, "p"}))));
  if (const auto trend = number_at(d, {"trend_percent_per_batch"}))
    add_clause(out, fmt::format("trend {} % per batch ({})", plain_number(trend, 3),
                                p_clause("p", number_at(d, {"trend_p"}))));
  return out;
}

std::string diagnostics_clause(const Json& case_value, const Sheet& sheet) {
  const Json& d = at(case_value, {"diagnostics"});
  if (!d.is_object())
    return "n/a (the report holds none)";
  std::string out = "ratio sd n/a (too few pairs or batches)";
  if (number_at(d, {"pair_sd_percent"}))
    out = fmt::format("ratio sd {} % between pairs, {} % between batches (batch share {})",
                      plain_number(number_at(d, {"pair_sd_percent"}), 2),
                      plain_number(number_at(d, {"batch_sd_percent"}), 2),
                      probability_text(number_at(d, {"batch_share"})));
  add_clause(out, fmt::format("outlying runs {} high, {} low",
                              count_text(integer_at(d, {"outliers", "high"})),
                              count_text(integer_at(d, {"outliers", "low"}))));
  const std::string dependence = dependence_clause(d);
  if (!dependence.empty())
    add_clause(out, dependence);
  const auto reference = number_at(d, {"gap_ns", "reference"});
  const auto candidate = number_at(d, {"gap_ns", "candidate"});
  if (reference || candidate)
    add_clause(out, fmt::format("median pause before a run: reference {}, candidate {}",
                                time_text(reference, time_unit(sheet.time_unit, reference)),
                                time_text(candidate, time_unit(sheet.time_unit, candidate))));
  return out;
}

std::string pairs_clause(const Json& case_value) {
  std::string out = fmt::format("{} of {} complete, {} rejected",
                                count_text(integer_at(case_value, {"pairs_complete"})),
                                count_text(integer_at(case_value, {"pairs_planned"})),
                                count_text(integer_at(case_value, {"pairs_rejected"})));
  const auto equal = flag_at(case_value, {"outputs_equal"});
  return out +
         (equal ? (*equal ? "; outputs equal" : "; outputs differ") : "; equality of outputs n/a");
}

std::string verdict_paragraphs(const Json& case_value, const Sheet& sheet) {
  std::string out;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    const std::string status = is_gated(v) ? verdict_word(case_value, v, kind) : "";
    if (kind == Kind::tail && status.empty())
      // The wording users look for, with nothing between label and text.
      out += wrap("tail: " + claim(v, case_value, kind), {"  ", 2, 2 + kLabelCells, sheet.width});
    else
      out += sheet.paragraph(kind_title(kind), claim(v, case_value, kind), status);
  }
  for (const Kind kind : {Kind::wall, Kind::cpu, Kind::rss, Kind::tail}) {
    const std::string prediction = prediction_clause(verdict_of(case_value, kind));
    if (!prediction.empty())
      out += sheet.paragraph("more data", std::string(kind_title(kind)) + ": " + prediction);
  }
  return out;
}

// Verdicts that share method, level, n and B share a paragraph.
std::string method_paragraphs(const Json& case_value, const Sheet& sheet) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    if (!v.is_object() || (kind == Kind::tail && !is_gated(v)))
      continue;
    const std::string basis = method_basis(v);
    std::string figures = kind_title(kind);
    if (kind != Kind::tail)
      figures.append(" ").append(method_figures(v));
    if (!groups.empty() && groups.back().first == basis)
      groups.back().second += "; " + figures;
    else
      groups.emplace_back(basis, figures);
  }
  std::string out;
  for (const auto& [basis, figures] : groups)
    out += sheet.paragraph("method", fmt::format("{}: {}", basis, figures));
  return out + sheet.paragraph("method 2", "wall time by " + second_method_clause(case_value));
}

// What a reader asks for who wants to know why.
std::string background(const Json& case_value, const Sheet& sheet) {
  const Json& reference = at(case_value, {"reference"});
  const Json& candidate = at(case_value, {"candidate"});
  const auto median = number_at(reference, {"median_ns"});
  const TimeUnit unit =
      time_unit(sheet.time_unit, median ? median : number_at(candidate, {"median_ns"}));
  return sheet.paragraph("reference", side_text(reference, unit, sheet)) +
         sheet.paragraph("candidate", side_text(candidate, unit, sheet)) +
         sheet.paragraph("noise", diagnostics_clause(case_value, sheet));
}

}  // namespace

std::string Sheet::heading(const std::string& text, Colour colour) const {
  // A heading may be longer than a line; colour must not be split by wrapping, so only the first
  // line's worth is painted.
  const std::string wrapped = wrap(text, {"", 0, 2, width});
  const std::size_t end = wrapped.find('\n');
  return fmt::format("\n{}{}", paint(wrapped.substr(0, end), colour, color), wrapped.substr(end));
}

std::string Sheet::paragraph(const std::string& label, const std::string& text,
                             const std::string& status) const {
  std::string first = "  " + label;
  if (first.size() < 2 + kLabelCells)
    first.append(2 + kLabelCells - first.size(), ' ');
  std::size_t first_width = first.size();
  if (!status.empty()) {
    first += paint(status, status_colour(status), color) + ": ";
    first_width += status.size() + 2;
  }
  return wrap(text, {first, first_width, 2 + kLabelCells, width});
}

std::string Sheet::item(const std::string& text) const {
  return wrap(text, {"  - ", 4, 4, width});
}

std::string Sheet::code(const std::string& reason, const std::string& seen) const {
  const std::string sentence = reason_sentence(reason);
  std::string text = safe_text(reason, 60, !unicode);
  if (!sentence.empty())
    text.append(": ").append(sentence);
  if (!seen.empty())
    text.append(" Seen: ").append(seen).append(".");
  return item(text);
}

std::string case_block(const Json& case_value, const std::string& number, const Sheet& sheet) {
  return sheet.heading(number + safe_text(case_name(case_value), kHeadingCells, !sheet.unicode)) +
         verdict_paragraphs(case_value, sheet) +
         sheet.paragraph("pairs", pairs_clause(case_value)) + method_paragraphs(case_value, sheet) +
         (sheet.verbose ? background(case_value, sheet) : "");
}

}  // namespace assay::report
