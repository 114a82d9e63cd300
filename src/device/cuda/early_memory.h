// Memory of GPU 0 for code that runs before the worker has opened its device, for example a module
// that allocates memory when it is imported. Not guarded.
#pragma once

#include <cstddef>

namespace redzone::device {

// Null if there is no GPU or no memory. May be called from any thread.
void* allocate_early(std::size_t bytes);
// Waits for the device.
void free_early(void* at);

}  // namespace redzone::device
