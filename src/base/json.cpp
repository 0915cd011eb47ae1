#include "assay/base/json.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "utf8.h"

namespace assay {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr auto kMaxInteger =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Feeds the lexer and tells how far it has read, which SAX events do not.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** seen_;
};

// Builds the document and refuses what nlohmann's own reader lets pass.
class StrictHandler {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) {
    // The lexer takes the signed path only for a minus sign, so a zero here was written "-0".
    return value == 0 ? refuse("negative zero is not allowed") : put(value);
  }
  bool number_unsigned(number_unsigned_t value) {
    if (value > kMaxInteger)
      return wide_integer(static_cast<double>(value), std::to_string(value));
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& token) {
    if (token.find_first_of(".eE") == string_t::npos)
      return wide_integer(value, token);
    if (!std::isfinite(value))
      return refuse("the number is not finite");
    if (value == 0 && std::signbit(value))
      return refuse("negative zero is not allowed");
    const std::string_view mantissa = std::string_view(token).substr(0, token.find_first_of("eE"));
    if (value == 0 && mantissa.find_first_of("123456789") != std::string_view::npos)
      return refuse("the number is too small for a double");
    return put(value);
  }
  bool string(string_t& value) { return put(std::move(value)); }
  bool binary(binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    Json& object = *stack_.back();
    if (object.contains(name))
      return refuse(fmt::format("duplicate key \"{}\"", printable(name, 60)));
    slot_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) {
    reason_ = readable(error, token);
    position_ = position;
    return false;
  }

  Json take() { return std::move(root_); }
  const std::string& reason() const { return reason_; }
  std::optional<std::size_t> position() const { return position_; }

 private:
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  // An integer token beyond int64 is fine only as the canonical spelling of a double ("1" and
  // twenty zeros): anything else would lose digits silently.
  bool wide_integer(double value, const std::string& token) {
    if (std::isfinite(value) && format_double(value) == token)
      return put(value);
    return refuse(fmt::format("the integer {} does not fit 64 bits", printable(token, 60)));
  }

  Json* place(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (stack_.back()->is_array()) {
      stack_.back()->push_back(std::move(value));
      return &stack_.back()->back();
    }
    *slot_ = std::move(value);
    return slot_;
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (stack_.size() >= kMaxDepth)
      return refuse(fmt::format("more than {} levels deep", kMaxDepth));
    stack_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  // nlohmann's text is "[json.exception...] parse error at line L, column C: REASON".
  static std::string readable(const Json::exception& error, const std::string& token) {
    const std::string_view text = error.what();
    const std::size_t column = text.find("column ");
    const std::size_t colon =
        column == std::string_view::npos ? std::string_view::npos : text.find(": ", column);
    if (colon == std::string_view::npos)
      return fmt::format("{} at {}", printable(text), printable(token, 60));
    return printable(text.substr(colon + 2), 300);
  }

  Json root_;
  std::vector<Json*> stack_;
  Json* slot_ = nullptr;
  std::string reason_;
  std::optional<std::size_t> position_;
};

tl::unexpected<Error> bad_json(const std::string& where, std::size_t offset,
                               const std::string& reason) {
  return fail(ErrorCode::invalid_format, fmt::format("at byte {}: {}", offset, reason), where);
}

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
      ASSAY_CHECK(value.get<std::uint64_t>() <= kMaxInteger,
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
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: {}", pointer.empty() ? "the document" : printable(pointer, 120), reason),
              where);
}

Result<void> check_value(const Json& value, const std::string& where, const std::string& pointer,
                         std::size_t depth) {
  if (depth > kMaxDepth)
    return unwritable(where, pointer, "more than 64 levels deep");
  if (value.is_string() && !is_valid_utf8(value.get_ref<const std::string&>()))
    return unwritable(where, pointer, "the text is not UTF-8");
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return unwritable(where, pointer, "the number is not finite");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMaxInteger)
    return unwritable(where, pointer, "the integer does not fit 64 bits");
  if (value.is_binary() || value.is_discarded())
    return unwritable(where, pointer, "not a JSON value");
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      ASSAY_TRY_VOID(check_value(value[i], where, fmt::format("{}/{}", pointer, i), depth + 1));
  }
  if (value.is_object()) {
    for (auto member = value.begin(); member != value.end(); ++member) {
      if (!is_valid_utf8(member.key()))
        return unwritable(where, pointer, "a key is not UTF-8");
      ASSAY_TRY_VOID(check_value(member.value(), where, pointer + "/" + member.key(), depth + 1));
    }
  }
  return {};
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& where) {
  // The lexer would skip a byte order mark and take a NUL for the end of the text.
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    return bad_json(where, 0, "a byte order mark is not allowed");
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos)
    return bad_json(where, nul, "a NUL byte is not allowed");
  const char* seen = text.data();
  StrictHandler handler;
  try {
    const CountingIterator begin(text.data(), &seen);
    const CountingIterator end(text.data() + text.size(), &seen);
    if (Json::sax_parse(begin, end, &handler))
      return handler.take();
  } catch (const Json::exception& error) {
    return bad_json(where, static_cast<std::size_t>(seen - text.data()), error.what());
  }
  const std::size_t offset =
      handler.position().value_or(static_cast<std::size_t>(seen - text.data()));
  return bad_json(where, offset, handler.reason());
}

Result<Json> parse_canonical_json(std::string_view text, const std::string& where) {
  ASSAY_TRY(Json value, parse_json(text, where));
  const std::string canonical = canonical_json(value);
  if (canonical == text)
    return value;
  std::size_t offset = 0;
  while (offset < text.size() && offset < canonical.size() && text[offset] == canonical[offset])
    ++offset;
  return bad_json(where, offset,
                  "not in canonical form (keys sorted bytewise, no spaces, shortest numbers, only "
                  "the necessary escapes)");
}

Result<std::string> try_canonical_json(const Json& value, const std::string& where) {
  ASSAY_TRY_VOID(check_value(value, where, "", value.is_structured() ? 1 : 0));
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
