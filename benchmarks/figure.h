// One layout for every figure of the benchmarks: what, value, and the goal beside it. Figures are
// for reading; no exit code depends on a time.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace assay::benchmarks {

inline constexpr std::string_view kNoGoal = "no target";

// `goal` as ">= 10", or kNoGoal.
inline void print_figure(std::string_view what, std::string_view value, std::string_view goal) {
  fmt::print("  {:<62}{:>18}   {}{}\n", what, value, goal == kNoGoal ? "" : "goal ", goal);
}

}  // namespace assay::benchmarks
