// The functions that stand before those of the C library. Each does what it did, and tells the
// meter.
//
// The C++ operators and strdup end in these, also those that are linked statically into a program.
#include "meter.h"
#include "real.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

#define ASSAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace assay::alloc {
namespace {

constexpr char kSwitch[] = "ASSAY_ALLOC_PROFILE=";

// Of a static block of the loader's: no call is needed to reach it.
__attribute__((tls_model("initial-exec"))) thread_local constinit int depth = 0;

// While the real allocator runs: what it calls by the public names is not the program's.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

void* from_bootstrap(std::size_t size) {
  void* block = bootstrap_allocate(size);
  if (block != nullptr)
    meter.bootstrap_allocated();
  return block;
}

// call(real functions) allocates `requested` bytes.
template <typename Call>
void* allocate(std::size_t requested, Call call) {
  const Real* functions = real();
  if (functions == nullptr)
    return from_bootstrap(requested);
  if (depth != 0)
    return call(*functions);
  void* block = nullptr;
  {
    const Inside inside;
    block = call(*functions);
  }
  if (block != nullptr)
    meter.allocated(block, requested);
  return block;
}

void* allocate_plain(std::size_t size) {
  return allocate(size, [size](const Real& real) { return real.malloc(size); });
}

void* move_from_bootstrap(void* old, std::size_t size) {
  void* block = allocate_plain(size);
  if (block == nullptr)
    return nullptr;
  const std::size_t had = bootstrap_size(old);
  std::memcpy(block, old, had < size ? had : size);
  meter.bootstrap_freed();
  return block;
}

void* reallocate(void* old, std::size_t size) {
  if (old == nullptr)
    return allocate_plain(size);
  const Real* functions = real();
  if (functions == nullptr || is_bootstrap(old))
    return move_from_bootstrap(old, size);
  if (depth != 0)
    return functions->realloc(old, size);
  const Taken taken = meter.take(old);
  void* block = nullptr;
  {
    const Inside inside;
    block = functions->realloc(old, size);
  }
  meter.reallocated(taken, old, block, size);
  return block;
}

// Runs once when the library is loaded, with the arguments that the loader gives to constructors.
__attribute__((constructor)) void loaded(int, char**, char** environment) {
  (void)real();
  bool enabled = false;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, kSwitch, sizeof kSwitch - 1) != 0)
      continue;
    char* value = *entry + sizeof kSwitch - 1;
    if (value[0] != '1' || value[1] != 0)
      continue;
    enabled = true;
    // The children of this program are not the observed process.
    value[0] = '0';
  }
  meter.decide(enabled);
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int observed_main(int count, char** arguments, char** environment) {
  meter.enter();
  const int code = program_main(count, arguments, environment);
  meter.leave();
  return code;
}

}  // namespace
}  // namespace assay::alloc

using namespace assay::alloc;

// The names of parameters are not those of the C library's headers.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)

ASSAY_EXPORT void* malloc(std::size_t size) noexcept {
  return allocate_plain(size);
}

ASSAY_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocate(bytes, [=](const Real& real) { return real.calloc(count, size); });
}

ASSAY_EXPORT void* realloc(void* old, std::size_t size) noexcept {
  return reallocate(old, size);
}

ASSAY_EXPORT void* reallocarray(void* old, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(old, bytes);
}

ASSAY_EXPORT void free(void* block) noexcept {
  if (block == nullptr)
    return;
  if (is_bootstrap(block)) {
    meter.bootstrap_freed();
    return;
  }
  // A block that the real allocator gave us exists, so the real functions are known.
  const Real* functions = real();
  if (functions == nullptr)
    return;
  if (depth == 0)
    meter.freeing(block);
  functions->free(block);
}

ASSAY_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return allocate(size, [=](const Real& real) { return real.aligned_alloc(alignment, size); });
}

ASSAY_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return allocate(size, [=](const Real& real) { return real.memalign(alignment, size); });
}

ASSAY_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  int error = ENOMEM;
  void* made = allocate(size, [&](const Real& real) {
    void* start = nullptr;
    error = real.posix_memalign(&start, alignment, size);
    return error == 0 ? start : nullptr;
  });
  if (made != nullptr)
    error = 0;
  if (error == 0)
    *block = made;
  return error;
}

ASSAY_EXPORT void* valloc(std::size_t size) noexcept {
  return allocate(size, [=](const Real& real) { return real.valloc(size); });
}

ASSAY_EXPORT void* pvalloc(std::size_t size) noexcept {
  return allocate(size, [=](const Real& real) { return real.pvalloc(size); });
}

ASSAY_EXPORT std::size_t malloc_usable_size(void* block) noexcept {
  if (block != nullptr && is_bootstrap(block))
    return bootstrap_size(block);
  const Real* functions = real();
  return functions == nullptr ? 0 : functions->malloc_usable_size(block);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the C library's name
ASSAY_EXPORT int __libc_start_main(Main main, int count, char** arguments, void (*init)(),
                                   void (*fini)(), void (*loader_fini)(), void* stack_end) {
  using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<StartMain>(next_function("__libc_start_main"));
  program_main = main;
  return start(observed_main, count, arguments, init, fini, loader_fini, stack_end);
}
