// Keeps the device busy during a trial: threads on every multiprocessor add to a few words. Atomic
// additions to one cache line are executed one after another, so other accesses through that part
// of the L2 cache wait, and warps that share the multiprocessor are delayed.
#include "device/cuda/contention_kernel.h"

namespace redzone::device::cuda {

// Grid: any; block: kContentionThreads. `words` has kContentionWords elements. Each block ends `ns`
// after it began, because a kernel that waits for all of its blocks to be resident has to wait for
// the blocks of this kernel.
extern "C" __global__ void __launch_bounds__(kContentionThreads)
    redzone_contention(unsigned* words, unsigned long long ns) {
  const auto time = [] {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
  };
  for (const unsigned long long begun = time(); time() - begun < ns;)
    for (unsigned i = 0; i < kContentionAdditions; ++i)
      atomicAdd(&words[(threadIdx.x + i) * kContentionStride % kContentionWords], 1u);
}

}  // namespace redzone::device::cuda
