#include "device/host/guard_memory.h"

#include <sys/mman.h>

#include "core/page.h"

namespace redzone::device {

GuardMemory::GuardMemory() : RegionCache(kPageBytes), arena_(kGuardBytes) {}

Region GuardMemory::make(std::size_t bytes) {
  count_call();
  return arena_.open(bytes);
}

void GuardMemory::destroy(Region region) {
  count_call();
  arena_.close(region);
  arena_.recycle(region);
}

void GuardMemory::drop_pages(Region region) {
  madvise(region.base, region.bytes, MADV_DONTNEED);
}

}  // namespace redzone::device
