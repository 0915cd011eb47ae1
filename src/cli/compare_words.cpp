#include "compare_words.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <utility>

namespace assay::cli {

// CLI11 takes "-i=3" for a flag named "=", and "[ -f x ]" for a list of two values.
std::vector<std::string> adapted(const std::vector<std::string>& args) {
  std::vector<std::string> out;
  for (std::string word : args) {
    if (word.rfind("-i=", 0) == 0)
      word.replace(0, 2, "--ignore-failure");
    if (word.size() > 1 && word.front() == '[' && word.back() == ']')
      word += ' ';
    out.push_back(std::move(word));
  }
  return out;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',')
      values.back() += text[++i];
    else if (text[i] == ',')
      values.emplace_back();
    else
      values.back() += text[i];
  }
  return values;
}

Result<std::string> time_unit(const std::string& text) {
  static const std::vector<std::pair<std::string, std::string>> known = {
      {"ns", "nanosecond"}, {"us", "microsecond"}, {"ms", "millisecond"}, {"s", "second"}};
  if (text.empty())
    return text;
  for (const auto& [brief, unit] : known)
    if (text == brief || text == unit)
      return unit;
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is no unit: use nanosecond, microsecond, millisecond or second",
                          printable(text, 40)),
              "--time-unit");
}

}  // namespace assay::cli
