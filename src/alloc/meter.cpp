#include "meter.h"

#include "real.h"
#include "record.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::alloc {

constinit Meter meter;

namespace {

Sizes sizes_of(void* block, std::size_t requested) {
  return {requested, real()->malloc_usable_size(block)};
}

}  // namespace

void Meter::put(void* address, const Block& block) {
  switch (blocks_.put(address, block)) {
    case Put::fresh:
      break;
    case Put::replaced:
      counters_.error(kDuplicateRegistration);
      break;
    case Put::no_memory:
      counters_.error(kObserverMemory);
      break;
  }
}

void Meter::count_new(void* block, Sizes sizes) {
  const bool in_scope = state_.load(std::memory_order_relaxed) == State::in_scope;
  if (in_scope)
    counters_.allocated(sizes);
  else
    counters_.allocated_before_entry();
  put(block, {sizes, !in_scope});
}

void Meter::count_freed(const Taken& taken) {
  if (state_.load(std::memory_order_relaxed) != State::in_scope)
    return;
  if (!taken.found)
    counters_.unknown_free();
  else if (taken.block.earlier)
    counters_.freed_earlier_block();
  else
    counters_.freed(taken.block.sizes);
}

void Meter::allocated(void* block, std::size_t requested) {
  if (!tracking())
    return;
  const Sizes sizes = sizes_of(block, requested);
  lock();
  if (tracking())
    count_new(block, sizes);
  unlock();
}

void Meter::bootstrap_allocated() {
  lock();
  if (state_.load(std::memory_order_relaxed) != State::in_scope)
    counters_.allocated_before_entry();
  unlock();
}

void Meter::bootstrap_freed() {
  lock();
  if (state_.load(std::memory_order_relaxed) == State::in_scope)
    counters_.freed_earlier_block();
  unlock();
}

void Meter::freeing(void* block) {
  if (!tracking())
    return;
  lock();
  if (tracking()) {
    Taken taken;
    taken.found = blocks_.take(block, &taken.block);
    count_freed(taken);
  }
  unlock();
}

Taken Meter::take(void* block) {
  Taken taken;
  if (!tracking())
    return taken;
  lock();
  if (tracking()) {
    taken.tracking = true;
    taken.found = blocks_.take(block, &taken.block);
  }
  unlock();
  return taken;
}

void Meter::reallocated(const Taken& taken, void* old, void* now, std::size_t requested) {
  if (!taken.tracking)
    return;
  const Sizes sizes = now == nullptr ? Sizes{} : sizes_of(now, requested);
  lock();
  if (tracking()) {
    const bool in_scope = state_.load(std::memory_order_relaxed) == State::in_scope;
    if (now == nullptr && requested != 0) {  // failed: the old block is as it was
      if (taken.found)
        put(old, taken.block);
    } else if (now == nullptr) {
      count_freed(taken);
    } else if (taken.found && in_scope == !taken.block.earlier) {
      if (in_scope)
        counters_.resized(taken.block.sizes, sizes);
      put(now, {sizes, taken.block.earlier});
    } else {  // an earlier block becomes one of the scope, as an unknown one does
      count_freed(taken);
      count_new(now, sizes);
    }
  }
  unlock();
}

void Meter::decide(bool enabled) {
  lock();
  if (!enabled)
    blocks_.clear();
  state_.store(enabled ? State::before_entry : State::off, std::memory_order_relaxed);
  unlock();
  if (enabled)
    prepare_threads();
}

void Meter::enter() {
  lock();
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::before_entry) {
    process_ = getpid();
    state_.store(State::in_scope, std::memory_order_relaxed);
    if (!usable_size_is_known())
      counters_.error(kUsableSizeUnknown);
    if (program_has_own_malloc())
      counters_.error(kOtherAllocator);
  } else if (state == State::in_scope) {
    counters_.error(kOverlappingScopes);
  }
  unlock();
}

void Meter::leave() {
  // A child of clone or _Fork has run no handler, but is another process.
  if (state_.load(std::memory_order_relaxed) != State::in_scope || getpid() != process_)
    return;
  const int saved = errno;
  const int others = other_threads();
  lock();
  state_.store(State::ended, std::memory_order_relaxed);
  const Counters counters = counters_;
  const Count observer = pages_.peak();
  unlock();
  unsigned reasons = 0;
  if (others != 0)
    reasons = others > 0 ? kThreadsAlive : kThreadsUnknown;
  char line[kRecordBytes];
  const std::size_t size = format_record(counters, reasons, observer, line);
  // One write(2), past whatever the program may have put in the place of write().
  while (syscall(SYS_write, STDERR_FILENO, line, size) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void* Meter::map_page(std::size_t bytes) {
  lock();
  void* start = pages_.map(bytes);
  if (start == nullptr)
    counters_.error(kObserverMemory);
  unlock();
  return start;
}

void Meter::after_fork_in_child() {
  blocks_.clear();
  state_.store(State::off, std::memory_order_relaxed);
  unlock();
}

}  // namespace assay::alloc
