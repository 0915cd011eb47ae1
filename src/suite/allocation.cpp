#include "assay/suite/allocation.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace assay::suite {
namespace {

constexpr std::string_view kWholeHeapPrefix = "ASSAY_ALLOC_PROFILE ";
constexpr std::string_view kSharedHeaderPrefix = "TURBO_ALLOC_PROFILE ";

template <typename Counters>
struct Field {
  const char* key;
  std::uint64_t Counters::*value;
};

using Heap = WholeHeapCounters;
constexpr std::array<Field<Heap>, 16> kHeapFields = {{
    {"allocations", &Heap::allocations},
    {"heap_frees", &Heap::heap_frees},
    {"live_allocations", &Heap::live_allocations},
    {"peak_live_allocations", &Heap::peak_live_allocations},
    {"total_requested_bytes", &Heap::total_requested_bytes},
    {"live_requested_bytes", &Heap::live_requested_bytes},
    {"peak_live_requested_bytes", &Heap::peak_live_requested_bytes},
    {"total_usable_bytes", &Heap::total_usable_bytes},
    {"live_usable_bytes", &Heap::live_usable_bytes},
    {"peak_live_usable_bytes", &Heap::peak_live_usable_bytes},
    {"reallocations", &Heap::reallocations},
    {"unknown_frees", &Heap::unknown_frees},
    {"errors", &Heap::errors},
    {"peak_observer_bytes", &Heap::peak_observer_bytes},
    {"allocations_before_entry", &Heap::allocations_before_entry},
    {"frees_of_earlier_blocks", &Heap::frees_of_earlier_blocks},
}};

using Shared = SharedHeaderCounters;
constexpr std::array<Field<Shared>, 19> kSharedFields = {{
    {"allocations", &Shared::allocations},
    {"heap_allocations", &Shared::heap_allocations},
    {"arena_allocations", &Shared::arena_allocations},
    {"heap_frees", &Shared::heap_frees},
    {"arena_reclaims", &Shared::arena_reclaims},
    {"total_data_bytes", &Shared::total_data_bytes},
    {"total_header_bytes", &Shared::total_header_bytes},
    {"live_allocations", &Shared::live_allocations},
    {"peak_live_allocations", &Shared::peak_live_allocations},
    {"live_data_bytes", &Shared::live_data_bytes},
    {"peak_live_data_bytes", &Shared::peak_live_data_bytes},
    {"live_header_bytes", &Shared::live_header_bytes},
    {"retain_calls", &Shared::retain_calls},
    {"release_calls", &Shared::release_calls},
    {"retain_ops", &Shared::retain_ops},
    {"release_ops", &Shared::release_ops},
    {"unknown_frees", &Shared::unknown_frees},
    {"errors", &Shared::errors},
    {"peak_observer_bytes", &Shared::peak_observer_bytes},
}};

// The line of the record and what else there was.
struct Found {
  bool whole_heap = false;
  std::string_view json;
  std::string other;
};

tl::unexpected<Error> bad(const std::string& where, std::string what) {
  return fail(ErrorCode::invalid_format, std::move(what), where);
}

bool holds_prefix(std::string_view text) {
  return text.find(kWholeHeapPrefix) != std::string_view::npos ||
         text.find(kSharedHeaderPrefix) != std::string_view::npos;
}

Result<Found> find_record(std::string_view text, const std::string& where) {
  std::optional<Found> found;
  std::string other;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool ended = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text = ended ? text.substr(end + 1) : std::string_view();
    const bool whole_heap = line.starts_with(kWholeHeapPrefix);
    if (!whole_heap && !line.starts_with(kSharedHeaderPrefix)) {
      if (holds_prefix(line))
        return bad(where,
                   "an allocation record stands in the middle of a line: " + printable(line, 120));
      other += line;
      other += ended ? "\n" : "";
      continue;
    }
    if (found)
      return bad(where, "more than one allocation record on stderr; exactly one is due");
    if (!ended)
      return bad(where, "the allocation record is cut off: its line has no end");
    found = Found{whole_heap, line.substr(kWholeHeapPrefix.size()), {}};
  }
  if (!found)
    return bad(where,
               "no allocation record on stderr: the entry point has not returned, or the program "
               "was not profiled");
  found->other = std::move(other);
  return std::move(*found);
}
static_assert(kWholeHeapPrefix.size() == kSharedHeaderPrefix.size());

// Reads one record and checks relations between its counters.
class Record {
 public:
  Record(const Json& json, const std::string& where) : reader_(json, where) {}
  ObjectReader& reader() { return reader_; }

  Result<void> text_is(const std::string& key, const std::string& wanted) {
    ASSAY_TRY(const std::string value, reader_.text(key));
    if (value != wanted)
      return tl::unexpected(reader_.error(key, "\"" + wanted + "\""));
    return {};
  }
  Result<void> is_true(const std::string& key) {
    ASSAY_TRY(const bool value, reader_.boolean(key));
    if (!value)
      return tl::unexpected(reader_.error(key, "true"));
    return {};
  }
  // A string of digits without leading zeros.
  Result<std::uint64_t> digits(const std::string& key) {
    ASSAY_TRY(const std::string value, reader_.text(key));
    std::uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [at, code] = std::from_chars(value.data(), end, number);
    if (code != std::errc() || at != end || (value.size() > 1 && value[0] == '0'))
      return tl::unexpected(
          reader_.error(key, "a string of digits from \"0\" to \"18446744073709551615\""));
    return number;
  }
  // An integer; 2^63 and more is refused with the JSON text, because it would lose digits there.
  Result<std::uint64_t> integer(const std::string& key) {
    ASSAY_TRY(const std::int64_t value, reader_.integer(key, 0, INT64_MAX));
    return static_cast<std::uint64_t>(value);
  }

 private:
  ObjectReader reader_;
};

// The relations that every honest record keeps: each names the keys that break it.
template <typename Counters, std::size_t N>
class Balance {
 public:
  Balance(const Counters& counters, const std::array<Field<Counters>, N>& fields,
          const std::string& where)
      : counters_(counters), fields_(fields), where_(where) {}

  using Key = std::uint64_t Counters::*;

  Result<void> zero(Key key) const {
    if (counters_.*key != 0)
      return broken(shown(key) + " must be 0");
    return {};
  }
  Result<void> at_most(Key small, Key large) const {
    if (counters_.*small > counters_.*large)
      return broken(shown(small) + " is more than " + shown(large));
    return {};
  }
  Result<void> rising(Key low, Key middle, Key high) const {
    ASSAY_TRY_VOID(at_most(low, middle));
    return at_most(middle, high);
  }
  // No sum here may pass 2^64 - 1.
  Result<void> sum(Key whole, const std::vector<Key>& parts) const {
    std::uint64_t total = 0;
    std::string text;
    bool fits = true;
    for (const Key part : parts) {
      fits = !__builtin_add_overflow(total, counters_.*part, &total) && fits;
      text += (text.empty() ? "" : " + ") + shown(part);
    }
    if (!fits || total != counters_.*whole)
      return broken(shown(whole) + " is not " + text);
    return {};
  }
  // Where there are none of the one, there are none of the other.
  Result<void> needs(Key key, Key cause) const {
    if (counters_.*key != 0 && counters_.*cause == 0)
      return broken(shown(key) + " without any of " + name(cause));
    return {};
  }

 private:
  std::string name(Key key) const {
    for (const Field<Counters>& field : fields_)
      if (field.value == key)
        return field.key;
    return {};
  }
  std::string shown(Key key) const { return fmt::format("{} ({})", name(key), counters_.*key); }
  tl::unexpected<Error> broken(const std::string& what) const {
    return bad(where_, "the allocation record does not balance: " + what);
  }

  const Counters& counters_;
  const std::array<Field<Counters>, N>& fields_;
  const std::string& where_;
};

Result<void> check_balance(const Heap& counters, const std::string& where) {
  const Balance balance(counters, kHeapFields, where);
  ASSAY_TRY_VOID(balance.zero(&Heap::errors));
  ASSAY_TRY_VOID(balance.zero(&Heap::unknown_frees));
  ASSAY_TRY_VOID(balance.sum(&Heap::allocations, {&Heap::heap_frees, &Heap::live_allocations}));
  ASSAY_TRY_VOID(
      balance.rising(&Heap::live_allocations, &Heap::peak_live_allocations, &Heap::allocations));
  ASSAY_TRY_VOID(balance.rising(&Heap::live_requested_bytes, &Heap::peak_live_requested_bytes,
                                &Heap::total_requested_bytes));
  ASSAY_TRY_VOID(balance.rising(&Heap::live_usable_bytes, &Heap::peak_live_usable_bytes,
                                &Heap::total_usable_bytes));
  // A block is usable to at least what was asked for. The totals add growth only, and a block can
  // grow within its usable size again and again: they have no such order.
  ASSAY_TRY_VOID(balance.at_most(&Heap::live_requested_bytes, &Heap::live_usable_bytes));
  ASSAY_TRY_VOID(balance.at_most(&Heap::peak_live_requested_bytes, &Heap::peak_live_usable_bytes));
  ASSAY_TRY_VOID(balance.at_most(&Heap::frees_of_earlier_blocks, &Heap::allocations_before_entry));
  ASSAY_TRY_VOID(balance.needs(&Heap::live_usable_bytes, &Heap::live_allocations));
  ASSAY_TRY_VOID(balance.needs(&Heap::total_usable_bytes, &Heap::allocations));
  ASSAY_TRY_VOID(balance.needs(&Heap::reallocations, &Heap::allocations));
  return balance.needs(&Heap::allocations, &Heap::peak_live_allocations);
}

Result<void> check_balance(const Shared& counters, const std::string& where) {
  const Balance balance(counters, kSharedFields, where);
  ASSAY_TRY_VOID(balance.zero(&Shared::errors));
  ASSAY_TRY_VOID(balance.zero(&Shared::unknown_frees));
  ASSAY_TRY_VOID(
      balance.sum(&Shared::allocations, {&Shared::heap_allocations, &Shared::arena_allocations}));
  ASSAY_TRY_VOID(balance.sum(&Shared::allocations, {&Shared::heap_frees, &Shared::arena_reclaims,
                                                    &Shared::live_allocations}));
  ASSAY_TRY_VOID(balance.at_most(&Shared::heap_frees, &Shared::heap_allocations));
  ASSAY_TRY_VOID(balance.at_most(&Shared::arena_reclaims, &Shared::arena_allocations));
  ASSAY_TRY_VOID(balance.rising(&Shared::live_allocations, &Shared::peak_live_allocations,
                                &Shared::allocations));
  ASSAY_TRY_VOID(balance.rising(&Shared::live_data_bytes, &Shared::peak_live_data_bytes,
                                &Shared::total_data_bytes));
  return balance.at_most(&Shared::live_header_bytes, &Shared::total_header_bytes);
}

tl::unexpected<Error> still_live(const char* key, std::uint64_t live, std::uint64_t allowed,
                                 const std::string& where) {
  return bad(where,
             fmt::format("{} is {} where at most {} may be live at the end", key, live, allowed));
}

template <typename Counters, std::size_t N>
Result<void> check_live(const Counters& counters, const std::array<Field<Counters>, N>& fields,
                        const Counters& allowed, const std::string& where) {
  for (const Field<Counters>& field : fields) {
    if (!std::string_view(field.key).starts_with("live_"))
      continue;
    if (counters.*field.value > allowed.*field.value)
      return still_live(field.key, counters.*field.value, allowed.*field.value, where);
  }
  return {};
}

// Our own record says why it is not valid; that reason is the error.
Result<void> check_validity(Record& record, const std::string& where) {
  ASSAY_TRY(const Json* reasons, record.reader().array("reasons"));
  std::string list;
  for (const Json& reason : *reasons) {
    if (!reason.is_string())
      return tl::unexpected(record.reader().error("reasons", "a list of words"));
    list += (list.empty() ? "" : ", ") + printable(reason.get<std::string>(), 60);
  }
  ASSAY_TRY(const bool valid, record.reader().boolean("valid"));
  if (valid != list.empty())
    return tl::unexpected(record.reader().error(
        "reasons", valid ? "an empty list in a valid record" : "a reason for \"valid\": false"));
  if (!valid)
    return bad(where, "the allocation record is not valid (/valid is false): " + list);
  return {};
}

Result<Heap> read_whole_heap(const Json& json, const std::string& where) {
  Record record(json, where);
  ASSAY_TRY(ObjectReader schema, record.reader().child("schema"));
  ASSAY_TRY(const std::string name, schema.text("name"));
  if (name != "assay.alloc_profile")
    return tl::unexpected(schema.error("name", "\"assay.alloc_profile\""));
  ASSAY_TRY_VOID(schema.integer("major", 1, 1));
  ASSAY_TRY_VOID(schema.integer("minor", 0, 0));
  ASSAY_TRY_VOID(schema.finish());
  ASSAY_TRY_VOID(check_validity(record, where));
  ASSAY_TRY_VOID(record.text_is("coverage", "whole_heap"));
  ASSAY_TRY_VOID(record.text_is("scope_end", "entry_return"));
  Heap counters;
  for (const Field<Heap>& field : kHeapFields) {
    ASSAY_TRY(counters.*field.value, record.digits(field.key));
  }
  ASSAY_TRY_VOID(record.reader().finish());
  ASSAY_TRY_VOID(check_balance(counters, where));
  return counters;
}

Result<Shared> read_shared_header(const Json& json, const std::string& where) {
  Record record(json, where);
  ASSAY_TRY_VOID(record.reader().integer("schema_version", 1, 1));
  ASSAY_TRY_VOID(record.text_is("coverage", "shared_header_arc"));
  ASSAY_TRY_VOID(record.text_is("scope_end", "entry_return"));
  ASSAY_TRY_VOID(record.is_true("valid"));
  Shared counters;
  for (const Field<Shared>& field : kSharedFields) {
    ASSAY_TRY(counters.*field.value, record.integer(field.key));
  }
  ASSAY_TRY_VOID(record.reader().finish());
  ASSAY_TRY_VOID(check_balance(counters, where));
  return counters;
}

}  // namespace

Result<AllocationProfile> read_allocation_profile(std::string_view captured_stderr,
                                                  const AllocationRules& rules,
                                                  const std::string& where) {
  ASSAY_TRY(Found found, find_record(captured_stderr, where));
  if (!found.other.empty() && !rules.allow_other_stderr)
    return bad(where,
               "stderr holds more than the allocation record: " + printable(found.other, 120));
  AllocationProfile profile;
  profile.other_stderr = std::move(found.other);
  ASSAY_TRY(const Json json, parse_json(found.json, where));
  if (found.whole_heap) {
    ASSAY_TRY(const Heap counters, read_whole_heap(json, where));
    const Heap none;
    if (rules.require_zero_live) {
      const Heap& allowed = rules.baseline == nullptr ? none : *rules.baseline;
      ASSAY_TRY_VOID(check_live(counters, kHeapFields, allowed, where));
    }
    profile.counters = counters;
  } else {
    ASSAY_TRY(const Shared counters, read_shared_header(json, where));
    if (rules.require_zero_live) {
      ASSAY_TRY_VOID(check_live(counters, kSharedFields, Shared{}, where));
    }
    profile.counters = counters;
  }
  return profile;
}

}  // namespace assay::suite
