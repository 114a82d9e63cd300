#include "core/round_up.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/region_source.h"

namespace redzone::device::cuda {
namespace {

CUmemAllocationProp device_memory(CUdevice device) {
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

std::byte* pointer(CUdeviceptr address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}
CUdeviceptr mapped_address(const std::byte* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

class GuardSource final : public RegionSource {
 public:
  GuardSource(const DriverApi& api, CUdevice device, std::size_t granularity, std::uint64_t& calls)
      : api_(api), device_(device), granularity_(granularity), calls_(calls) {}

  std::size_t rounded(std::size_t bytes) const override { return round_up(bytes, granularity_); }

  Status<Region> create(std::size_t bytes) override {
    CUdeviceptr reserved = 0;
    calls_ += 1;
    if (auto r = api_.mem_reserve(&reserved, reserved_bytes(bytes), 0, 0, 0); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api_, r, "cuMemAddressReserve"));
    auto mapped = map(reserved + granularity_, bytes);
    if (!mapped) {
      api_.mem_address_free(reserved, reserved_bytes(bytes));
      return tl::unexpected(std::move(mapped.error()));
    }
    return Region{pointer(reserved + granularity_), bytes};
  }

  void destroy(Region region) override {
    const CUdeviceptr base = mapped_address(region.base);
    calls_ += 2;
    api_.mem_unmap(base, region.bytes);
    api_.mem_address_free(base - granularity_, reserved_bytes(region.bytes));
  }

 private:
  std::size_t reserved_bytes(std::size_t bytes) const { return bytes + 2 * granularity_; }

  Status<void> map(CUdeviceptr base, std::size_t bytes) {
    const CUmemAllocationProp prop = device_memory(device_);
    CUmemGenericAllocationHandle memory = 0;
    calls_ += 1;
    if (auto r = api_.mem_create(&memory, bytes, &prop, 0); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api_, r, "cuMemCreate"));
    calls_ += 1;
    const CUresult mapped = api_.mem_map(base, bytes, 0, memory, 0);
    // A mapping, if there is one, keeps the memory alive until it is unmapped.
    api_.mem_release(memory);
    if (mapped != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, mapped, "cuMemMap"));

    CUmemAccessDesc access = {};
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    calls_ += 1;
    if (auto r = api_.mem_set_access(base, bytes, &access, 1); r != CUDA_SUCCESS) {
      api_.mem_unmap(base, bytes);
      return tl::unexpected(failure_of(api_, r, "cuMemSetAccess"));
    }
    return {};
  }

  const DriverApi& api_;
  CUdevice device_;
  std::size_t granularity_;
  std::uint64_t& calls_;
};

}  // namespace

std::unique_ptr<RegionSource> make_guard_source(const DriverApi& api, CUdevice device,
                                                std::size_t granularity, std::uint64_t& calls) {
  return std::make_unique<GuardSource>(api, device, granularity, calls);
}

Status<std::size_t> guard_granularity(const DriverApi& api, CUdevice device) {
  const CUmemAllocationProp prop = device_memory(device);
  std::size_t bytes = 0;
  const CUresult r = api.mem_granularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuMemGetAllocationGranularity"));
  return bytes;
}

}  // namespace redzone::device::cuda
