// Stacks and contexts for CUDA threads, kept between launches. A fiber switch costs about as much
// as a function call; the only user of Boost.Context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stack_switch.h"

namespace redzone::device {

// A stack with a suspended context. The pool owns fibers.
struct Fiber {
  void* context = nullptr;   // its suspended state; null: not entered since the last reset
  std::byte* top = nullptr;  // of its stack
  StackBounds stack;
};

// Every stack has a guard page below it, so that an overflow faults. Stacks are mapped on first use
// and never unmapped.
class FiberPool {
 public:
  // Runs on every new fiber; must not return.
  using Entry = void (*)(void* argument);

  FiberPool(Entry entry, void* argument);
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  // Number of fibers that take() can still return.
  std::size_t available() const;
  // An idle fiber: parked, or new. Requires available() > 0. Aborts if memory is exhausted.
  Fiber* take();
  void park(Fiber* fiber) { idle_.push_back(fiber); }
  // Discards all suspended contexts: all fibers become idle and new.
  void reset();

  // Suspends `from` (which is running) and resumes `to`.
  void switch_to(Fiber* from, Fiber* to);

  const std::byte* begin() const { return base_; }
  const std::byte* end() const;

 private:
  void enter(Fiber* fiber);

  Entry entry_;
  void* argument_;
  std::byte* base_ = nullptr;
  std::vector<Fiber*> idle_;
  std::vector<Fiber*> all_;
};

}  // namespace redzone::device
