#include "core/page.h"
#include "core/round_up.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/region_source.h"

namespace redzone::device::cuda {
namespace {

class PageLockedSource final : public RegionSource {
 public:
  PageLockedSource(const DriverApi& api, std::uint64_t& calls) : api_(api), calls_(calls) {}

  std::size_t rounded(std::size_t bytes) const override { return round_up(bytes, kPageBytes); }

  Status<Region> create(std::size_t bytes) override {
    void* base = nullptr;
    calls_ += 1;
    if (auto r = api_.host_alloc(&base, bytes, CU_MEMHOSTALLOC_PORTABLE); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api_, r, "cuMemHostAlloc"));
    return Region{static_cast<std::byte*>(base), bytes};
  }

  void destroy(Region region) override {
    calls_ += 1;
    api_.host_free(region.base);
  }

 private:
  const DriverApi& api_;
  std::uint64_t& calls_;
};

}  // namespace

std::unique_ptr<RegionSource> make_page_locked_source(const DriverApi& api, std::uint64_t& calls) {
  return std::make_unique<PageLockedSource>(api, calls);
}

}  // namespace redzone::device::cuda
