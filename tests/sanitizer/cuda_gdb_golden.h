// What cuda-gdb prints of a core dump.
#pragma once

namespace redzone::sanitizer {

// Output of cuda-gdb of CUDA 13.0 on an H100.
inline constexpr const char* kCudaGdbGolden =
    "Opening GPU coredump: core\n"
    "\n"
    "CUDA Exception: Warp Illegal Address\n"
    "The exception was triggered at PC 0x7f215f7ac280  farkernel(int*)  (q.cu:4)\n"
    "[Current focus set to CUDA kernel 0, grid 1, block (0,0,0), thread (0,0,0)]\n";

}  // namespace redzone::sanitizer
