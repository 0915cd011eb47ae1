// The live blocks of the observed program: a hash table in memory of its own, straight from mmap.
//
// Not thread safe; its user holds a lock. Never calls an allocator. Constant initialised, because
// the first allocation of a program comes before any constructor.
#pragma once

#include "counters.h"

#include <cstddef>
#include <cstdint>

namespace assay::alloc {

// Pages from mmap, counted. A mapping that would pass `limit` fails, as one without memory does.
class Pages {
 public:
  constexpr explicit Pages(std::size_t limit = SIZE_MAX) : limit_(limit) {}
  // nullptr when there is no memory; errno is left alone.
  void* map(std::size_t bytes);
  void unmap(void* start, std::size_t bytes);
  Count peak() const { return peak_; }

 private:
  std::size_t limit_;
  std::size_t mapped_ = 0;
  std::size_t peak_ = 0;
};

struct Block {
  Sizes sizes;
  bool earlier = false;  // allocated before the scope began
};

// What happened to a block that was put into the table.
enum class Put { fresh, replaced, no_memory };

class Blocks {
 public:
  constexpr explicit Blocks(Pages& pages) : pages_(pages) {}

  Put put(const void* address, const Block& block);
  // Takes the block out; false when it is not there.
  bool take(const void* address, Block* block);
  std::size_t size() const { return used_; }
  // Gives all memory back.
  void clear();

 private:
  struct Slot {
    std::uintptr_t address;  // 0: free
    Count requested;
    Count usable_and_earlier;  // usable << 1 | earlier: no block is larger than half of memory
  };

  std::size_t home(std::uintptr_t address) const;
  bool grow();
  Slot* find(std::uintptr_t address) const;

  Pages& pages_;
  Slot* slots_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, or 0
  unsigned bits_ = 0;
  std::size_t used_ = 0;
};

}  // namespace assay::alloc
