#include "interpose/driver.h"

namespace redzone::interpose {
namespace {

template <class Function>
void set_call(Function& out, void* found) {
  out = reinterpret_cast<Function>(found);
}

}  // namespace

bool Driver::can_guard() const {
  // A driver that has these functions has the other ones, too, because they are of the same
  // versions.
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
  set_call(d.get_device_attribute, find("cuDeviceGetAttribute"));
  set_call(d.get_total_memory, find("cuDeviceTotalMem_v2"));
  set_call(d.get_context, find("cuCtxGetCurrent"));
  set_call(d.set_context, find("cuCtxSetCurrent"));
  set_call(d.get_device, find("cuCtxGetDevice"));
  set_call(d.synchronize_context, find("cuCtxSynchronize"));
  set_call(d.record_context_event, find("cuCtxRecordEvent"));
  set_call(d.reserve, find("cuMemAddressReserve"));
  set_call(d.free_reservation, find("cuMemAddressFree"));
  set_call(d.create, find("cuMemCreate"));
  set_call(d.release, find("cuMemRelease"));
  set_call(d.map, find("cuMemMap"));
  set_call(d.unmap, find("cuMemUnmap"));
  set_call(d.set_access, find("cuMemSetAccess"));
  set_call(d.get_granularity, find("cuMemGetAllocationGranularity"));
  set_call(d.allocate, find("cuMemAlloc_v2"));
  set_call(d.free, find("cuMemFree_v2"));
  set_call(d.set_bytes, find("cuMemsetD8Async"));
  set_call(d.copy_to_host, find("cuMemcpyDtoHAsync_v2"));
  set_call(d.allocate_pinned, find("cuMemHostAlloc"));
  set_call(d.free_pinned, find("cuMemFreeHost"));
  set_call(d.create_stream, find("cuStreamCreate"));
  set_call(d.synchronize_stream, find("cuStreamSynchronize"));
  set_call(d.get_stream_context, find("cuStreamGetCtx"));
  set_call(d.get_default_pool, find("cuDeviceGetDefaultMemPool"));
  set_call(d.wait_event, find("cuStreamWaitEvent"));
  set_call(d.create_event, find("cuEventCreate"));
  set_call(d.record_event, find("cuEventRecord"));
  set_call(d.query_event, find("cuEventQuery"));
  set_call(d.get_function_name, find("cuFuncGetName"));
  set_call(d.get_kernel_name, find("cuKernelGetName"));
  set_call(d.get_function_parameter, find("cuFuncGetParamInfo"));
  set_call(d.get_kernel_parameter, find("cuKernelGetParamInfo"));
  set_call(d.get_function_count, find("cuModuleGetFunctionCount"));
  set_call(d.get_kernel_count, find("cuLibraryGetKernelCount"));
  set_call(d.is_capturing, find("cuStreamIsCapturing"));
  set_call(d.exchange_capture_mode, find("cuThreadExchangeStreamCaptureMode"));
  set_call(d.launch_host_function, find("cuLaunchHostFunc"));
  set_call(d.get_primary_state, find("cuDevicePrimaryCtxGetState"));
  set_call(d.retain_primary, find("cuDevicePrimaryCtxRetain"));
  set_call(d.release_primary, find("cuDevicePrimaryCtxRelease_v2"));
  return d;
}

}  // namespace redzone::interpose
