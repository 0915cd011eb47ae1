// The meter: what the interposed functions tell, and from when to when it counts.
//
// States: undecided (until the environment is known; blocks are remembered), then either off, or
// before_entry -> in_scope -> ended. Every method is thread safe. A forked child is off.
#pragma once

#include "blocks.h"
#include "counters.h"

#include <atomic>
#include <cstddef>
#include <pthread.h>
#include <sys/types.h>

namespace assay::alloc {

enum class State { undecided, off, before_entry, in_scope, ended };

// A block that is in the hands of realloc: out of the table until the new one is known.
struct Taken {
  bool tracking = false;
  bool found = false;
  Block block = {};
};

class Meter {
 public:
  constexpr Meter() : blocks_(pages_) {}

  // Whether blocks are remembered: false most of the time in programs that nobody asked to profile.
  bool tracking() const {
    const State state = state_.load(std::memory_order_relaxed);
    return state != State::off && state != State::ended;
  }
  bool enabled() const {
    const State state = state_.load(std::memory_order_relaxed);
    return state != State::off && state != State::undecided;
  }

  // After a successful allocation.
  void allocated(void* block, std::size_t requested);
  // Of the bootstrap arena: never in the table.
  void bootstrap_allocated();
  void bootstrap_freed();
  // Before the block is given back: afterwards another thread may already own its address.
  void freeing(void* block);
  // Around realloc; `now` is its result for `requested` bytes.
  Taken take(void* block);
  void reallocated(const Taken& taken, void* old, void* now, std::size_t requested);

  // At load: whether this process is to be profiled.
  void decide(bool enabled);
  // main begins. main has returned: writes the record.
  void enter();
  void leave();

  // Memory for the meter's own records of threads.
  void* map_page(std::size_t bytes);

  void before_fork() { lock(); }
  void after_fork_in_parent() { unlock(); }
  void after_fork_in_child();

 private:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  void count_new(void* block, Sizes sizes);
  void count_freed(const Taken& taken);
  void put(void* address, const Block& block);

  std::atomic<State> state_ = State::undecided;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Pages pages_;
  Blocks blocks_;
  Counters counters_;
  pid_t process_ = 0;
};

extern Meter meter;

// threads.cpp. The number of threads beside this one that are still alive; -1 when it can't be
// told.
int other_threads();
void prepare_threads();

}  // namespace assay::alloc
