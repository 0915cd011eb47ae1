// Threads are counted, because a record that is taken while one still runs has not seen its end.
//
// pthread_create is interposed for an exact count. What comes into being without it (clone,
// thrd_create, the C library's own helpers) is seen in /proc/self/task.
#include "meter.h"
#include "real.h"

#include <climits>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::alloc {
namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// What a new thread is to run, until it has read it.
struct Start {
  void* (*function)(void*);
  void* argument;
  Start* next;
};

constexpr std::size_t kPoolBytes = 4096;
// A joined thread may stay in /proc/self/task for a moment after pthread_join, longer on a busy
// machine: five seconds.
constexpr int kPatience = 5000;
constexpr std::int64_t kPauseNs = 1'000'000;

constinit std::atomic<int> alive = 0;
constinit pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
Start* pool = nullptr;
pthread_key_t key = 0;
bool have_key = false;
constinit std::atomic<Create> real_create = nullptr;

Start* new_start() {
  pthread_mutex_lock(&pool_mutex);
  if (pool == nullptr) {
    auto* starts = static_cast<Start*>(meter.map_page(kPoolBytes));
    for (std::size_t i = 0; starts != nullptr && i < kPoolBytes / sizeof(Start); ++i) {
      starts[i].next = pool;
      pool = &starts[i];
    }
  }
  Start* start = pool;
  if (start != nullptr)
    pool = start->next;
  pthread_mutex_unlock(&pool_mutex);
  return start;
}

void give_back(Start* start) {
  pthread_mutex_lock(&pool_mutex);
  start->next = pool;
  pool = start;
  pthread_mutex_unlock(&pool_mutex);
}

// The value counts down the rounds of destructors, so that this one is done in the last round: what
// other destructors free is freed by a thread that is still alive.
void thread_ends(void* value) {
  const auto rounds = reinterpret_cast<std::uintptr_t>(value);
  if (rounds > 1)
    pthread_setspecific(key, reinterpret_cast<void*>(rounds - 1));
  else
    alive.fetch_sub(1);
}

extern "C" void* assay_alloc_thread(void* pointer) {
  auto* start = static_cast<Start*>(pointer);
  const Start copy = *start;
  give_back(start);
  // Never counted down if this fails: the record then says that a thread is alive.
  pthread_setspecific(key, reinterpret_cast<void*>(std::uintptr_t{PTHREAD_DESTRUCTOR_ITERATIONS}));
  return copy.function(copy.argument);
}

// Of this process, the caller's included; -1 without /proc. opendir would allocate.
int tasks() {
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return -1;
  int count = 0;
  alignas(8) char entries[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (got <= 0) {
      close(folder);
      return got < 0 ? -1 : count;
    }
    // struct linux_dirent64: inode 8 bytes, offset 8, length of the entry 2, type 1, name.
    for (long at = 0; at < got;) {
      unsigned short length = 0;
      std::memcpy(&length, entries + at + 16, sizeof length);
      count += entries[at + 19] != '.' ? 1 : 0;
      at += length;
    }
  }
}

void before_fork() {
  pthread_mutex_lock(&pool_mutex);
  meter.before_fork();
}
void after_fork_in_parent() {
  meter.after_fork_in_parent();
  pthread_mutex_unlock(&pool_mutex);
}
void after_fork_in_child() {
  meter.after_fork_in_child();
  pthread_mutex_unlock(&pool_mutex);
}

}  // namespace

void prepare_threads() {
  have_key = pthread_key_create(&key, thread_ends) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int other_threads() {
  const int counted = alive.load();
  if (counted != 0 || !have_key)
    return counted != 0 ? counted : -1;
  for (int round = 0;; ++round) {
    const int all = tasks();
    if (all <= 1 || round == kPatience)
      return all < 1 ? -1 : all - 1;
    const timespec pause = {0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace assay::alloc

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the header's are reserved
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
    void* argument) noexcept {
  using namespace assay::alloc;
  Create create = real_create.load(std::memory_order_relaxed);
  if (create == nullptr) {
    create = reinterpret_cast<Create>(next_function("pthread_create"));
    real_create.store(create, std::memory_order_relaxed);
  }
  Start* start = meter.enabled() && have_key ? new_start() : nullptr;
  if (start == nullptr)
    return create(thread, attributes, function, argument);
  start->function = function;
  start->argument = argument;
  alive.fetch_add(1);
  const int error = create(thread, attributes, assay_alloc_thread, start);
  if (error != 0) {
    alive.fetch_sub(1);
    give_back(start);
  }
  return error;
}
