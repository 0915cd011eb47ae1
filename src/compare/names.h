// Case names: short, readable, unique, safe as keys and table cells.
#pragma once

#include <string>
#include <vector>

namespace assay::compare {

// Valid UTF-8 with visible escapes for control characters, at most 64 bytes; longer names keep
// their beginning and end in "~" and eight digits of their SHA-256, so names that share 64 bytes
// differ.
std::string short_name(const std::string& raw);

// short_name() of each, made unique: a name met before gets "~" and eight digits of its SHA-256, or
// a number where even the raw names are equal.
std::vector<std::string> unique_names(const std::vector<std::string>& raw);

}  // namespace assay::compare
