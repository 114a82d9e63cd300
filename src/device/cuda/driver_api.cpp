#include "device/cuda/driver_api.h"

#include <dlfcn.h>

namespace redzone::device::cuda {
namespace {

// <cuda.h> renames most functions to a version of them (cuMemAlloc is cuMemAlloc_v2), and the
// library exports that name, so the macro argument is expanded before it becomes a string.
#define RZ_TEXT(name) #name
#define RZ_SYMBOL(name) RZ_TEXT(name)

class Binder {
 public:
  explicit Binder(void* library) : library_(library) {}

  template <class F>
  Binder& optional(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library_, symbol));
    return *this;
  }
  template <class F>
  Binder& required(F& function, const char* symbol) {
    optional(function, symbol);
    if (function == nullptr && missing_.empty()) missing_ = symbol;
    return *this;
  }
  // The first required symbol that is missing.
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void bind_device(Binder& bind, DriverApi& api) {
  bind.required(api.init, RZ_SYMBOL(cuInit))
      .required(api.driver_version, RZ_SYMBOL(cuDriverGetVersion))
      .required(api.error_name, RZ_SYMBOL(cuGetErrorName))
      .required(api.error_string, RZ_SYMBOL(cuGetErrorString))
      .required(api.device_count, RZ_SYMBOL(cuDeviceGetCount))
      .required(api.device_get, RZ_SYMBOL(cuDeviceGet))
      .required(api.device_name, RZ_SYMBOL(cuDeviceGetName))
      .required(api.device_total_mem, RZ_SYMBOL(cuDeviceTotalMem))
      .required(api.device_attribute, RZ_SYMBOL(cuDeviceGetAttribute))
      .required(api.primary_retain, RZ_SYMBOL(cuDevicePrimaryCtxRetain))
      .required(api.primary_release, RZ_SYMBOL(cuDevicePrimaryCtxRelease))
      .required(api.ctx_get_current, RZ_SYMBOL(cuCtxGetCurrent))
      .required(api.ctx_set_current, RZ_SYMBOL(cuCtxSetCurrent))
      .required(api.ctx_synchronize, RZ_SYMBOL(cuCtxSynchronize));
}

void bind_memory(Binder& bind, DriverApi& api) {
  bind.required(api.mem_granularity, RZ_SYMBOL(cuMemGetAllocationGranularity))
      .required(api.mem_reserve, RZ_SYMBOL(cuMemAddressReserve))
      .required(api.mem_address_free, RZ_SYMBOL(cuMemAddressFree))
      .required(api.mem_create, RZ_SYMBOL(cuMemCreate))
      .required(api.mem_release, RZ_SYMBOL(cuMemRelease))
      .required(api.mem_map, RZ_SYMBOL(cuMemMap))
      .required(api.mem_unmap, RZ_SYMBOL(cuMemUnmap))
      .required(api.mem_set_access, RZ_SYMBOL(cuMemSetAccess))
      .required(api.mem_alloc, RZ_SYMBOL(cuMemAlloc))
      .required(api.mem_free, RZ_SYMBOL(cuMemFree))
      .required(api.host_alloc, RZ_SYMBOL(cuMemHostAlloc))
      .required(api.host_free, RZ_SYMBOL(cuMemFreeHost))
      .required(api.host_device_pointer, RZ_SYMBOL(cuMemHostGetDevicePointer))
      .required(api.copy_to_device_async, RZ_SYMBOL(cuMemcpyHtoDAsync))
      .required(api.copy_to_host_async, RZ_SYMBOL(cuMemcpyDtoHAsync))
      .required(api.copy_to_host, RZ_SYMBOL(cuMemcpyDtoH))
      .required(api.copy_async, RZ_SYMBOL(cuMemcpyAsync))
      .required(api.set_bytes_async, RZ_SYMBOL(cuMemsetD8Async))
      .required(api.pointer_attribute, RZ_SYMBOL(cuPointerGetAttribute))
      .required(api.pool_create, RZ_SYMBOL(cuMemPoolCreate))
      .required(api.pool_destroy, RZ_SYMBOL(cuMemPoolDestroy))
      .required(api.set_pool_attribute, RZ_SYMBOL(cuMemPoolSetAttribute))
      .required(api.pool_trim, RZ_SYMBOL(cuMemPoolTrimTo))
      .required(api.pool_alloc_async, RZ_SYMBOL(cuMemAllocFromPoolAsync))
      .required(api.free_async, RZ_SYMBOL(cuMemFreeAsync));
}

void bind_execution(Binder& bind, DriverApi& api) {
  bind.required(api.stream_create, RZ_SYMBOL(cuStreamCreate))
      .required(api.stream_destroy, RZ_SYMBOL(cuStreamDestroy))
      .required(api.stream_query, RZ_SYMBOL(cuStreamQuery))
      .required(api.stream_wait_event, RZ_SYMBOL(cuStreamWaitEvent))
      .required(api.stream_wait_value, RZ_SYMBOL(cuStreamWaitValue32))
      .required(api.stream_write_value, RZ_SYMBOL(cuStreamWriteValue32))
      .required(api.event_create, RZ_SYMBOL(cuEventCreate))
      .required(api.event_destroy, RZ_SYMBOL(cuEventDestroy))
      .required(api.event_record, RZ_SYMBOL(cuEventRecord))
      .required(api.begin_capture, RZ_SYMBOL(cuStreamBeginCapture))
      .required(api.end_capture, RZ_SYMBOL(cuStreamEndCapture))
      .required(api.graph_instantiate, RZ_SYMBOL(cuGraphInstantiate))
      .required(api.graph_launch, RZ_SYMBOL(cuGraphLaunch))
      .required(api.graph_exec_destroy, RZ_SYMBOL(cuGraphExecDestroy))
      .required(api.graph_destroy, RZ_SYMBOL(cuGraphDestroy))
      .required(api.module_load, RZ_SYMBOL(cuModuleLoadData))
      .required(api.module_unload, RZ_SYMBOL(cuModuleUnload))
      .required(api.module_function, RZ_SYMBOL(cuModuleGetFunction))
      .required(api.function_attribute, RZ_SYMBOL(cuFuncGetAttribute))
      .required(api.set_function_attribute, RZ_SYMBOL(cuFuncSetAttribute))
      .required(api.launch_kernel, RZ_SYMBOL(cuLaunchKernel))
      .required(api.launch_kernel_with, RZ_SYMBOL(cuLaunchKernelEx))
      .optional(api.tensor_map_encode_tiled, RZ_SYMBOL(cuTensorMapEncodeTiled))
      .optional(api.tensor_map_encode_im2col, RZ_SYMBOL(cuTensorMapEncodeIm2col))
      .optional(api.function_load, RZ_SYMBOL(cuFuncLoad))
      .optional(api.function_param_info, RZ_SYMBOL(cuFuncGetParamInfo));
}

}  // namespace

tl::expected<DriverApi, std::string> load_driver_api() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return tl::unexpected(std::string("no CUDA driver: ") + dlerror());
  DriverApi api;
  Binder bind(library);
  bind_device(bind, api);
  bind_memory(bind, api);
  bind_execution(bind, api);
  if (!bind.missing().empty())
    return tl::unexpected("the CUDA driver is too old: it has no " + bind.missing());
  return api;
}

}  // namespace redzone::device::cuda
