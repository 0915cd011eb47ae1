#include "parameters.h"

#include "assay/base/text.h"
#include "assay/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>

namespace assay::compare {
namespace {

constexpr std::size_t kMaxPoints = 1000;
constexpr std::size_t kMaxDecimals = 9;

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_char(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_name_start(name[0]) &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

// The identifier of "{NAME}" that opens at `at`, or "".
std::string_view reference_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '{')
    return {};
  std::size_t end = at + 1;
  while (end < text.size() && is_name_char(text[end]))
    ++end;
  if (end >= text.size() || text[end] != '}')
    return {};
  const std::string_view name = text.substr(at + 1, end - at - 1);
  return is_identifier(name) ? name : std::string_view{};
}

std::string known_names(const ParameterPoint& point) {
  std::string names;
  for (const auto& [name, value] : point)
    names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

Result<void> check_parameter(const std::string& name, const std::vector<std::string>& values) {
  if (!is_identifier(name))
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is no parameter name: use letters, digits and '_', not starting "
                            "with a digit",
                            printable(name, 80)),
                "parameter");
  if (values.empty())
    return fail(ErrorCode::invalid_argument, "has no value: give at least one",
                fmt::format("parameter {}", name));
  std::set<std::string> seen;
  for (const std::string& value : values) {
    if (value.find('\0') != std::string::npos)
      return fail(ErrorCode::invalid_argument, "a value holds a NUL byte",
                  fmt::format("parameter {}", name));
    if (!seen.insert(value).second)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("value '{}' is given twice: each value is measured once",
                              printable(value, 80)),
                  fmt::format("parameter {}", name));
  }
  return {};
}

// A decimal number as an integer count of 10^-decimals.
struct Decimal {
  std::int64_t digits = 0;
  std::size_t decimals = 0;
};

Result<Decimal> parse_decimal(const std::string& text, const std::string& name) {
  const std::string_view all = text;
  std::string_view rest = all;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (negative)
    rest.remove_prefix(1);
  Decimal out;
  bool point = false;
  bool any = false;
  for (const char c : rest) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || out.digits > INT64_C(1'000'000'000'000'000) ||
        out.decimals >= kMaxDecimals) {
      any = false;
      break;
    }
    any = true;
    out.digits = out.digits * 10 + (c - '0');
    out.decimals += point ? 1 : 0;
  }
  if (!any)
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is no number that can be scanned: use plain digits such as 4, "
                            "-1 or 0.25 (at most {} decimals)",
                            printable(text, 80), kMaxDecimals),
                name);
  out.digits = negative ? -out.digits : out.digits;
  return out;
}

bool rescale(Decimal& number, std::size_t decimals) {
  while (number.decimals < decimals) {
    if (number.digits > std::numeric_limits<std::int64_t>::max() / 20 ||
        number.digits < std::numeric_limits<std::int64_t>::min() / 20)
      return false;
    number.digits *= 10;
    ++number.decimals;
  }
  return true;
}

std::string decimal_text(std::int64_t digits, std::size_t decimals) {
  std::string text = std::to_string(digits < 0 ? -digits : digits);
  if (decimals > 0) {
    if (text.size() <= decimals)
      text.insert(0, decimals + 1 - text.size(), '0');
    text.insert(text.size() - decimals, ".");
  }
  return digits < 0 ? text.insert(0, 1, '-') : text;
}

}  // namespace

Result<std::vector<ParameterPoint>> parameter_points(const ParameterList& parameters) {
  std::vector<ParameterPoint> points(1);
  std::set<std::string> names;
  for (const auto& [name, values] : parameters) {
    ASSAY_TRY_VOID(check_parameter(name, values));
    if (!names.insert(name).second)
      return fail(ErrorCode::invalid_argument, "is defined twice",
                  fmt::format("parameter {}", name));
    if (points.size() * values.size() > kMaxPoints)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the lists make more than {} combinations: measure fewer at a time",
                              kMaxPoints),
                  fmt::format("parameter {}", name));
    std::vector<ParameterPoint> next;
    for (const ParameterPoint& point : points)
      for (const std::string& value : values) {
        ParameterPoint more = point;
        more[name] = value;
        next.push_back(std::move(more));
      }
    points = std::move(next);
  }
  return points;
}

Result<std::string> expand(const std::string& text, const ParameterPoint& point,
                           const std::string& where, std::set<std::string>& used) {
  if (point.empty())
    return text;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view escaped = text[i] == '{' ? reference_at(text, i + 1) : "";
    const std::size_t after = i + escaped.size() + 3;
    if (!escaped.empty() && after < text.size() && text[after] == '}') {
      out.append("{").append(escaped).append("}");
      i = after + 1;
      continue;
    }
    const std::string_view name = reference_at(text, i);
    const auto found = point.find(std::string(name));
    if (found != point.end()) {
      out += found->second;
      used.insert(found->first);
      i += name.size() + 2;
      continue;
    }
    // ${NAME} belongs to a shell.
    if (!name.empty() && (i == 0 || text[i - 1] != '$'))
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{{{0}}} is no parameter here (known: {1}): define it with "
                              "-L {0} a,b,c, or write {{{{{0}}}}} for the text itself",
                              name, known_names(point)),
                  where);
    out += text[i++];
  }
  return out;
}

Result<std::vector<std::string>> scan_values(const std::string& min, const std::string& max,
                                             const std::string& step) {
  ASSAY_TRY(Decimal low, parse_decimal(min, "--parameter-scan MIN"));
  ASSAY_TRY(Decimal high, parse_decimal(max, "--parameter-scan MAX"));
  ASSAY_TRY(Decimal delta, parse_decimal(step, "--parameter-step-size"));
  const std::size_t decimals = std::max({low.decimals, high.decimals, delta.decimals});
  if (!rescale(low, decimals) || !rescale(high, decimals) || !rescale(delta, decimals))
    return fail(ErrorCode::invalid_argument, "the numbers are too large to scan",
                "--parameter-scan");
  if (delta.digits <= 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' must be greater than 0", printable(step, 80)),
                "--parameter-step-size");
  if (high.digits < low.digits)
    return fail(ErrorCode::invalid_argument,
                fmt::format("the scan is empty: MIN {} is greater than MAX {}", min, max),
                "--parameter-scan");
  if ((high.digits - low.digits) / delta.digits >= static_cast<std::int64_t>(kMaxPoints))
    return fail(ErrorCode::invalid_argument,
                fmt::format("the scan has more than {} points: use a larger step", kMaxPoints),
                "--parameter-scan");
  std::vector<std::string> values;
  for (std::int64_t at = low.digits; at <= high.digits; at += delta.digits)
    values.push_back(decimal_text(at, decimals));
  return values;
}

}  // namespace assay::compare
