// Tells AddressSanitizer which stack the process runs on. Without that it takes the stack of a
// fiber for damage of the main one. Nothing in a build without it.
#pragma once

#include <cstddef>

#include "core/instrumented.h"

#ifdef REDZONE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace redzone {

// A stack as the sanitizer knows it. `bottom` is its lowest address; null for that of the thread,
// until it is left for the first time.
struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

#ifdef REDZONE_ADDRESS_SANITIZER

// On the stack that is left, right before the switch; `kept` outlives the switch, and is given to
// arrived_on_stack() when this stack is resumed.
inline void leave_stack_for(const StackBounds& to, void** kept) {
  __sanitizer_start_switch_fiber(kept, to.bottom, to.bytes);
}

// On the stack that was switched to, first of all. `kept`: what leave_stack_for() kept for it; null
// on a stack that nothing ran on before. `from` becomes the stack that was left.
inline void arrived_on_stack(void* kept, StackBounds& from) {
  __sanitizer_finish_switch_fiber(kept, &from.bottom, &from.bytes);
}

// Forgets the frames of whatever was abandoned on the stack.
inline void clear_stack(const StackBounds& stack) {
  __asan_unpoison_memory_region(stack.bottom, stack.bytes);
}

#else

inline void leave_stack_for(const StackBounds&, void**) {}
inline void arrived_on_stack(void*, StackBounds&) {}
inline void clear_stack(const StackBounds&) {}

#endif

}  // namespace redzone
