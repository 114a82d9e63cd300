#include "device/cuda/pool_memory.h"

#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {
namespace {

CUdeviceptr block_address(const std::byte* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

Status<std::unique_ptr<PoolMemory>> PoolMemory::create(const DriverApi& api, CUdevice device,
                                                       const StreamSet& streams) {
  std::unique_ptr<PoolMemory> memory(new PoolMemory(api, streams));
  int supported = 0;
  auto r = api.device_attribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuDeviceGetAttribute"));
  if (supported == 0) return memory;
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  r = api.pool_create(&memory->pool_, &properties);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuMemPoolCreate"));
  return memory;
}

PoolMemory::~PoolMemory() {
  if (pool_ != nullptr) api_.pool_destroy(pool_);  // destroyed when its last allocation is freed
}

Status<void> PoolMemory::set(CUmemPool_attribute attribute, int value) {
  return status_of(api_, api_.set_pool_attribute(pool_, attribute, &value),
                   "cuMemPoolSetAttribute");
}

Status<void> PoolMemory::begin(const PoolPolicy& policy) {
  if (pool_ == nullptr) return {};
  for (const CUdeviceptr left : live_)
    if (auto r = api_.free_async(left, streams_[0]); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api_, r, "cuMemFreeAsync"));
  live_.clear();
  if (policy == policy_) return {};  // a new pool already has the default
  const std::pair<CUmemPool_attribute, bool> rules[] = {
      {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, policy.follow_event_dependencies},
      {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, policy.allow_opportunistic},
      {CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, policy.allow_internal_dependencies}};
  for (const auto& [attribute, allowed] : rules) RZ_TRY(set(attribute, allowed ? 1 : 0));
  cuuint64_t threshold = policy.release_threshold_bytes;
  const auto r = api_.set_pool_attribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, r, "cuMemPoolSetAttribute"));
  policy_ = policy;
  return trim();  // releases what a larger threshold kept
}

Status<void> PoolMemory::trim() {
  if (pool_ == nullptr) return {};
  return status_of(api_, api_.pool_trim(pool_, 0), "cuMemPoolTrimTo");
}

Status<Region> PoolMemory::acquire(std::size_t bytes, int stream) {
  if (pool_ == nullptr)
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-memory-pools",
                                  "this device has no stream-ordered memory pools"});
  CUdeviceptr base = 0;
  const CUresult r = api_.pool_alloc_async(&base, bytes, pool_, streams_[stream]);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, r, "cuMemAllocFromPoolAsync"));
  live_.insert(base);
  return Region{reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(base)), bytes};
}

Status<void> PoolMemory::release(Region region, int stream) {
  live_.erase(block_address(region.base));
  return status_of(api_, api_.free_async(block_address(region.base), streams_[stream]),
                   "cuMemFreeAsync");
}

}  // namespace redzone::device::cuda
