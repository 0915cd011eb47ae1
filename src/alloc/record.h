// The text of the record: one line, written without an allocation.
// Format: docs/reference/allocation-profile.md.
#pragma once

#include "counters.h"

#include <cstddef>

namespace assay::alloc {

// Fits every record; below PIPE_BUF, so that one write(2) to a pipe is never mixed with others.
inline constexpr std::size_t kRecordBytes = 2048;

// Fills `line`, final LF included, and returns its length.
std::size_t format_record(const Counters& counters, unsigned reasons, Count peak_observer_bytes,
                          char (&line)[kRecordBytes]);

}  // namespace assay::alloc
