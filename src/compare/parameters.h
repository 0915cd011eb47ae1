// Parameter lists and scans: {VAR} in commands, hooks and oracle paths.
#pragma once

#include "assay/base/result.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::compare {

using ParameterPoint = std::map<std::string, std::string>;
using ParameterList = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Every combination, the last parameter varying fastest; one empty point without parameters.
// Refuses names that are no identifiers, repeated names, empty or repeated values.
Result<std::vector<ParameterPoint>> parameter_points(const ParameterList& parameters);

// Replaces {VAR} by its value; {{VAR}} stands for a literal {VAR}. Without parameters the text is
// returned as it is. An unknown {VAR} is an error naming `where`; `used` collects the names met.
Result<std::string> expand(const std::string& text, const ParameterPoint& point,
                           const std::string& where, std::set<std::string>& used);

}  // namespace assay::compare
