#include "view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace assay::report {
namespace {

const Json& null_json() {
  static const Json value;
  return value;
}

// Beyond this a figure is written with an exponent, so that no cell grows without bound.
constexpr double kLargeFigure = 1e7;

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value))
    return "n/a";
  if (std::fabs(value) >= kLargeFigure)
    return fmt::format("{:.3e}", value);
  std::string out = fmt::format("{:.{}f}", value, decimals);
  // "-0.00" would claim a sign that the figure does not have.
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos)
    out.erase(0, 1);
  return out;
}

}  // namespace

const Json& at(const Json& value, Path path) {
  const Json* here = &value;
  for (const char* key : path) {
    if (!here->is_object())
      return null_json();
    const auto found = here->find(key);
    if (found == here->end())
      return null_json();
    here = &*found;
  }
  return *here;
}

std::optional<double> number_at(const Json& value, Path path) {
  const Json& member = at(value, path);
  if (!member.is_number())
    return std::nullopt;
  const double number = member.get<double>();
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::optional<std::int64_t> integer_at(const Json& value, Path path) {
  const Json& member = at(value, path);
  if (member.is_number_unsigned() && member.get<std::uint64_t>() > INT64_MAX)
    return std::nullopt;
  return member.is_number_integer() ? std::optional<std::int64_t>(member.get<std::int64_t>())
                                    : std::nullopt;
}

std::optional<bool> flag_at(const Json& value, Path path) {
  const Json& member = at(value, path);
  return member.is_boolean() ? std::optional<bool>(member.get<bool>()) : std::nullopt;
}

std::string text_at(const Json& value, Path path) {
  const Json& member = at(value, path);
  return member.is_string() ? sanitize_utf8(member.get_ref<const std::string&>()) : std::string();
}

const Json& array_at(const Json& value, Path path) {
  static const Json empty = Json::array();
  const Json& member = at(value, path);
  return member.is_array() ? member : empty;
}

std::vector<std::string> texts_at(const Json& value, Path path) {
  std::vector<std::string> out;
  for (const Json& item : array_at(value, path))
    if (item.is_string())
      out.push_back(sanitize_utf8(item.get_ref<const std::string&>()));
  return out;
}

std::string ratio_text(std::optional<double> ratio) {
  if (!ratio)
    return "n/a";
  return fixed(*ratio, std::fabs(*ratio) >= 1000 ? 1 : std::fabs(*ratio) >= 100 ? 2 : 4);
}

std::string interval_text(std::optional<double> lower, std::optional<double> upper) {
  if (!lower && !upper)
    return "n/a";
  return fmt::format("[{}, {}]", ratio_text(lower), ratio_text(upper));
}

std::string p_clause(const char* name, std::optional<double> p) {
  if (!p || *p < 0 || *p > 1)
    return fmt::format("{} n/a", name);
  if (*p < 0.0001)
    return fmt::format("{} < 0.0001", name);
  return fmt::format("{} = {:.2g}", name, *p);
}

std::string plain_number(std::optional<double> value, int decimals) {
  if (!value)
    return "n/a";
  std::string out = fixed(*value, decimals);
  if (out.find('e') == std::string::npos && out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.')
      out.pop_back();
  }
  return out;
}

std::string share_text(std::optional<double> share) {
  if (!share || *share < 0 || *share > 1)
    return "n/a";
  return plain_number(*share * 100, 2) + " %";
}

std::string probability_text(std::optional<double> probability) {
  if (!probability || *probability < 0 || *probability > 1)
    return "n/a";
  if (*probability > 0 && *probability < 0.001)
    return "< 0.1 %";
  if (*probability < 1 && *probability >= 0.995)
    return "> 99 %";
  return *probability == 1 ? "100 %" : fmt::format("{:.2g} %", *probability * 100);
}

std::string count_text(std::optional<std::int64_t> count) {
  return count ? std::to_string(*count) : "n/a";
}

std::string bytes_text(std::optional<double> bytes) {
  if (!bytes)
    return "n/a";
  if (*bytes >= 1073741824.0)
    return fixed(*bytes / 1073741824.0, 2) + " GiB";
  if (*bytes >= 1048576.0)
    return fixed(*bytes / 1048576.0, 1) + " MiB";
  return fixed(*bytes / 1024.0, 0) + " KiB";
}

TimeUnit time_unit(const std::string& name, std::optional<double> typical_ns) {
  const TimeUnit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  const char* const names[] = {"nanosecond", "microsecond", "millisecond", "second"};
  for (std::size_t i = 0; i < 4; ++i)
    if (name == names[i])
      return units[i];
  const double size = typical_ns ? std::fabs(*typical_ns) : 1e6;
  return size < 1e3 ? units[0] : size < 1e6 ? units[1] : size < 1e9 ? units[2] : units[3];
}

std::string time_text(std::optional<double> ns, const TimeUnit& unit) {
  if (!ns)
    return "n/a";
  const double value = *ns / unit.ns;
  const double size = std::fabs(value);
  int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  if (unit.ns == 1)
    decimals = 0;
  return fixed(value, decimals) + " " + unit.suffix;
}

}  // namespace assay::report
