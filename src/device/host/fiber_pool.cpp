#include "device/host/fiber_pool.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "core/error.h"
#include "core/page.h"

namespace redzone::device {

namespace context = boost::context::detail;

namespace {

// CUDA allows a thread 512 KiB of local memory. Only pages that a kernel touches take memory.
constexpr std::size_t kStackBytes = 1024 * 1024;
constexpr std::size_t kSlotBytes = kStackBytes + kPageBytes;
// Limited by the maximum number of mappings in a process (65,530; two for each stack).
constexpr std::size_t kMostFibers = 16384;

// Data passed with a switch: the fiber that was left, and the entry of a new fiber.
struct Passage {
  Fiber* from;
  FiberPool::Entry entry;
  void* argument;
};

}  // namespace

FiberPool::FiberPool(Entry entry, void* argument) : entry_(entry), argument_(argument) {
  void* base = mmap(nullptr, kMostFibers * kSlotBytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RZ_CHECK(base != MAP_FAILED);
  base_ = static_cast<std::byte*>(base);
}

FiberPool::~FiberPool() {
  munmap(base_, kMostFibers * kSlotBytes);
  for (Fiber* fiber : all_) delete fiber;
}

const std::byte* FiberPool::end() const {
  return base_ + kMostFibers * kSlotBytes;
}

std::size_t FiberPool::available() const {
  return idle_.size() + kMostFibers - all_.size();
}

Fiber* FiberPool::take() {
  Fiber* fiber;
  if (!idle_.empty()) {
    fiber = idle_.back();
    idle_.pop_back();
  } else {
    RZ_CHECK(all_.size() < kMostFibers);
    std::byte* slot = base_ + all_.size() * kSlotBytes;
    RZ_CHECK(mprotect(slot + kPageBytes, kStackBytes, PROT_READ | PROT_WRITE) == 0);
    // Stacks start at different cache sets, because all of them are in use at once.
    const std::size_t color = (all_.size() % 16) * 256;
    fiber = new Fiber{nullptr, slot + kSlotBytes - color, {slot + kPageBytes, kStackBytes}};
    all_.push_back(fiber);
  }
  if (fiber->context == nullptr) enter(fiber);
  return fiber;
}

void FiberPool::enter(Fiber* fiber) {
  clear_stack(fiber->stack);
  fiber->context =
      context::make_fcontext(fiber->top, kStackBytes - kPageBytes, [](context::transfer_t t) {
        const Passage passage = *static_cast<Passage*>(t.data);
        arrived_on_stack(nullptr, passage.from->stack);
        passage.from->context = t.fctx;
        passage.entry(passage.argument);
      });
}

void FiberPool::reset() {
  idle_.clear();
  for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
    (*it)->context = nullptr;
    idle_.push_back(*it);
  }
}

void FiberPool::switch_to(Fiber* from, Fiber* to) {
  Passage passage{from, entry_, argument_};
  void* kept = nullptr;
  leave_stack_for(to->stack, &kept);
  const context::transfer_t t = context::jump_fcontext(to->context, &passage);
  Fiber* const left = static_cast<Passage*>(t.data)->from;
  arrived_on_stack(kept, left->stack);
  left->context = t.fctx;
}

}  // namespace redzone::device
