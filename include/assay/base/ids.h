// Identifiers and clocks that end up in evidence.
#pragma once

#include "assay/base/units.h"

#include <cstdint>
#include <string>

namespace assay {

// Random lower-case UUIDv4 from getrandom(2).
std::string uuid_v4();
// A seed in 0..2^53-1 from getrandom(2).
std::int64_t random_seed();
// UTC now as YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ.
std::string utc_now();
// The same instant in basic form for names: YYYYMMDDThhmmssZ.
std::string utc_basic(const std::string& utc);
// CLOCK_MONOTONIC.
Nanoseconds monotonic_now();
// /proc/sys/kernel/random/boot_id, or "" where it cannot be read.
std::string boot_id();

}  // namespace assay
