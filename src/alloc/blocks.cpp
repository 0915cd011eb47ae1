#include "blocks.h"

#include <cerrno>
#include <sys/mman.h>

namespace assay::alloc {
namespace {

constexpr unsigned kFirstBits = 12;
// Knuth's multiplicative hash: 2^64 / golden ratio (The Art of Computer Programming, 6.4).
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;

}  // namespace

void* Pages::map(std::size_t bytes) {
  if (bytes > limit_ - mapped_)
    return nullptr;
  const int saved = errno;
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved;
  if (start == MAP_FAILED)
    return nullptr;
  mapped_ += bytes;
  if (mapped_ > peak_)
    peak_ = mapped_;
  return start;
}

void Pages::unmap(void* start, std::size_t bytes) {
  const int saved = errno;
  munmap(start, bytes);
  errno = saved;
  mapped_ -= bytes;
}

std::size_t Blocks::home(std::uintptr_t address) const {
  return static_cast<std::size_t>((std::uint64_t{address} >> 4U) * kMultiplier >> (64U - bits_));
}

// The slot of the address, or the free one where it would go.
Blocks::Slot* Blocks::find(std::uintptr_t address) const {
  std::size_t at = home(address);
  while (slots_[at].address != 0 && slots_[at].address != address)
    at = (at + 1) & (capacity_ - 1);
  return &slots_[at];
}

bool Blocks::grow() {
  Slot* const old = slots_;
  const std::size_t old_capacity = capacity_;
  const unsigned bits = old == nullptr ? kFirstBits : bits_ + 1;
  void* start = pages_.map((std::size_t{1} << bits) * sizeof(Slot));
  if (start == nullptr)
    return false;
  slots_ = static_cast<Slot*>(start);
  bits_ = bits;
  capacity_ = std::size_t{1} << bits;
  if (old == nullptr)
    return true;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].address != 0)
      *find(old[i].address) = old[i];
  }
  pages_.unmap(old, old_capacity * sizeof(Slot));
  return true;
}

Put Blocks::put(const void* address, const Block& block) {
  // At most three quarters full: linear probing stays short.
  if (used_ + 1 > capacity_ - capacity_ / 4 && !grow())
    return Put::no_memory;
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  Slot* slot = find(key);
  const bool fresh = slot->address == 0;
  *slot = {key, block.sizes.requested, block.sizes.usable << 1U | (block.earlier ? 1U : 0U)};
  if (!fresh)
    return Put::replaced;
  ++used_;
  return Put::fresh;
}

bool Blocks::take(const void* address, Block* block) {
  if (used_ == 0)
    return false;
  Slot* slot = find(reinterpret_cast<std::uintptr_t>(address));
  if (slot->address == 0)
    return false;
  *block = {{slot->requested, slot->usable_and_earlier >> 1U},
            (slot->usable_and_earlier & 1U) != 0};
  --used_;
  // Closes the gap, so that no search stops at it: a later slot of the same run moves into it
  // unless that would put it before its home.
  const std::size_t mask = capacity_ - 1;
  auto gap = static_cast<std::size_t>(slot - slots_);
  for (std::size_t at = (gap + 1) & mask; slots_[at].address != 0; at = (at + 1) & mask) {
    const std::size_t distance_to_home = (at - home(slots_[at].address)) & mask;
    if (distance_to_home >= ((at - gap) & mask)) {
      slots_[gap] = slots_[at];
      gap = at;
    }
  }
  slots_[gap] = {};
  return true;
}

void Blocks::clear() {
  if (slots_ != nullptr)
    pages_.unmap(slots_, capacity_ * sizeof(Slot));
  slots_ = nullptr;
  capacity_ = 0;
  bits_ = 0;
  used_ = 0;
}

}  // namespace assay::alloc
