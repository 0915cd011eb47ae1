#include "json_limits.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "utf8.h"

namespace assay {
namespace {

void write_string(std::string_view text, std::string& out) {
  ASSAY_CHECK(is_valid_utf8(text), "a JSON string must be UTF-8: sanitise it at the boundary");
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out.push_back(c);
    }
  }
  out.push_back('"');
}

void write_value(const Json& value, std::string& out);

void write_array(const Json& array, std::string& out) {
  out.push_back('[');
  bool first = true;
  for (const Json& element : array) {
    if (!first)
      out.push_back(',');
    first = false;
    write_value(element, out);
  }
  out.push_back(']');
}

void write_object(const Json& object, std::string& out) {
  out.push_back('{');
  bool first = true;
  for (auto member = object.begin(); member != object.end(); ++member) {
    if (!first)
      out.push_back(',');
    first = false;
    write_string(member.key(), out);
    out.push_back(':');
    write_value(member.value(), out);
  }
  out.push_back('}');
}

void write_value(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::null:
      out += "null";
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      fmt::format_to(std::back_inserter(out), "{}", value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      ASSAY_CHECK(value.get<std::uint64_t>() <= kMaxJsonInteger,
                  "an integer above int64 must be written as a string");
      fmt::format_to(std::back_inserter(out), "{}", value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float:
      out += format_double(value.get<double>());
      return;
    case Json::value_t::string:
      write_string(value.get_ref<const std::string&>(), out);
      return;
    case Json::value_t::array:
      write_array(value, out);
      return;
    case Json::value_t::object:
      write_object(value, out);
      return;
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  ASSAY_CHECK(false, "not a JSON value");
}

tl::unexpected<Error> unwritable(const std::string& where, const std::string& pointer,
                                 std::string_view reason) {
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{}: {}", pointer.empty() ? "the document" : printable(pointer, 120), reason),
      where);
}

Result<void> check_value(const Json& value, const std::string& where, const std::string& pointer,
                         std::size_t enclosing) {
  if (value.is_structured() && enclosing >= kMaxJsonDepth)
    return unwritable(where, pointer, "more than 64 levels deep");
  if (value.is_string() && !is_valid_utf8(value.get_ref<const std::string&>()))
    return unwritable(where, pointer, "the text is not UTF-8");
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return unwritable(where, pointer, "the number is not finite");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMaxJsonInteger)
    return unwritable(where, pointer, "the integer does not fit 64 bits");
  if (value.is_binary() || value.is_discarded())
    return unwritable(where, pointer, "not a JSON value");
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      ASSAY_TRY_VOID(check_value(value[i], where, fmt::format("{}/{}", pointer, i), enclosing + 1));
  }
  if (value.is_object()) {
    for (auto member = value.begin(); member != value.end(); ++member) {
      if (!is_valid_utf8(member.key()))
        return unwritable(where, pointer, "a key is not UTF-8");
      ASSAY_TRY_VOID(
          check_value(member.value(), where, pointer + "/" + member.key(), enclosing + 1));
    }
  }
  return {};
}

}  // namespace

Result<std::string> try_canonical_json(const Json& value, const std::string& where) {
  ASSAY_TRY_VOID(check_value(value, where, "", 0));
  return canonical_json(value);
}

std::string canonical_json(const Json& value) {
  std::string out;
  write_value(value, out);
  return out;
}

// Number::toString of ECMAScript, which RFC 8785 adopts: `digits` d1..dk with value
// 0.d1..dk x 10^point.
std::string format_double(double value) {
  ASSAY_CHECK(std::isfinite(value), "JSON has no NaN and no infinity");
  if (value == 0)
    return "0";
  char buffer[40];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value),
                                     std::chars_format::scientific);
  ASSAY_CHECK(written.ec == std::errc(), "to_chars failed");
  const std::string_view scientific(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t e = scientific.find('e');
  std::string digits(1, scientific[0]);
  if (e > 1)
    digits += scientific.substr(2, e - 2);
  int exponent = 0;
  const char* exponent_begin = buffer + e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_begin, written.ptr, exponent);

  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;
  const std::string sign = value < 0 ? "-" : "";
  if (count <= point && point <= 21)
    return sign + digits + std::string(static_cast<std::size_t>(point - count), '0');
  if (0 < point && point <= 21)
    return sign + digits.insert(static_cast<std::size_t>(point), 1, '.');
  if (-6 < point && point <= 0)
    return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (count > 1)
    digits.insert(1, 1, '.');
  return fmt::format("{}{}e{:+}", sign, digits, exponent);
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Step step = utf8_step(bytes);
    if (!step.valid)
      return false;
    bytes.remove_prefix(step.length);
  }
  return true;
}

std::string sanitize_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = utf8_step(bytes);
    if (step.valid)
      out.append(bytes.substr(0, step.length));
    else
      out += "\xef\xbf\xbd";
    bytes.remove_prefix(step.length);
  }
  return out;
}

}  // namespace assay
