// Jobs for buffers without a tensor: scratch, allocations, freed memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer_job.h"
#include "trial/placement.h"

namespace redzone::trial {

// Sets where the buffer and its canary windows are.
void set_place(device::BufferJob& job, const Place& at);

// A job of `bytes` bytes that fills with `poison`; whole words where size and alignment allow.
device::BufferJob raw_job(const Place& at, std::size_t bytes, std::uint32_t poison);

// Fills freed memory, and checks that it is not written afterwards: canaries inside, at most
// `most_bytes` of them.
device::BufferJob freed_job(const Place& at, std::size_t bytes, std::uint32_t poison,
                            std::size_t most_bytes);

// The job without its canaries, whose state remains to be checked.
device::BufferJob without_canaries(device::BufferJob job);

// The job for the check: canaries only.
device::BufferJob canaries_only(device::BufferJob job);

}  // namespace redzone::trial
