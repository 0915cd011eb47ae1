#include "assay/verdict/plan.h"

#include <array>

namespace assay::verdict {
namespace {

constexpr std::array<std::string_view, 2> kSides = {"reference", "candidate"};
constexpr std::array<std::string_view, 5> kPhases = {"warmup", "measurement", "profile", "capacity",
                                                     "churn"};

}  // namespace

std::string_view side_name(Side side) {
  return kSides.at(static_cast<std::size_t>(side));
}

std::string_view phase_name(Phase phase) {
  return kPhases.at(static_cast<std::size_t>(phase));
}

Result<Side> parse_side(std::string_view name) {
  for (std::size_t i = 0; i < kSides.size(); ++i)
    if (kSides.at(i) == name)
      return static_cast<Side>(i);
  return fail(ErrorCode::invalid_format,
              "unknown side '" + std::string(name) + "', expected reference or candidate");
}

Result<Phase> parse_phase(std::string_view name) {
  for (std::size_t i = 0; i < kPhases.size(); ++i)
    if (kPhases.at(i) == name)
      return static_cast<Phase>(i);
  return fail(ErrorCode::invalid_format,
              "unknown phase '" + std::string(name) +
                  "', expected warmup, measurement, profile, capacity or churn");
}

}  // namespace assay::verdict
