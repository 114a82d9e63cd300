// Reports stack switches to AddressSanitizer, which would otherwise mistake the stack of a fiber
// for corruption of the main stack. No effect in a build without the sanitizer.
#pragma once

#include <cstddef>

#include "core/instrumented.h"

#ifdef REDZONE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace redzone {

// A stack as the sanitizer sees it. `bottom` is its lowest address; null for the thread's own stack
// until the thread leaves it for the first time.
struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

#ifdef REDZONE_ADDRESS_SANITIZER

// Call on the old stack, right before the switch. Stores a value in `kept`, which must outlive the
// switch; pass it to arrived_on_stack() when the old stack is resumed.
inline void leave_stack_for(const StackBounds& to, void** kept) {
  __sanitizer_start_switch_fiber(kept, to.bottom, to.bytes);
}

// Call first on the new stack. `kept`: the value that leave_stack_for() stored for it; null on a
// stack that was never used. `from` receives the stack that was left.
inline void arrived_on_stack(void* kept, StackBounds& from) {
  __sanitizer_finish_switch_fiber(kept, &from.bottom, &from.bytes);
}

// Discards the shadow state of frames that were abandoned on the stack.
inline void clear_stack(const StackBounds& stack) {
  __asan_unpoison_memory_region(stack.bottom, stack.bytes);
}

#else

inline void leave_stack_for(const StackBounds&, void**) {}
inline void arrived_on_stack(void*, StackBounds&) {}
inline void clear_stack(const StackBounds&) {}

#endif

}  // namespace redzone
