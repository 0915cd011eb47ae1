// Allocation records: the one line on stderr in which a profiled program says what it allocated.
//
// Two kinds are read: the whole-heap record of libassay_alloc.so
// (docs/reference/allocation-profile.md) and the shared-header record that instrumented compilers
// emit. Pure functions of captured bytes. A record that is missing, doubled, invalid or unbalanced
// is an error that names the key: it never becomes a count of zero.
#pragma once

#include "assay/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace assay::suite {

// Counters of blocks are plain; those of bytes say so.
struct WholeHeapCounters {
  std::uint64_t allocations = 0;
  std::uint64_t heap_frees = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t peak_live_allocations = 0;
  std::uint64_t total_requested_bytes = 0;
  std::uint64_t live_requested_bytes = 0;
  std::uint64_t peak_live_requested_bytes = 0;
  std::uint64_t total_usable_bytes = 0;
  std::uint64_t live_usable_bytes = 0;
  std::uint64_t peak_live_usable_bytes = 0;
  std::uint64_t reallocations = 0;
  std::uint64_t unknown_frees = 0;
  std::uint64_t errors = 0;
  std::uint64_t peak_observer_bytes = 0;
  std::uint64_t allocations_before_entry = 0;
  std::uint64_t frees_of_earlier_blocks = 0;
};

struct SharedHeaderCounters {
  std::uint64_t allocations = 0;
  std::uint64_t heap_allocations = 0;
  std::uint64_t arena_allocations = 0;
  std::uint64_t heap_frees = 0;
  std::uint64_t arena_reclaims = 0;
  std::uint64_t total_data_bytes = 0;
  std::uint64_t total_header_bytes = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t peak_live_allocations = 0;
  std::uint64_t live_data_bytes = 0;
  std::uint64_t peak_live_data_bytes = 0;
  std::uint64_t live_header_bytes = 0;
  std::uint64_t retain_calls = 0;
  std::uint64_t release_calls = 0;
  std::uint64_t retain_ops = 0;
  std::uint64_t release_ops = 0;
  std::uint64_t unknown_frees = 0;
  std::uint64_t errors = 0;
  std::uint64_t peak_observer_bytes = 0;
};

struct AllocationProfile {
  std::variant<WholeHeapCounters, SharedHeaderCounters> counters;
  std::string other_stderr;  // stderr without the record's line
};

struct AllocationRules {
  // Nothing may be live when the entry point returns.
  bool require_zero_live = false;
  // What an empty program of the same language leaves live (the buffer of its stdout, say) may be
  // live all the same. Whole-heap records only; nullptr: nothing may.
  const WholeHeapCounters* baseline = nullptr;
  // Text beside the record is an error unless the program is known to write some.
  bool allow_other_stderr = false;
};

// `where` names the capture in errors. Errors: invalid_format.
Result<AllocationProfile> read_allocation_profile(std::string_view captured_stderr,
                                                  const AllocationRules& rules,
                                                  const std::string& where);

}  // namespace assay::suite
