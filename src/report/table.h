// The terminal's table: columns that do not fit beside the others move to a further line of the
// row.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

enum class Colour { none, bold, red, green, yellow, magenta };
// `text` in colour, or unchanged when colour is off.
std::string paint(const std::string& text, Colour colour, bool on);
Colour status_colour(const std::string& status);

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

struct Column {
  std::string title;
  bool right = false;
  bool new_line = false;  // where a row is broken first when it does not fit on one line
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};
// Every line at most `width` cells, ends with LF. Cells must fit into `width` - 4 cells.
std::string layout_table(const Table& table, std::size_t width, bool color);

// A ratio axis shared by all rows of a report.
struct Axis {
  double low = 0, high = 0;
  bool valid = false;
};
struct Bar {
  std::optional<double> estimate, lower, upper, cap;
};
constexpr int kBarCells = 20;
// Covers every figure, 1.0 and the caps, with a margin; invalid without any finite interval.
Axis axis_for(const std::vector<Bar>& bars);
// "[" 20 cells "]"; the estimate hides a cap, the cap hides 1.0, 1.0 hides the interval.
std::string bar_text(const Bar& bar, const Axis& axis, bool unicode);
// What the marks mean and where the axis ends; "" without an axis.
std::string bar_legend(const Axis& axis, bool any_cap, bool unicode);

}  // namespace assay::report
