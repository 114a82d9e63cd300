// The CUDA driver, loaded at run time, so that the binary also starts without one.
#pragma once

#include <cuda.h>

#include <string>
#include <tl/expected.hpp>

namespace redzone::device::cuda {

// Entry points of libcuda.so.1 in the versions of the <cuda.h> that this was compiled with. A plain
// table of functions: copying it is cheap, and the library stays loaded until the process ends,
// because the driver keeps threads of its own running.
struct DriverApi {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driver_version = nullptr;
  decltype(&::cuGetErrorName) error_name = nullptr;
  decltype(&::cuGetErrorString) error_string = nullptr;

  decltype(&::cuDeviceGetCount) device_count = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_name = nullptr;
  decltype(&::cuDeviceTotalMem) device_total_mem = nullptr;
  decltype(&::cuDeviceGetAttribute) device_attribute = nullptr;

  decltype(&::cuDevicePrimaryCtxRetain) primary_retain = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) primary_release = nullptr;
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&::cuCtxSetCurrent) ctx_set_current = nullptr;
  decltype(&::cuCtxSynchronize) ctx_synchronize = nullptr;

  decltype(&::cuMemGetAllocationGranularity) mem_granularity = nullptr;
  decltype(&::cuMemAddressReserve) mem_reserve = nullptr;
  decltype(&::cuMemAddressFree) mem_address_free = nullptr;
  decltype(&::cuMemCreate) mem_create = nullptr;
  decltype(&::cuMemRelease) mem_release = nullptr;
  decltype(&::cuMemMap) mem_map = nullptr;
  decltype(&::cuMemUnmap) mem_unmap = nullptr;
  decltype(&::cuMemSetAccess) mem_set_access = nullptr;
  decltype(&::cuMemAlloc) mem_alloc = nullptr;
  decltype(&::cuMemFree) mem_free = nullptr;
  decltype(&::cuMemHostAlloc) host_alloc = nullptr;
  decltype(&::cuMemFreeHost) host_free = nullptr;
  decltype(&::cuMemHostGetDevicePointer) host_device_pointer = nullptr;
  decltype(&::cuMemcpyHtoDAsync) copy_to_device_async = nullptr;
  decltype(&::cuMemcpyDtoHAsync) copy_to_host_async = nullptr;
  decltype(&::cuMemcpyDtoH) copy_to_host = nullptr;
  decltype(&::cuMemcpyAsync) copy_async = nullptr;
  decltype(&::cuMemsetD8Async) set_bytes_async = nullptr;
  decltype(&::cuPointerGetAttribute) pointer_attribute = nullptr;
  decltype(&::cuMemPoolCreate) pool_create = nullptr;
  decltype(&::cuMemPoolDestroy) pool_destroy = nullptr;
  decltype(&::cuMemPoolSetAttribute) set_pool_attribute = nullptr;
  decltype(&::cuMemPoolTrimTo) pool_trim = nullptr;
  decltype(&::cuMemAllocFromPoolAsync) pool_alloc_async = nullptr;
  decltype(&::cuMemFreeAsync) free_async = nullptr;

  decltype(&::cuStreamCreate) stream_create = nullptr;
  decltype(&::cuStreamDestroy) stream_destroy = nullptr;
  decltype(&::cuStreamQuery) stream_query = nullptr;
  decltype(&::cuStreamWaitEvent) stream_wait_event = nullptr;
  decltype(&::cuStreamWaitValue32) stream_wait_value = nullptr;
  decltype(&::cuStreamWriteValue32) stream_write_value = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventDestroy) event_destroy = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;

  decltype(&::cuStreamBeginCapture) begin_capture = nullptr;
  decltype(&::cuStreamEndCapture) end_capture = nullptr;
  decltype(&::cuGraphInstantiate) graph_instantiate = nullptr;
  decltype(&::cuGraphLaunch) graph_launch = nullptr;
  decltype(&::cuGraphExecDestroy) graph_exec_destroy = nullptr;
  decltype(&::cuGraphDestroy) graph_destroy = nullptr;

  decltype(&::cuModuleLoadData) module_load = nullptr;
  decltype(&::cuModuleUnload) module_unload = nullptr;
  decltype(&::cuModuleGetFunction) module_function = nullptr;
  decltype(&::cuFuncGetAttribute) function_attribute = nullptr;
  decltype(&::cuFuncSetAttribute) set_function_attribute = nullptr;
  decltype(&::cuLaunchKernel) launch_kernel = nullptr;
  decltype(&::cuLaunchKernelEx) launch_kernel_with = nullptr;

  // Since driver 12.0; null before.
  decltype(&::cuTensorMapEncodeTiled) tensor_map_encode_tiled = nullptr;
  decltype(&::cuTensorMapEncodeIm2col) tensor_map_encode_im2col = nullptr;
  // Since driver 12.4; null before.
  decltype(&::cuFuncLoad) function_load = nullptr;
  decltype(&::cuFuncGetParamInfo) function_param_info = nullptr;
};

// The error is one line for people: there is no driver, or the driver is too old.
tl::expected<DriverApi, std::string> load_driver_api();

}  // namespace redzone::device::cuda
