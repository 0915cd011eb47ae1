// Small text helpers shared by the command line and the reports.
#pragma once

#include "assay/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Splits as a POSIX shell splits words (quotes, backslash), with no expansion of any kind.
// Newlines separate words as blanks do. Errors (invalid_argument) name the word and what is
// unbalanced; an empty command and a NUL byte are errors too.
Result<std::vector<std::string>> split_command(std::string_view command);
// The inverse: quotes each word only where it must.
std::string join_command(const std::vector<std::string>& argv);

// For terminals: control characters and invalid UTF-8 become visible escapes; never longer than
// `max_columns` code points (0 = unlimited), cut in the middle with "...".
std::string printable(std::string_view bytes, std::size_t max_columns = 0);

// Strict numbers: the whole text, no sign surprises, no NaN/Inf. `name` is used in the error.
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max,
                                   const std::string& name);
Result<double> parse_number(std::string_view text, double min, double max, const std::string& name);

}  // namespace assay
