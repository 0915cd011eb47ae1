// The arithmetic of the allocation meter. Pure: no memory, no locks, no calls.
//
// A counter that would pass 2^64 - 1, or fall below 0, keeps its value and marks the whole as
// overflowed: a wrong number is never reported as a right one.
#pragma once

#include <cstdint>

namespace assay::alloc {

using Count = std::uint64_t;

// Why a record is not valid; a set of bits. Names: docs/reference/allocation-profile.md.
enum Reason : unsigned {
  kOverflow = 1U << 0U,
  kDuplicateRegistration = 1U << 1U,
  kObserverMemory = 1U << 2U,
  kUnknownFrees = 1U << 3U,
  kThreadsAlive = 1U << 4U,
  kThreadsUnknown = 1U << 5U,
  kOtherAllocator = 1U << 6U,
  kUsableSizeUnknown = 1U << 7U,
  kOverlappingScopes = 1U << 8U,
};

// One block: what the program asked for, and what it may use.
struct Sizes {
  Count requested = 0;
  Count usable = 0;
};

// Bytes or blocks: how many ever, how many now, how many at most at once.
struct Tally {
  Count total = 0;
  Count live = 0;
  Count peak = 0;
};

class Counters {
 public:
  void allocated(Sizes sizes) {
    grow(blocks_, 1);
    grow(requested_, sizes.requested);
    grow(usable_, sizes.usable);
  }
  void freed(Sizes sizes) {
    add(heap_frees_, 1);
    shrink(blocks_, 1);
    shrink(requested_, sizes.requested);
    shrink(usable_, sizes.usable);
  }
  // A block that was allocated in the scope has another size now. Only growth adds to the totals.
  void resized(Sizes old, Sizes now) {
    add(reallocations_, 1);
    change(requested_, old.requested, now.requested);
    change(usable_, old.usable, now.usable);
  }
  void allocated_before_entry() { add(allocations_before_entry_, 1); }
  void freed_earlier_block() { add(frees_of_earlier_blocks_, 1); }
  void unknown_free() {
    add(unknown_frees_, 1);
    reasons_ |= kUnknownFrees;
  }
  // The meter itself could not do its work.
  void error(Reason reason) {
    reasons_ |= reason;
    add(errors_, 1);
  }

  const Tally& blocks() const { return blocks_; }
  const Tally& requested() const { return requested_; }
  const Tally& usable() const { return usable_; }
  Count heap_frees() const { return heap_frees_; }
  Count reallocations() const { return reallocations_; }
  Count unknown_frees() const { return unknown_frees_; }
  Count errors() const { return errors_; }
  Count allocations_before_entry() const { return allocations_before_entry_; }
  Count frees_of_earlier_blocks() const { return frees_of_earlier_blocks_; }
  unsigned reasons() const { return reasons_; }

 private:
  void overflowed() {
    reasons_ |= kOverflow;
    if (errors_ != UINT64_MAX)
      ++errors_;
  }
  void add(Count& counter, Count amount) {
    if (__builtin_add_overflow(counter, amount, &amount))
      overflowed();
    else
      counter = amount;
  }
  void grow(Tally& tally, Count amount) {
    add(tally.total, amount);
    add(tally.live, amount);
    if (tally.live > tally.peak)
      tally.peak = tally.live;
  }
  void shrink(Tally& tally, Count amount) {
    if (tally.live < amount)
      overflowed();
    else
      tally.live -= amount;
  }
  void change(Tally& tally, Count old, Count now) {
    if (now >= old)
      grow(tally, now - old);
    else
      shrink(tally, old - now);
  }

  Tally blocks_;
  Tally requested_;
  Tally usable_;
  Count heap_frees_ = 0;
  Count reallocations_ = 0;
  Count unknown_frees_ = 0;
  Count errors_ = 0;
  Count allocations_before_entry_ = 0;
  Count frees_of_earlier_blocks_ = 0;
  unsigned reasons_ = 0;
};

}  // namespace assay::alloc
