// The blocks of this process, as used by the replaced C library functions.
#pragma once

#include <cstddef>

namespace redzone::memory_preload {

class TrialBlocks;

// nullptr until rz_memory_arm() was called.
TrialBlocks* process_blocks();

// Allocates a block if the code at `caller` belongs to PyTorch's allocator; else returns nullptr.
void* allocate_for(const void* caller, std::size_t bytes);

}  // namespace redzone::memory_preload
