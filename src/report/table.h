// The terminal's table: a row is one line, and columns that do not fit are left out.
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

// The higher, the sooner a column is left out; `always` never is, and from `extra` on a column goes
// before a name is shortened.
enum Rank { always = 0, extra = 5 };

struct Column {
  std::string title;
  bool right = false;
  int rank = always;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};
// Leaves out columns until a row fits into `width` cells, the first column being shortened to no
// less than kShortName cells for it. Returns the cells that the first column then may take.
constexpr std::size_t kShortName = 16;
std::size_t fit_columns(Table& table, std::size_t width);
// One line per row, each ending with LF.
std::string layout_table(const Table& table, bool color);

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
