#include "device/cuda/cuda_error.h"
#include "device/cuda/region_source.h"

namespace redzone::device::cuda {
namespace {

class PlainSource final : public RegionSource {
 public:
  PlainSource(const DriverApi& api, std::uint64_t& calls) : api_(api), calls_(calls) {}

  // The exact size: an access beyond the end reaches the same memory as in production.
  std::size_t rounded(std::size_t bytes) const override { return bytes; }

  Status<Region> create(std::size_t bytes) override {
    CUdeviceptr base = 0;
    calls_ += 1;
    if (auto r = api_.mem_alloc(&base, bytes); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api_, r, "cuMemAlloc"));
    return Region{reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(base)), bytes};
  }

  void destroy(Region region) override {
    calls_ += 1;
    api_.mem_free(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(region.base)));
  }

 private:
  const DriverApi& api_;
  std::uint64_t& calls_;
};

}  // namespace

std::unique_ptr<RegionSource> make_plain_source(const DriverApi& api, std::uint64_t& calls) {
  return std::make_unique<PlainSource>(api, calls);
}

}  // namespace redzone::device::cuda
