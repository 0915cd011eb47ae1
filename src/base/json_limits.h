// Bounds that the JSON reader and writer share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace assay {

inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr auto kMaxJsonInteger =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

}  // namespace assay
