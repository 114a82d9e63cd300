// Jobs for buffers without a tensor: scratch, allocations, freed memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer_job.h"
#include "trial/placement.h"

namespace redzone::trial {

// Sets the addresses of the buffer and its canary windows.
void set_place(device::BufferJob& job, const Place& at);

// A job that fills `bytes` bytes with `poison`, in whole words if size and alignment allow.
device::BufferJob raw_job(const Place& at, std::size_t bytes, std::uint32_t poison);

// A job that fills freed memory with canary bytes, at most `most_bytes` of them, and checks that
// the memory is not written afterwards.
device::BufferJob freed_job(const Place& at, std::size_t bytes, std::uint32_t poison,
                            std::size_t most_bytes);

// The job without its canaries, so that their current state can still be checked.
device::BufferJob without_canaries(device::BufferJob job);

// The job restricted to its canaries, for the check.
device::BufferJob canaries_only(device::BufferJob job);

}  // namespace redzone::trial
