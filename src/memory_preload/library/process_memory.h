// The blocks of this process, and what stands in front of the C library's functions.
#pragma once

#include <cstddef>

namespace redzone::memory_preload {

class TrialBlocks;

// nullptr until arm().
TrialBlocks* process_blocks();

// nullptr unless the block that the code at `caller` asks for is one of ours.
void* allocate_for(const void* caller, std::size_t bytes);

}  // namespace redzone::memory_preload
