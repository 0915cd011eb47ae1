#include "table.h"

#include "view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

constexpr std::size_t kGap = 2;

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

void trim_right(std::string& line) {
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
}

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = display_width(table.columns[c].title);
    for (const auto& row : table.rows)
      width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  std::size_t sum = kGap * (widths.size() - 1);
  for (const std::size_t cells : widths)
    sum += cells;
  return sum;
}

void leave_out(Table& table, int rank) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (table.columns[c].rank != rank)
      continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows)
      row.erase(row.begin() + at);
  }
}

struct Marks {
  const char *empty, *line, *one, *cap, *estimate;
};
constexpr Marks kUnicodeMarks = {" ", "─", "│", "▲", "●"};
constexpr Marks kAsciiMarks = {" ", "=", "|", "^", "o"};

int cell_of(double ratio, const Axis& axis) {
  const double share = (ratio - axis.low) / (axis.high - axis.low);
  return std::clamp(static_cast<int>(std::floor(std::clamp(share, 0.0, 1.0) * kBarCells)), 0,
                    kBarCells - 1);
}

}  // namespace

std::string paint(const std::string& text, Colour colour, bool on) {
  if (!on || colour == Colour::none)
    return text;
  const char* code = colour == Colour::bold     ? "1"
                     : colour == Colour::red    ? "1;31"
                     : colour == Colour::green  ? "1;32"
                     : colour == Colour::yellow ? "1;33"
                                                : "1;35";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

Colour status_colour(const std::string& status) {
  const auto holds = [&status](const char* word) { return status.find(word) != std::string::npos; };
  if (holds("INCOMPLETE") || holds("ERROR") || holds("INTERRUPTED") || holds("n/a"))
    return Colour::magenta;
  if (holds("INCONCLUSIVE") || holds("typical run only"))
    return Colour::yellow;
  return holds("FAIL") ? Colour::red : holds("PASS") ? Colour::green : Colour::bold;
}

std::size_t fit_columns(Table& table, std::size_t width) {
  for (;;) {
    const std::vector<std::size_t> widths = column_widths(table);
    const std::size_t others = sum_of(widths) - widths[0];
    int rank = always;
    for (const Column& column : table.columns)
      rank = std::max(rank, column.rank);
    const std::size_t name = rank >= extra ? widths[0] : std::min(widths[0], kShortName);
    if (rank == always || others + name <= width)
      return width > others ? std::min(widths[0], width - others) : 1;
    leave_out(table, rank);
  }
}

std::string layout_table(const Table& table, bool color) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string out;
  const auto emit = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (c > 0)
        line.append(kGap, ' ');
      line += paint(pad(row[c].text, widths[c], table.columns[c].right), row[c].colour, color);
    }
    trim_right(line);
    out += line + "\n";
  };
  std::vector<Cell> header;
  header.reserve(table.columns.size());
  for (const Column& column : table.columns)
    header.push_back({column.title, Colour::bold});
  emit(header);
  for (const auto& row : table.rows)
    emit(row);
  return out;
}

Axis axis_for(const std::vector<Bar>& bars) {
  Axis axis{1, 1, false};
  for (const Bar& bar : bars) {
    for (const auto& figure : {bar.estimate, bar.lower, bar.upper, bar.cap}) {
      if (!figure)
        continue;
      axis.low = std::min(axis.low, *figure);
      axis.high = std::max(axis.high, *figure);
    }
    axis.valid = axis.valid || bar.lower || bar.upper || bar.estimate;
  }
  const double margin = std::max((axis.high - axis.low) * 0.05, 0.0005);
  axis.low = std::max(0.0, axis.low - margin);  // there are no ratios below
  axis.high += margin;
  axis.valid = axis.valid && std::isfinite(axis.high - axis.low);
  return axis;
}

std::string bar_text(const Bar& bar, const Axis& axis, bool unicode) {
  const Marks& marks = unicode ? kUnicodeMarks : kAsciiMarks;
  if (!axis.valid || (!bar.estimate && !bar.lower && !bar.upper))
    return fmt::format("[{:<20}]", "n/a");
  std::vector<const char*> cells(kBarCells, marks.empty);
  const auto put = [&](std::optional<double> ratio, const char* mark) {
    if (ratio)
      cells[static_cast<std::size_t>(cell_of(*ratio, axis))] = mark;
  };
  if (bar.lower && bar.upper) {
    const int from = cell_of(std::min(*bar.lower, *bar.upper), axis);
    const int to = cell_of(std::max(*bar.lower, *bar.upper), axis);
    for (int i = from; i <= to; ++i)
      cells[static_cast<std::size_t>(i)] = marks.line;
  }
  put(1.0, marks.one);
  put(bar.cap, marks.cap);
  put(bar.estimate, marks.estimate);
  std::string out = "[";
  for (const char* cell : cells)
    out += cell;
  out += "]";
  return out;
}

std::string bar_legend(const Axis& axis, bool any_cap, bool unicode) {
  if (!axis.valid)
    return "";
  const Marks& marks = unicode ? kUnicodeMarks : kAsciiMarks;
  return fmt::format(
      "Bar: ratio candidate/reference from {} to {}; {} estimate, {} interval, "
      "{} 1.0 (no change){}.",
      ratio_text(axis.low), ratio_text(axis.high), marks.estimate, marks.line, marks.one,
      any_cap ? fmt::format(", {} cap", marks.cap) : "");
}

}  // namespace assay::report
