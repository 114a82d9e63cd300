#include "interpose/driver.h"

namespace redzone::interpose {
namespace {

template <class Function>
void load(Function& out, void* found) {
  out = reinterpret_cast<Function>(found);
}

}  // namespace

bool Driver::can_guard() const {
  // The others belong to the same versions of the driver as these.
  return get_context != nullptr && get_device != nullptr && reserve != nullptr &&
         create != nullptr && map != nullptr && unmap != nullptr && set_access != nullptr &&
         get_granularity != nullptr && set_bytes != nullptr && record_event != nullptr;
}

CuContext Driver::primary_context(CuDevice device) const {
  unsigned flags = 0;
  int active = 0;
  CuContext out = nullptr;
  if (get_primary_state == nullptr || retain_primary == nullptr || release_primary == nullptr ||
      get_primary_state(device, &flags, &active) != kCuSuccess || active == 0 ||
      retain_primary(&out, device) != kCuSuccess)
    return nullptr;
  release_primary(device);
  return out;
}

Driver load_driver(void* (*find)(const char* name)) {
  Driver d;
  load(d.get_device_attribute, find("cuDeviceGetAttribute"));
  load(d.get_total_memory, find("cuDeviceTotalMem_v2"));
  load(d.get_context, find("cuCtxGetCurrent"));
  load(d.set_context, find("cuCtxSetCurrent"));
  load(d.get_device, find("cuCtxGetDevice"));
  load(d.synchronize_context, find("cuCtxSynchronize"));
  load(d.record_context_event, find("cuCtxRecordEvent"));
  load(d.reserve, find("cuMemAddressReserve"));
  load(d.free_reservation, find("cuMemAddressFree"));
  load(d.create, find("cuMemCreate"));
  load(d.release, find("cuMemRelease"));
  load(d.map, find("cuMemMap"));
  load(d.unmap, find("cuMemUnmap"));
  load(d.set_access, find("cuMemSetAccess"));
  load(d.get_granularity, find("cuMemGetAllocationGranularity"));
  load(d.set_bytes, find("cuMemsetD8Async"));
  load(d.copy_to_host, find("cuMemcpyDtoHAsync_v2"));
  load(d.allocate_pinned, find("cuMemHostAlloc"));
  load(d.free_pinned, find("cuMemFreeHost"));
  load(d.create_stream, find("cuStreamCreate"));
  load(d.synchronize_stream, find("cuStreamSynchronize"));
  load(d.get_stream_context, find("cuStreamGetCtx"));
  load(d.get_default_pool, find("cuDeviceGetDefaultMemPool"));
  load(d.wait_event, find("cuStreamWaitEvent"));
  load(d.create_event, find("cuEventCreate"));
  load(d.record_event, find("cuEventRecord"));
  load(d.query_event, find("cuEventQuery"));
  load(d.get_function_name, find("cuFuncGetName"));
  load(d.get_kernel_name, find("cuKernelGetName"));
  load(d.get_function_parameter, find("cuFuncGetParamInfo"));
  load(d.get_kernel_parameter, find("cuKernelGetParamInfo"));
  load(d.get_function_count, find("cuModuleGetFunctionCount"));
  load(d.get_kernel_count, find("cuLibraryGetKernelCount"));
  load(d.is_capturing, find("cuStreamIsCapturing"));
  load(d.launch_host_function, find("cuLaunchHostFunc"));
  load(d.get_primary_state, find("cuDevicePrimaryCtxGetState"));
  load(d.retain_primary, find("cuDevicePrimaryCtxRetain"));
  load(d.release_primary, find("cuDevicePrimaryCtxRelease_v2"));
  return d;
}

}  // namespace redzone::interpose
