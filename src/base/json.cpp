#include "assay/base/json.h"

#include "json_limits.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace assay {
namespace {

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
    if (value > kMaxJsonInteger)
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
    constexpr int kNumberOverflow = 406;
    const bool overflow = error.id == kNumberOverflow;
    reason_ = overflow
                  ? fmt::format("the number {} is too large for a double", printable(token, 60))
                  : readable(error, token);
    // The lexer stands behind a number that it has read.
    position_ = overflow && position >= token.size() ? position - token.size() : position;
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
    if (stack_.size() >= kMaxJsonDepth)
      return refuse(fmt::format("more than {} levels deep", kMaxJsonDepth));
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
      return fmt::format("not valid JSON at {}", printable(token, 60));
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
  } catch (const Json::exception&) {
    return bad_json(where, static_cast<std::size_t>(seen - text.data()), "not valid JSON");
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

}  // namespace assay
