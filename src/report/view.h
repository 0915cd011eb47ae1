// Total access to a report value, and the few ways in which figures and names are written.
//
// Every renderer goes through these: an absent, null, mistyped or non-finite member is an empty
// optional here, so that no report, however damaged, can crash a renderer or print nan.
#pragma once

#include "assay/base/json.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

using Path = std::initializer_list<const char*>;

// A null value when any step of the path is missing.
const Json& at(const Json& value, Path path);
std::optional<double> number_at(const Json& value, Path path);
std::optional<std::int64_t> integer_at(const Json& value, Path path);
std::optional<bool> flag_at(const Json& value, Path path);
// Valid UTF-8, otherwise raw: pass it through a safe_* function before it is shown. "" when absent.
std::string text_at(const Json& value, Path path);
// An empty array when the member is no array.
const Json& array_at(const Json& value, Path path);
// The text members of an array, in order.
std::vector<std::string> texts_at(const Json& value, Path path);

// How many terminal cells the text takes: combining marks none, wide characters two.
std::size_t display_width(std::string_view utf8);
// Hostile names made harmless: control bytes, bidirectional controls, invisible characters and
// invalid UTF-8 become visible escapes; `ascii` also escapes everything beyond ASCII. At most
// `max_width` cells (0 = unlimited), cut in the middle.
std::string safe_text(std::string_view bytes, std::size_t max_width = 0, bool ascii = false);

// "n/a" when there is no figure.
std::string ratio_text(std::optional<double> ratio);
std::string interval_text(std::optional<double> lower, std::optional<double> upper);
// "t p = 0.012", "t p < 0.0001", "t p n/a".
std::string p_clause(const char* name, std::optional<double> p);
// A share 0..1 in percent without needless digits: "95 %", "98.18 %".
// A probability or an estimated share in two significant digits: "62 %", "< 0.1 %", "> 99 %".
std::string probability_text(std::optional<double> probability);
std::string share_text(std::optional<double> share);
// Plain figure with at most `decimals` digits after the point, trailing zeros dropped.
std::string plain_number(std::optional<double> value, int decimals);
std::string count_text(std::optional<std::int64_t> count);
std::string bytes_text(std::optional<double> bytes);

// Chosen by the size of a time unless the user named one.
struct TimeUnit {
  double ns = 1e6;
  const char* suffix = "ms";
};
TimeUnit time_unit(const std::string& name, std::optional<double> typical_ns);
std::string time_text(std::optional<double> ns, const TimeUnit& unit);

// Wraps at spaces to `width` cells; longer words are split. The first line starts with `first`
// (its width given, so that it may hold colour), the others with `indent` spaces. Ends with LF.
struct Wrapping {
  std::string first;
  std::size_t first_width = 0;
  std::size_t indent = 0;
  std::size_t width = 100;
};
std::string wrap(std::string_view text, const Wrapping& wrapping);

}  // namespace assay::report
