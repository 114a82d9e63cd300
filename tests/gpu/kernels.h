// Kernels of the GPU tests, compiled by nvcc into the test like those of a plugin.
#pragma once

#include <redzone/target.h>

#include <cstdint>

namespace redzone::gpu_test {

KernelRef store_byte_kernel();     // (uint8_t* at, uint8_t value): one thread
KernelRef load_byte_kernel();      // (const uint8_t* at, uint8_t* to): one thread
KernelRef load_word_kernel();      // (const uint32_t* at, uint32_t* to): one access of 4 bytes
KernelRef count_kernel();          // (uint32_t* counter): each thread adds 1
KernelRef count_twin_kernel();     // the same, for a test that needs a kernel not launched before
KernelRef meet_kernel();           // (uint32_t* arrived): each block adds 1 and waits for all
KernelRef delayed_store_kernel();  // (uint32_t* at, uint32_t value, int64_t cycles)
KernelRef copy_word_kernel();      // (const uint32_t* from, uint32_t* to)
KernelRef shared_sum_kernel();     // (uint32_t* to, uint32_t bytes): sets that much of its dynamic
                                   // shared memory to ones and stores the sum
KernelRef assert_kernel();         // (): an assertion that does not hold
KernelRef trap_kernel();           // ()

// Host memory that kernels can write, by the runtime API on the shared context. It lives as long as
// the process.
std::uint32_t* mapped_word();

// Waits for one stream through the runtime API, without Redzone's knowledge, as a target may.
bool wait_for_stream(void* stream);

}  // namespace redzone::gpu_test
