// The lookups by which a program gets the driver's functions, and the replacements that it gets.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"
#include "interpose/library/real_symbols.h"

namespace redzone::interpose {
namespace {

template <class Function>
void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}

// In the order of Call.
const CallRow (&rows())[kCalls] {
  using enum Call;
  static const CallRow all[kCalls] = {
      {get_proc_address, "cuGetProcAddress", "cuGetProcAddress", 11030, false, true,
       pointer(cuGetProcAddress)},
      {get_proc_address_v2, "cuGetProcAddress_v2", "cuGetProcAddress", 12000, false, true,
       pointer(cuGetProcAddress_v2)},
      {get_export_table, "cuGetExportTable", "cuGetExportTable", 3000, false, true,
       pointer(cuGetExportTable)},
      {mem_alloc, "cuMemAlloc_v2", "cuMemAlloc", 3020, false, true, pointer(cuMemAlloc_v2)},
      {mem_alloc_pitch, "cuMemAllocPitch_v2", "cuMemAllocPitch", 3020, false, true,
       pointer(cuMemAllocPitch_v2)},
      {mem_free, "cuMemFree_v2", "cuMemFree", 3020, false, true, pointer(cuMemFree_v2)},
      {mem_alloc_async, "cuMemAllocAsync", "cuMemAllocAsync", 11020, false, false,
       pointer(cuMemAllocAsync)},
      {mem_alloc_async_ptsz, "cuMemAllocAsync_ptsz", "cuMemAllocAsync", 11020, true, false,
       pointer(cuMemAllocAsync_ptsz)},
      {mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", 11020,
       false, false, pointer(cuMemAllocFromPoolAsync)},
      {mem_alloc_from_pool_async_ptsz, "cuMemAllocFromPoolAsync_ptsz", "cuMemAllocFromPoolAsync",
       11020, true, false, pointer(cuMemAllocFromPoolAsync_ptsz)},
      {mem_free_async, "cuMemFreeAsync", "cuMemFreeAsync", 11020, false, false,
       pointer(cuMemFreeAsync)},
      {mem_free_async_ptsz, "cuMemFreeAsync_ptsz", "cuMemFreeAsync", 11020, true, false,
       pointer(cuMemFreeAsync_ptsz)},
      {mem_pool_create, "cuMemPoolCreate", "cuMemPoolCreate", 11020, false, true,
       pointer(cuMemPoolCreate)},
      {mem_pool_destroy, "cuMemPoolDestroy", "cuMemPoolDestroy", 11020, false, true,
       pointer(cuMemPoolDestroy)},
      {mem_pool_export_pointer, "cuMemPoolExportPointer", "cuMemPoolExportPointer", 11020, false,
       true, pointer(cuMemPoolExportPointer)},
      {mem_get_info, "cuMemGetInfo_v2", "cuMemGetInfo", 3020, false, true,
       pointer(cuMemGetInfo_v2)},
      {mem_get_address_range, "cuMemGetAddressRange_v2", "cuMemGetAddressRange", 3020, false, true,
       pointer(cuMemGetAddressRange_v2)},
      {pointer_get_attribute, "cuPointerGetAttribute", "cuPointerGetAttribute", 4000, false, true,
       pointer(cuPointerGetAttribute)},
      {pointer_get_attributes, "cuPointerGetAttributes", "cuPointerGetAttributes", 7000, false,
       true, pointer(cuPointerGetAttributes)},
      {ipc_get_mem_handle, "cuIpcGetMemHandle", "cuIpcGetMemHandle", 4010, false, true,
       pointer(cuIpcGetMemHandle)},
      {mem_alloc_managed, "cuMemAllocManaged", "cuMemAllocManaged", 6000, false, true,
       pointer(cuMemAllocManaged)},
      {mem_alloc_host, "cuMemAllocHost_v2", "cuMemAllocHost", 3020, false, true,
       pointer(cuMemAllocHost_v2)},
      {mem_host_alloc, "cuMemHostAlloc", "cuMemHostAlloc", 2020, false, true,
       pointer(cuMemHostAlloc)},
      {mem_create, "cuMemCreate", "cuMemCreate", 10020, false, true, pointer(cuMemCreate)},
      {ctx_enable_peer_access, "cuCtxEnablePeerAccess", "cuCtxEnablePeerAccess", 4000, false, true,
       pointer(cuCtxEnablePeerAccess)},
      {ctx_destroy, "cuCtxDestroy_v2", "cuCtxDestroy", 4000, false, true, pointer(cuCtxDestroy_v2)},
      {primary_retain, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 7000, false, true,
       pointer(cuDevicePrimaryCtxRetain)},
      {primary_reset, "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", 11000, false, true,
       pointer(cuDevicePrimaryCtxReset_v2)},
      {primary_release, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", 11000, false,
       true, pointer(cuDevicePrimaryCtxRelease_v2)},
      {begin_capture_v1, "cuStreamBeginCapture", "cuStreamBeginCapture", 10000, false, false,
       pointer(cuStreamBeginCapture)},
      {begin_capture_v1_ptsz, "cuStreamBeginCapture_ptsz", "cuStreamBeginCapture", 10000, true,
       false, pointer(cuStreamBeginCapture_ptsz)},
      {begin_capture, "cuStreamBeginCapture_v2", "cuStreamBeginCapture", 10010, false, false,
       pointer(cuStreamBeginCapture_v2)},
      {begin_capture_ptsz, "cuStreamBeginCapture_v2_ptsz", "cuStreamBeginCapture", 10010, true,
       false, pointer(cuStreamBeginCapture_v2_ptsz)},
      {begin_capture_to_graph, "cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph", 12030,
       false, false, pointer(cuStreamBeginCaptureToGraph)},
      {begin_capture_to_graph_ptsz, "cuStreamBeginCaptureToGraph_ptsz",
       "cuStreamBeginCaptureToGraph", 12030, true, false,
       pointer(cuStreamBeginCaptureToGraph_ptsz)},
      {end_capture, "cuStreamEndCapture", "cuStreamEndCapture", 10000, false, false,
       pointer(cuStreamEndCapture)},
      {end_capture_ptsz, "cuStreamEndCapture_ptsz", "cuStreamEndCapture", 10000, true, false,
       pointer(cuStreamEndCapture_ptsz)},
      {stream_destroy, "cuStreamDestroy_v2", "cuStreamDestroy", 4000, false, true,
       pointer(cuStreamDestroy_v2)},
      {ctx_synchronize, "cuCtxSynchronize", "cuCtxSynchronize", 2000, false, true,
       pointer(cuCtxSynchronize)},
      {stream_synchronize, "cuStreamSynchronize", "cuStreamSynchronize", 2000, false, false,
       pointer(cuStreamSynchronize)},
      {stream_synchronize_ptsz, "cuStreamSynchronize_ptsz", "cuStreamSynchronize", 7000, true,
       false, pointer(cuStreamSynchronize_ptsz)},
      {stream_query, "cuStreamQuery", "cuStreamQuery", 2000, false, false, pointer(cuStreamQuery)},
      {stream_query_ptsz, "cuStreamQuery_ptsz", "cuStreamQuery", 7000, true, false,
       pointer(cuStreamQuery_ptsz)},
      {event_synchronize, "cuEventSynchronize", "cuEventSynchronize", 2000, false, true,
       pointer(cuEventSynchronize)},
      {event_query, "cuEventQuery", "cuEventQuery", 2000, false, true, pointer(cuEventQuery)},
      {copy_to_host, "cuMemcpyDtoH_v2", "cuMemcpyDtoH", 3020, false, false,
       pointer(cuMemcpyDtoH_v2)},
      {copy_to_host_ptds, "cuMemcpyDtoH_v2_ptds", "cuMemcpyDtoH", 7000, true, false,
       pointer(cuMemcpyDtoH_v2_ptds)},
      {copy_to_device, "cuMemcpyHtoD_v2", "cuMemcpyHtoD", 3020, false, false,
       pointer(cuMemcpyHtoD_v2)},
      {copy_to_device_ptds, "cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", 7000, true, false,
       pointer(cuMemcpyHtoD_v2_ptds)},
      {ctx_synchronize_v2, "cuCtxSynchronize_v2", "cuCtxSynchronize", 13000, false, true,
       pointer(cuCtxSynchronize_v2)},
      {copy, "cuMemcpy", "cuMemcpy", 4000, false, false, pointer(cuMemcpy)},
      {copy_ptds, "cuMemcpy_ptds", "cuMemcpy", 7000, true, false, pointer(cuMemcpy_ptds)},
      {copy_async, "cuMemcpyAsync", "cuMemcpyAsync", 4000, false, false, pointer(cuMemcpyAsync)},
      {copy_async_ptsz, "cuMemcpyAsync_ptsz", "cuMemcpyAsync", 7000, true, false,
       pointer(cuMemcpyAsync_ptsz)},
      {copy_on_device, "cuMemcpyDtoD_v2", "cuMemcpyDtoD", 3020, false, false,
       pointer(cuMemcpyDtoD_v2)},
      {copy_on_device_ptds, "cuMemcpyDtoD_v2_ptds", "cuMemcpyDtoD", 7000, true, false,
       pointer(cuMemcpyDtoD_v2_ptds)},
      {copy_on_device_async, "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync", 3020, false, false,
       pointer(cuMemcpyDtoDAsync_v2)},
      {copy_on_device_async_ptsz, "cuMemcpyDtoDAsync_v2_ptsz", "cuMemcpyDtoDAsync", 7000, true,
       false, pointer(cuMemcpyDtoDAsync_v2_ptsz)},
      {copy_to_host_async, "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync", 3020, false, false,
       pointer(cuMemcpyDtoHAsync_v2)},
      {copy_to_host_async_ptsz, "cuMemcpyDtoHAsync_v2_ptsz", "cuMemcpyDtoHAsync", 7000, true, false,
       pointer(cuMemcpyDtoHAsync_v2_ptsz)},
      {copy_to_device_async, "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync", 3020, false, false,
       pointer(cuMemcpyHtoDAsync_v2)},
      {copy_to_device_async_ptsz, "cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync", 7000, true,
       false, pointer(cuMemcpyHtoDAsync_v2_ptsz)},
      {copy_2d, "cuMemcpy2D_v2", "cuMemcpy2D", 3020, false, false, pointer(cuMemcpy2D_v2)},
      {copy_2d_ptds, "cuMemcpy2D_v2_ptds", "cuMemcpy2D", 7000, true, false,
       pointer(cuMemcpy2D_v2_ptds)},
      {copy_2d_unaligned, "cuMemcpy2DUnaligned_v2", "cuMemcpy2DUnaligned", 3020, false, false,
       pointer(cuMemcpy2DUnaligned_v2)},
      {copy_2d_unaligned_ptds, "cuMemcpy2DUnaligned_v2_ptds", "cuMemcpy2DUnaligned", 7000, true,
       false, pointer(cuMemcpy2DUnaligned_v2_ptds)},
      {copy_2d_async, "cuMemcpy2DAsync_v2", "cuMemcpy2DAsync", 3020, false, false,
       pointer(cuMemcpy2DAsync_v2)},
      {copy_2d_async_ptsz, "cuMemcpy2DAsync_v2_ptsz", "cuMemcpy2DAsync", 7000, true, false,
       pointer(cuMemcpy2DAsync_v2_ptsz)},
      {copy_3d, "cuMemcpy3D_v2", "cuMemcpy3D", 3020, false, false, pointer(cuMemcpy3D_v2)},
      {copy_3d_ptds, "cuMemcpy3D_v2_ptds", "cuMemcpy3D", 7000, true, false,
       pointer(cuMemcpy3D_v2_ptds)},
      {copy_3d_async, "cuMemcpy3DAsync_v2", "cuMemcpy3DAsync", 3020, false, false,
       pointer(cuMemcpy3DAsync_v2)},
      {copy_3d_async_ptsz, "cuMemcpy3DAsync_v2_ptsz", "cuMemcpy3DAsync", 7000, true, false,
       pointer(cuMemcpy3DAsync_v2_ptsz)},
      {copy_peer, "cuMemcpyPeer", "cuMemcpyPeer", 4000, false, false, pointer(cuMemcpyPeer)},
      {copy_peer_ptds, "cuMemcpyPeer_ptds", "cuMemcpyPeer", 7000, true, false,
       pointer(cuMemcpyPeer_ptds)},
      {copy_peer_async, "cuMemcpyPeerAsync", "cuMemcpyPeerAsync", 4000, false, false,
       pointer(cuMemcpyPeerAsync)},
      {copy_peer_async_ptsz, "cuMemcpyPeerAsync_ptsz", "cuMemcpyPeerAsync", 7000, true, false,
       pointer(cuMemcpyPeerAsync_ptsz)},
      {copy_3d_peer, "cuMemcpy3DPeer", "cuMemcpy3DPeer", 4000, false, false,
       pointer(cuMemcpy3DPeer)},
      {copy_3d_peer_ptds, "cuMemcpy3DPeer_ptds", "cuMemcpy3DPeer", 7000, true, false,
       pointer(cuMemcpy3DPeer_ptds)},
      {copy_3d_peer_async, "cuMemcpy3DPeerAsync", "cuMemcpy3DPeerAsync", 4000, false, false,
       pointer(cuMemcpy3DPeerAsync)},
      {copy_3d_peer_async_ptsz, "cuMemcpy3DPeerAsync_ptsz", "cuMemcpy3DPeerAsync", 7000, true,
       false, pointer(cuMemcpy3DPeerAsync_ptsz)},
      {copy_to_array, "cuMemcpyDtoA_v2", "cuMemcpyDtoA", 3020, false, false,
       pointer(cuMemcpyDtoA_v2)},
      {copy_to_array_ptds, "cuMemcpyDtoA_v2_ptds", "cuMemcpyDtoA", 7000, true, false,
       pointer(cuMemcpyDtoA_v2_ptds)},
      {copy_from_array, "cuMemcpyAtoD_v2", "cuMemcpyAtoD", 3020, false, false,
       pointer(cuMemcpyAtoD_v2)},
      {copy_from_array_ptds, "cuMemcpyAtoD_v2_ptds", "cuMemcpyAtoD", 7000, true, false,
       pointer(cuMemcpyAtoD_v2_ptds)},
      {copy_batch_v1, "cuMemcpyBatchAsync", "cuMemcpyBatchAsync", 12080, false, false,
       pointer(cuMemcpyBatchAsync)},
      {copy_batch_v1_ptsz, "cuMemcpyBatchAsync_ptsz", "cuMemcpyBatchAsync", 12080, true, false,
       pointer(cuMemcpyBatchAsync_ptsz)},
      {copy_batch, "cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync", 13000, false, false,
       pointer(cuMemcpyBatchAsync_v2)},
      {copy_batch_ptsz, "cuMemcpyBatchAsync_v2_ptsz", "cuMemcpyBatchAsync", 13000, true, false,
       pointer(cuMemcpyBatchAsync_v2_ptsz)},
      {write_32_v1, "cuStreamWriteValue32", "cuStreamWriteValue32", 8000, false, false,
       pointer(cuStreamWriteValue32)},
      {write_32_v1_ptsz, "cuStreamWriteValue32_ptsz", "cuStreamWriteValue32", 8000, true, false,
       pointer(cuStreamWriteValue32_ptsz)},
      {write_32, "cuStreamWriteValue32_v2", "cuStreamWriteValue32", 11070, false, false,
       pointer(cuStreamWriteValue32_v2)},
      {write_32_ptsz, "cuStreamWriteValue32_v2_ptsz", "cuStreamWriteValue32", 11070, true, false,
       pointer(cuStreamWriteValue32_v2_ptsz)},
      {write_64_v1, "cuStreamWriteValue64", "cuStreamWriteValue64", 9000, false, false,
       pointer(cuStreamWriteValue64)},
      {write_64_v1_ptsz, "cuStreamWriteValue64_ptsz", "cuStreamWriteValue64", 9000, true, false,
       pointer(cuStreamWriteValue64_ptsz)},
      {write_64, "cuStreamWriteValue64_v2", "cuStreamWriteValue64", 11070, false, false,
       pointer(cuStreamWriteValue64_v2)},
      {write_64_ptsz, "cuStreamWriteValue64_v2_ptsz", "cuStreamWriteValue64", 11070, true, false,
       pointer(cuStreamWriteValue64_v2_ptsz)},
      {set_8, "cuMemsetD8_v2", "cuMemsetD8", 3020, false, false, pointer(cuMemsetD8_v2)},
      {set_8_ptds, "cuMemsetD8_v2_ptds", "cuMemsetD8", 7000, true, false,
       pointer(cuMemsetD8_v2_ptds)},
      {set_8_async, "cuMemsetD8Async", "cuMemsetD8Async", 3020, false, false,
       pointer(cuMemsetD8Async)},
      {set_8_async_ptsz, "cuMemsetD8Async_ptsz", "cuMemsetD8Async", 7000, true, false,
       pointer(cuMemsetD8Async_ptsz)},
      {set_16, "cuMemsetD16_v2", "cuMemsetD16", 3020, false, false, pointer(cuMemsetD16_v2)},
      {set_16_ptds, "cuMemsetD16_v2_ptds", "cuMemsetD16", 7000, true, false,
       pointer(cuMemsetD16_v2_ptds)},
      {set_16_async, "cuMemsetD16Async", "cuMemsetD16Async", 3020, false, false,
       pointer(cuMemsetD16Async)},
      {set_16_async_ptsz, "cuMemsetD16Async_ptsz", "cuMemsetD16Async", 7000, true, false,
       pointer(cuMemsetD16Async_ptsz)},
      {set_32, "cuMemsetD32_v2", "cuMemsetD32", 3020, false, false, pointer(cuMemsetD32_v2)},
      {set_32_ptds, "cuMemsetD32_v2_ptds", "cuMemsetD32", 7000, true, false,
       pointer(cuMemsetD32_v2_ptds)},
      {set_32_async, "cuMemsetD32Async", "cuMemsetD32Async", 3020, false, false,
       pointer(cuMemsetD32Async)},
      {set_32_async_ptsz, "cuMemsetD32Async_ptsz", "cuMemsetD32Async", 7000, true, false,
       pointer(cuMemsetD32Async_ptsz)},
      {set_2d_8, "cuMemsetD2D8_v2", "cuMemsetD2D8", 3020, false, false, pointer(cuMemsetD2D8_v2)},
      {set_2d_8_ptds, "cuMemsetD2D8_v2_ptds", "cuMemsetD2D8", 7000, true, false,
       pointer(cuMemsetD2D8_v2_ptds)},
      {set_2d_8_async, "cuMemsetD2D8Async", "cuMemsetD2D8Async", 3020, false, false,
       pointer(cuMemsetD2D8Async)},
      {set_2d_8_async_ptsz, "cuMemsetD2D8Async_ptsz", "cuMemsetD2D8Async", 7000, true, false,
       pointer(cuMemsetD2D8Async_ptsz)},
      {set_2d_16, "cuMemsetD2D16_v2", "cuMemsetD2D16", 3020, false, false,
       pointer(cuMemsetD2D16_v2)},
      {set_2d_16_ptds, "cuMemsetD2D16_v2_ptds", "cuMemsetD2D16", 7000, true, false,
       pointer(cuMemsetD2D16_v2_ptds)},
      {set_2d_16_async, "cuMemsetD2D16Async", "cuMemsetD2D16Async", 3020, false, false,
       pointer(cuMemsetD2D16Async)},
      {set_2d_16_async_ptsz, "cuMemsetD2D16Async_ptsz", "cuMemsetD2D16Async", 7000, true, false,
       pointer(cuMemsetD2D16Async_ptsz)},
      {set_2d_32, "cuMemsetD2D32_v2", "cuMemsetD2D32", 3020, false, false,
       pointer(cuMemsetD2D32_v2)},
      {set_2d_32_ptds, "cuMemsetD2D32_v2_ptds", "cuMemsetD2D32", 7000, true, false,
       pointer(cuMemsetD2D32_v2_ptds)},
      {set_2d_32_async, "cuMemsetD2D32Async", "cuMemsetD2D32Async", 3020, false, false,
       pointer(cuMemsetD2D32Async)},
      {set_2d_32_async_ptsz, "cuMemsetD2D32Async_ptsz", "cuMemsetD2D32Async", 7000, true, false,
       pointer(cuMemsetD2D32Async_ptsz)},
      {launch_kernel, "cuLaunchKernel", "cuLaunchKernel", 4000, false, false,
       pointer(cuLaunchKernel)},
      {launch_kernel_ptsz, "cuLaunchKernel_ptsz", "cuLaunchKernel", 7000, true, false,
       pointer(cuLaunchKernel_ptsz)},
      {launch_kernel_ex, "cuLaunchKernelEx", "cuLaunchKernelEx", 11060, false, false,
       pointer(cuLaunchKernelEx)},
      {launch_kernel_ex_ptsz, "cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", 11060, true, false,
       pointer(cuLaunchKernelEx_ptsz)},
      {launch_cooperative, "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", 9000, false,
       false, pointer(cuLaunchCooperativeKernel)},
      {launch_cooperative_ptsz, "cuLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernel", 9000,
       true, false, pointer(cuLaunchCooperativeKernel_ptsz)},
      {launch_graph, "cuGraphLaunch", "cuGraphLaunch", 10000, false, false, pointer(cuGraphLaunch)},
      {launch_graph_ptsz, "cuGraphLaunch_ptsz", "cuGraphLaunch", 10000, true, false,
       pointer(cuGraphLaunch_ptsz)},
      {module_get_function, "cuModuleGetFunction", "cuModuleGetFunction", 2000, false, true,
       pointer(cuModuleGetFunction)},
      {module_unload, "cuModuleUnload", "cuModuleUnload", 2000, false, true,
       pointer(cuModuleUnload)},
      {library_get_kernel, "cuLibraryGetKernel", "cuLibraryGetKernel", 12000, false, true,
       pointer(cuLibraryGetKernel)},
      {library_unload, "cuLibraryUnload", "cuLibraryUnload", 12000, false, true,
       pointer(cuLibraryUnload)},
      {kernel_get_function, "cuKernelGetFunction", "cuKernelGetFunction", 12000, false, true,
       pointer(cuKernelGetFunction)},
      {library_enumerate_kernels, "cuLibraryEnumerateKernels", "cuLibraryEnumerateKernels", 12040,
       false, true, pointer(cuLibraryEnumerateKernels)},
      {module_enumerate_functions, "cuModuleEnumerateFunctions", "cuModuleEnumerateFunctions",
       12040, false, true, pointer(cuModuleEnumerateFunctions)},
      {function_load, "cuFuncLoad", "cuFuncLoad", 12040, false, true, pointer(cuFuncLoad)},
      {event_record, "cuEventRecord", "cuEventRecord", 2000, false, false, pointer(cuEventRecord)},
      {event_record_ptsz, "cuEventRecord_ptsz", "cuEventRecord", 7000, true, false,
       pointer(cuEventRecord_ptsz)},
      {event_record_with_flags, "cuEventRecordWithFlags", "cuEventRecordWithFlags", 11010, false,
       false, pointer(cuEventRecordWithFlags)},
      {event_record_with_flags_ptsz, "cuEventRecordWithFlags_ptsz", "cuEventRecordWithFlags", 11010,
       true, false, pointer(cuEventRecordWithFlags_ptsz)},
      {event_destroy, "cuEventDestroy_v2", "cuEventDestroy", 4000, false, true,
       pointer(cuEventDestroy_v2)},
  };
  return all;
}

// The driver's functions, valid once the driver is loaded.
struct Reals {
  void* library = nullptr;
  void* calls[kCalls] = {};
  alignas(DriverGuard) unsigned char guard[sizeof(DriverGuard)] = {};
};
constinit Reals the_reals;
constinit std::atomic<Reals*> ready{nullptr};
constinit std::mutex loading;

Reals* load() {
  if (Reals* const known = ready.load(std::memory_order_acquire)) return known;
  const InternalScope scope;
  const std::lock_guard lock(loading);
  if (Reals* const known = ready.load(std::memory_order_acquire)) return known;
  the_reals.library = real_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (the_reals.library == nullptr) return nullptr;
  for (const CallRow& row : rows())
    the_reals.calls[static_cast<std::size_t>(row.call)] = real_dlsym(the_reals.library, row.symbol);
  const auto find = [](const char* name) { return real_dlsym(the_reals.library, name); };
  auto* const guard = reinterpret_cast<DriverGuard*>(the_reals.guard);
  // The objects are never destroyed, because other libraries call the driver until the process
  // ends.
  new (&guard->driver) Driver(load_driver(find));
  new (&guard->launches) LaunchLog(guard->driver, recorder(), settings().kernels);
  new (&guard->holds) StreamHolds(guard->driver, settings(), recorder());
  new (&guard->memory) DeviceMemory(guard->driver, settings(), recorder(), guard->launches);
  new (&guard->torch) TorchBlocks(guard->driver, guard->memory);
  ready.store(&the_reals, std::memory_order_release);
  return &the_reals;
}

bool is_own(const void* function) {
  for (const CallRow& row : rows())
    if (row.stand_in == function) return true;
  return false;
}

}  // namespace

const CallRow& row_of(Call call) {
  return rows()[static_cast<std::size_t>(call)];
}

const CallRow* row_of_symbol(const char* symbol) {
  for (const CallRow& row : rows())
    if (std::strcmp(row.symbol, symbol) == 0) return &row;
  return nullptr;
}

const CallRow* row_of_request(const char* name, int version, std::uint64_t flags) {
  const bool per_thread = (flags & kCuPerThreadStreams) != 0;
  const CallRow* out = nullptr;
  for (const CallRow& row : rows())
    if (std::strcmp(row.name, name) == 0 && row.since <= version &&
        (row.both || row.per_thread == per_thread) && (out == nullptr || out->since <= row.since))
      out = &row;
  return out;
}

void* real_call(Call call) {
  const Reals* const reals = load();
  return reals == nullptr ? nullptr : reals->calls[static_cast<std::size_t>(call)];
}

DriverGuard* driver_guard() {
  if (!guarding() || !settings().driver) return nullptr;
  Reals* const reals = load();
  if (reals == nullptr) return nullptr;
  auto* const guard = reinterpret_cast<DriverGuard*>(reals->guard);
  return guard->driver.can_guard() ? guard : nullptr;
}

DriverGuard* driver_guard_in_use() {
  return ready.load(std::memory_order_acquire) == nullptr ? nullptr : driver_guard();
}

bool answer_driver_lookup(void* handle, const char* name, void** out) {
  const CallRow* const row = row_of_symbol(name);
  if (row == nullptr || !guarding() || !settings().driver) return false;
  if (handle == RTLD_NEXT) {
    recorder().count(Counter::next_lookups);
    return false;
  }
  if (handle == RTLD_DEFAULT) {
    // With a driver, the ordinary lookup finds the guard's own function, as for any caller. Without
    // a driver the program must not see the guard's function, so look up the next one behind it.
    if (load() != nullptr) return false;
    *out = real_function(name);
    return true;
  }
  *out = real_dlsym(handle, name);
  if (*out == nullptr || is_own(*out)) return true;
  recorder().note(Fact::driver_seen);
  // A library of the program may itself have a function of that name.
  if (*out == real_call(row->call)) *out = row->stand_in;
  return true;
}

namespace {

// True if `function` is a version of the name that the guard has no replacement for; its parameters
// may differ.
bool is_of_another_version(const char* name, const void* function) {
  constexpr int versions = 9;
  const InternalScope scope;
  for (int version = 2; version <= versions; ++version)
    for (const char* const streams : {"", "_ptsz", "_ptds"}) {
      char symbol[128];
      const int n = std::snprintf(symbol, sizeof symbol, "%s_v%d%s", name, version, streams);
      if (n > 0 && static_cast<std::size_t>(n) < sizeof symbol &&
          row_of_symbol(symbol) == nullptr && real_dlsym(load()->library, symbol) == function)
        return true;
    }
  return false;
}

// Replaces a function that the driver returned for a name by the guard's replacement, if there is
// one.
void replace(const char* name, int version, std::uint64_t flags, void** function) {
  if (name == nullptr || function == nullptr || *function == nullptr || !guarding() ||
      !settings().driver || InternalScope::active())
    return;
  recorder().note(Fact::driver_seen);
  for (std::size_t i = 0; i < kCalls; ++i)
    if (const CallRow& row = row_of(static_cast<Call>(i)); real_call(row.call) == *function) {
      *function = row.stand_in;
      return;
    }
  const CallRow* const row = row_of_request(name, version, flags);
  if (row == nullptr) return;
  if (is_of_another_version(name, *function)) return recorder().count(Counter::newer_versions);
  // The driver may return another address than dlsym().
  *function = row->stand_in;
}

}  // namespace

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  const int result = forward(Call::get_proc_address, name, function, version, flags);
  if (result == kCuSuccess) replace(name, version, flags, function);
  return result;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                        int* status) {
  const int result = forward(Call::get_proc_address_v2, name, function, version, flags, status);
  if (result == kCuSuccess) replace(name, version, flags, function);
  return result;
}

int cuGetExportTable(const void** table, const void* id) {
  recorder().count(Counter::export_tables);
  return forward(Call::get_export_table, table, id);
}

}  // namespace redzone::interpose
