// Static shared memory. `__shared__` is `static thread_local` on the host, so the variables of all
// kernels of a shared object lie in its thread-local storage. While a block is suspended in favour
// of another, the engine keeps a copy of that storage.
//
// Nothing but kernels runs in between, so other thread-local variables of the same object come back
// with the value that they have.
#pragma once

#include <cstddef>
#include <span>

namespace redzone::device {

// The calling thread's thread-local storage of the shared object that holds `code`. Empty when it
// has none, or when nothing of it has been touched yet.
std::span<std::byte> thread_statics_of(const void* code);

}  // namespace redzone::device
