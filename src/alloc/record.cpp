#include "record.h"

#include <cstring>

namespace assay::alloc {
namespace {

struct ReasonName {
  Reason reason;
  const char* name;
};
constexpr ReasonName kReasonNames[] = {
    {kOverflow, "overflow"},
    {kDuplicateRegistration, "duplicate_registration"},
    {kObserverMemory, "observer_memory"},
    {kUnknownFrees, "unknown_frees"},
    {kThreadsAlive, "threads_alive"},
    {kThreadsUnknown, "threads_unknown"},
    {kOtherAllocator, "other_allocator"},
    {kUsableSizeUnknown, "usable_size_unknown"},
    {kOverlappingScopes, "overlapping_scopes"},
};

class Writer {
 public:
  explicit Writer(char (&line)[kRecordBytes]) : line_(line) {}

  void text(const char* text) {
    const std::size_t length = std::strlen(text);
    if (length > kRecordBytes - size_)
      return;
    std::memcpy(line_ + size_, text, length);
    size_ += length;
  }
  void counter(const char* key, Count value) {
    char digits[21];
    char* at = digits + sizeof digits - 1;
    *at = 0;
    do {
      *--at = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    text(",\"");
    text(key);
    text("\":\"");
    text(at);
    text("\"");
  }
  std::size_t size() const { return size_; }

 private:
  char* line_;
  std::size_t size_ = 0;
};

void write_reasons(Writer& out, unsigned reasons) {
  out.text(",\"reasons\":[");
  const char* separator = "\"";
  for (const ReasonName& one : kReasonNames) {
    if ((reasons & one.reason) == 0)
      continue;
    out.text(separator);
    out.text(one.name);
    out.text("\"");
    separator = ",\"";
  }
  out.text("]");
}

}  // namespace

std::size_t format_record(const Counters& counters, unsigned reasons, Count peak_observer_bytes,
                          char (&line)[kRecordBytes]) {
  reasons |= counters.reasons();
  Writer out(line);
  out.text(
      "ASSAY_ALLOC_PROFILE {\"schema\":{\"name\":\"assay.alloc_profile\",\"major\":1,\"minor\":0}"
      ",\"coverage\":\"");
  const bool covered = (reasons & (kThreadsAlive | kThreadsUnknown)) == 0;
  out.text(covered ? "whole_heap" : "scope_not_covered");
  out.text("\",\"scope_end\":\"entry_return\",\"valid\":");
  out.text(reasons == 0 ? "true" : "false");
  write_reasons(out, reasons);
  out.counter("allocations", counters.blocks().total);
  out.counter("heap_frees", counters.heap_frees());
  out.counter("live_allocations", counters.blocks().live);
  out.counter("peak_live_allocations", counters.blocks().peak);
  out.counter("total_requested_bytes", counters.requested().total);
  out.counter("live_requested_bytes", counters.requested().live);
  out.counter("peak_live_requested_bytes", counters.requested().peak);
  out.counter("total_usable_bytes", counters.usable().total);
  out.counter("live_usable_bytes", counters.usable().live);
  out.counter("peak_live_usable_bytes", counters.usable().peak);
  out.counter("reallocations", counters.reallocations());
  out.counter("unknown_frees", counters.unknown_frees());
  out.counter("errors", counters.errors());
  out.counter("peak_observer_bytes", peak_observer_bytes);
  out.counter("allocations_before_entry", counters.allocations_before_entry());
  out.counter("frees_of_earlier_blocks", counters.frees_of_earlier_blocks());
  out.text("}\n");
  return out.size();
}

}  // namespace assay::alloc
