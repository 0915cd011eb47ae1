#include "real.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::alloc {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 10U;
constexpr std::size_t kAlignment = 16;

enum class Lookup { none, running, done };

// Written before the program can have a second thread: the first allocation is the loader's.
Real functions = {};
Lookup lookup = Lookup::none;
alignas(kAlignment) unsigned char arena[kArenaBytes];
std::size_t arena_used = 0;

// The object that an address belongs to; nullptr for none.
const void* object_of(const void* address) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

template <typename Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(next_function(name));
}

void find_all() {
  find(functions.malloc, "malloc");
  find(functions.calloc, "calloc");
  find(functions.realloc, "realloc");
  find(functions.free, "free");
  find(functions.aligned_alloc, "aligned_alloc");
  find(functions.memalign, "memalign");
  find(functions.posix_memalign, "posix_memalign");
  find(functions.valloc, "valloc");
  find(functions.pvalloc, "pvalloc");
  find(functions.malloc_usable_size, "malloc_usable_size");
}

}  // namespace

void* next_function(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr)
    return found;
  // Not stdio: it allocates.
  constexpr char kText[] = "libassay_alloc: no such function: ";
  (void)syscall(SYS_write, STDERR_FILENO, kText, sizeof kText - 1);
  (void)syscall(SYS_write, STDERR_FILENO, name, std::strlen(name));
  (void)syscall(SYS_write, STDERR_FILENO, "\n", 1);
  std::abort();
}

const Real* real() {
  if (lookup == Lookup::done) [[likely]]
    return &functions;
  if (lookup == Lookup::running)
    return nullptr;
  lookup = Lookup::running;
  find_all();
  lookup = Lookup::done;
  return &functions;
}

bool usable_size_is_known() {
  const void* owner = object_of(reinterpret_cast<const void*>(functions.malloc));
  return owner != nullptr &&
         owner == object_of(reinterpret_cast<const void*>(functions.malloc_usable_size));
}

bool program_has_own_malloc() {
  // Our own malloc by name would be the first one of the program, which is the question.
  return object_of(dlsym(RTLD_DEFAULT, "malloc")) != object_of(arena);
}

void* bootstrap_allocate(std::size_t size) {
  // A header of one alignment unit holds the size.
  const std::size_t room = sizeof arena - arena_used;
  if (room < kAlignment || size > room - kAlignment) {
    errno = ENOMEM;
    return nullptr;
  }
  unsigned char* header = arena + arena_used;
  std::memcpy(header, &size, sizeof size);
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  arena_used += kAlignment + rounded;
  return header + kAlignment;
}

bool is_bootstrap(const void* block) {
  const auto* address = static_cast<const unsigned char*>(block);
  return address >= arena && address < arena + sizeof arena;
}

std::size_t bootstrap_size(const void* block) {
  std::size_t size = 0;
  std::memcpy(&size, static_cast<const unsigned char*>(block) - kAlignment, sizeof size);
  return size;
}

}  // namespace assay::alloc
