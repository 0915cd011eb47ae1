// The allocator that the program would have used without the meter, and the arena that serves the
// few blocks which the search for it may need.
#pragma once

#include <cstddef>

namespace assay::alloc {

struct Real {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  std::size_t (*malloc_usable_size)(void*);
};

// nullptr while the functions are being looked up: use the bootstrap arena then.
const Real* real();
// A function of the next object that has it; ends the program when there is none.
void* next_function(const char* name);

// False when sizes of blocks come from another object than the blocks do.
bool usable_size_is_known();
// True when the program calls a malloc that stands before the meter's.
bool program_has_own_malloc();

// Zeroed, aligned to 16 bytes; nullptr when the arena is full. Never given back.
void* bootstrap_allocate(std::size_t size);
bool is_bootstrap(const void* block);
std::size_t bootstrap_size(const void* block);

}  // namespace assay::alloc
