#include "assay/base/text.h"

#include "assay/base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "utf8.h"

namespace assay {
namespace {

constexpr std::string_view kBlanks = " \t\n";

bool is_blank(char c) {
  return kBlanks.find(c) != std::string_view::npos;
}

// One pass over a command line. Word numbers in errors count from 1, byte positions too.
class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> run() {
    if (text_.find('\0') != std::string_view::npos)
      return fail(ErrorCode::invalid_argument, "a command cannot hold a NUL byte");
    while (pos_ < text_.size()) {
      if (is_blank(text_[pos_])) {
        end_word();
        ++pos_;
        continue;
      }
      ASSAY_TRY_VOID(take_piece());
    }
    end_word();
    if (words_.empty())
      return fail(ErrorCode::invalid_argument, "the command is empty: name a program to run");
    return std::move(words_);
  }

 private:
  void end_word() {
    if (word_)
      words_.push_back(std::move(*word_));
    word_.reset();
  }

  std::string& word() {
    if (!word_)
      word_.emplace();
    return *word_;
  }

  Result<void> take_piece() {
    switch (text_[pos_]) {
      case '\'':
        return take_single_quoted();
      case '"':
        return take_double_quoted();
      case '\\':
        return take_escape();
      default:
        word().push_back(text_[pos_++]);
        return {};
    }
  }

  Result<void> take_single_quoted() {
    const std::size_t open = pos_;
    const std::size_t close = text_.find('\'', open + 1);
    if (close == std::string_view::npos)
      return unbalanced("single quote (')", open);
    word().append(text_.substr(open + 1, close - open - 1));
    pos_ = close + 1;
    return {};
  }

  Result<void> take_double_quoted() {
    const std::size_t open = pos_++;
    std::string& out = word();
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] == '\\' && pos_ + 1 < text_.size() && escapes_in_quotes(text_[pos_ + 1])) {
        if (text_[pos_ + 1] != '\n')
          out.push_back(text_[pos_ + 1]);
        pos_ += 2;
      } else {
        out.push_back(text_[pos_++]);
      }
    }
    if (pos_ >= text_.size())
      return unbalanced("double quote (\")", open);
    ++pos_;
    return {};
  }

  static bool escapes_in_quotes(char c) {
    return c == '"' || c == '\\' || c == '$' || c == '`' || c == '\n';
  }

  Result<void> take_escape() {
    if (pos_ + 1 >= text_.size())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("word {} ends in a backslash that escapes nothing: double it or "
                              "remove it",
                              words_.size() + 1));
    // Backslash-newline continues the line and starts no word.
    if (text_[pos_ + 1] != '\n')
      word().push_back(text_[pos_ + 1]);
    pos_ += 2;
    return {};
  }

  tl::unexpected<Error> unbalanced(std::string_view quote, std::size_t open) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("word {} has an unbalanced {} at byte {}: close it or escape it with a "
                            "backslash",
                            words_.size() + 1, quote, open + 1));
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

std::string quote_word(const std::string& word) {
  bool plain = !word.empty();
  for (const char c : word)
    plain = plain && needs_no_quotes(c);
  if (plain)
    return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted.push_back(c);
  }
  return quoted + "'";
}

// What a terminal may act on instead of showing: controls, line separators, bidi overrides.
bool is_hidden(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

std::string escape_hidden(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                      : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  }
}

// One shown unit: a code point (one column) or an escape (as many columns as characters).
struct Unit {
  std::string text;
  std::size_t columns;
};

std::vector<Unit> shown_units(std::string_view bytes) {
  std::vector<Unit> units;
  while (!bytes.empty()) {
    const Utf8Step step = utf8_step(bytes);
    std::string text;
    std::size_t columns = 1;
    if (!step.valid) {
      for (const char c : bytes.substr(0, step.length))
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      columns = text.size();
    } else if (is_hidden(step.code_point)) {
      text = escape_hidden(step.code_point);
      columns = text.size();
    } else {
      text = bytes.substr(0, step.length);
    }
    units.push_back({std::move(text), columns});
    bytes.remove_prefix(step.length);
  }
  return units;
}

std::string cut_middle(const std::vector<Unit>& units, std::size_t max_columns) {
  if (max_columns <= 3)
    return std::string(max_columns, '.');
  std::size_t head_room = (max_columns - 3 + 1) / 2;
  std::size_t tail_room = (max_columns - 3) / 2;
  std::string head;
  for (const Unit& unit : units) {
    if (unit.columns > head_room)
      break;
    head += unit.text;
    head_room -= unit.columns;
  }
  std::string tail;
  for (auto unit = units.rbegin(); unit != units.rend() && unit->columns <= tail_room; ++unit) {
    tail.insert(0, unit->text);
    tail_room -= unit->columns;
  }
  return head + "..." + tail;
}

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view command) {
  return WordSplitter(command).run();
}

std::string join_command(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty())
      line.push_back(' ');
    line += quote_word(word);
  }
  return line;
}

std::string printable(std::string_view bytes, std::size_t max_columns) {
  const std::vector<Unit> units = shown_units(bytes);
  std::size_t columns = 0;
  std::string whole;
  for (const Unit& unit : units) {
    columns += unit.columns;
    whole += unit.text;
  }
  if (max_columns == 0 || columns <= max_columns)
    return whole;
  return cut_middle(units, max_columns);
}

Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max,
                                   const std::string& name) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative_zero = value == 0 && text.substr(0, 1) == "-";
  if (text.empty() || error != std::errc() || stop != end || negative_zero || value < min ||
      value > max)
    return fail(ErrorCode::invalid_argument,
                fmt::format("expected a whole number from {} to {}, got '{}'", min, max,
                            printable(text, 60)),
                name);
  return value;
}

Result<double> parse_number(std::string_view text, double min, double max,
                            const std::string& name) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative_zero = value == 0 && text.substr(0, 1) == "-";
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(value) ||
      negative_zero || value < min || value > max)
    return fail(ErrorCode::invalid_argument,
                fmt::format("expected a number from {} to {}, got '{}'", format_double(min),
                            format_double(max), printable(text, 60)),
                name);
  return value;
}

}  // namespace assay
