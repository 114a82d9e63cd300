// The driver functions that the guard replaces, under the driver's own names, so that a program
// that is linked with libcuda.so.1 finds them first. The source files document what each does; each
// forwards to the driver unless the guard handles the call.
#pragma once

#include "interpose/driver_abi.h"
#include "interpose/library/export.h"

// NOLINTBEGIN: the names and the types are the driver's
namespace redzone::interpose {

// The stream that 0 means in functions without and with the suffix _ptsz or _ptds.
inline CuStream legacy_stream(CuStream stream) {
  return stream == nullptr ? kLegacyStream : stream;
}
inline CuStream per_thread_stream(CuStream stream) {
  return stream == nullptr ? kThreadStream : stream;
}

REDZONE_EXPORT int cuGetProcAddress(const char*, void**, int, std::uint64_t);
REDZONE_EXPORT int cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);
REDZONE_EXPORT int cuGetExportTable(const void**, const void*);

REDZONE_EXPORT int cuMemAlloc_v2(CuAddress*, std::size_t);
REDZONE_EXPORT int cuMemAllocPitch_v2(CuAddress*, std::size_t*, std::size_t, std::size_t, unsigned);
REDZONE_EXPORT int cuMemFree_v2(CuAddress);
REDZONE_EXPORT int cuMemAllocAsync(CuAddress*, std::size_t, CuStream);
REDZONE_EXPORT int cuMemAllocAsync_ptsz(CuAddress*, std::size_t, CuStream);
REDZONE_EXPORT int cuMemAllocFromPoolAsync(CuAddress*, std::size_t, CuPool, CuStream);
REDZONE_EXPORT int cuMemAllocFromPoolAsync_ptsz(CuAddress*, std::size_t, CuPool, CuStream);
REDZONE_EXPORT int cuMemFreeAsync(CuAddress, CuStream);
REDZONE_EXPORT int cuMemFreeAsync_ptsz(CuAddress, CuStream);
REDZONE_EXPORT int cuMemPoolCreate(CuPool*, const CuPoolProps*);
REDZONE_EXPORT int cuMemPoolDestroy(CuPool);
REDZONE_EXPORT int cuMemPoolExportPointer(void*, CuAddress);
REDZONE_EXPORT int cuMemGetInfo_v2(std::size_t*, std::size_t*);
REDZONE_EXPORT int cuMemGetAddressRange_v2(CuAddress*, std::size_t*, CuAddress);
REDZONE_EXPORT int cuPointerGetAttribute(void*, int, CuAddress);
REDZONE_EXPORT int cuPointerGetAttributes(unsigned, int*, void**, CuAddress);
REDZONE_EXPORT int cuIpcGetMemHandle(void*, CuAddress);

// Counted, but not guarded.
REDZONE_EXPORT int cuMemAllocManaged(CuAddress*, std::size_t, unsigned);
REDZONE_EXPORT int cuMemAllocHost_v2(void**, std::size_t);
REDZONE_EXPORT int cuMemHostAlloc(void**, std::size_t, unsigned);
REDZONE_EXPORT int cuMemCreate(CuMemoryHandle*, std::size_t, const CuMemAllocationProp*,
                               unsigned long long);

REDZONE_EXPORT int cuCtxEnablePeerAccess(CuContext, unsigned);
REDZONE_EXPORT int cuCtxDestroy_v2(CuContext);
REDZONE_EXPORT int cuDevicePrimaryCtxRetain(CuContext*, CuDevice);
REDZONE_EXPORT int cuDevicePrimaryCtxReset_v2(CuDevice);
REDZONE_EXPORT int cuDevicePrimaryCtxRelease_v2(CuDevice);

REDZONE_EXPORT int cuStreamBeginCapture(CuStream);
REDZONE_EXPORT int cuStreamBeginCapture_ptsz(CuStream);
REDZONE_EXPORT int cuStreamBeginCapture_v2(CuStream, int);
REDZONE_EXPORT int cuStreamBeginCapture_v2_ptsz(CuStream, int);
REDZONE_EXPORT int cuStreamBeginCaptureToGraph(CuStream, CuGraph, const void*, const void*,
                                               std::size_t, int);
REDZONE_EXPORT int cuStreamBeginCaptureToGraph_ptsz(CuStream, CuGraph, const void*, const void*,
                                                    std::size_t, int);
REDZONE_EXPORT int cuStreamEndCapture(CuStream, CuGraph*);
REDZONE_EXPORT int cuStreamEndCapture_ptsz(CuStream, CuGraph*);
REDZONE_EXPORT int cuStreamDestroy_v2(CuStream);

// Calls that can return an error of the device; the first one is reported.
REDZONE_EXPORT int cuCtxSynchronize();
REDZONE_EXPORT int cuCtxSynchronize_v2(CuContext);
REDZONE_EXPORT int cuStreamSynchronize(CuStream);
REDZONE_EXPORT int cuStreamSynchronize_ptsz(CuStream);
REDZONE_EXPORT int cuStreamQuery(CuStream);
REDZONE_EXPORT int cuStreamQuery_ptsz(CuStream);
REDZONE_EXPORT int cuEventSynchronize(CuEvent);
REDZONE_EXPORT int cuEventQuery(CuEvent);
REDZONE_EXPORT int cuMemcpyDtoH_v2(void*, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyDtoH_v2_ptds(void*, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyHtoD_v2(CuAddress, const void*, std::size_t);
REDZONE_EXPORT int cuMemcpyHtoD_v2_ptds(CuAddress, const void*, std::size_t);
REDZONE_EXPORT int cuMemcpy(CuAddress, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpy_ptds(CuAddress, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyAsync(CuAddress, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyAsync_ptsz(CuAddress, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyDtoD_v2(CuAddress, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyDtoD_v2_ptds(CuAddress, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyDtoDAsync_v2(CuAddress, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyDtoDAsync_v2_ptsz(CuAddress, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyDtoHAsync_v2(void*, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyDtoHAsync_v2_ptsz(void*, CuAddress, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyHtoDAsync_v2(CuAddress, const void*, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyHtoDAsync_v2_ptsz(CuAddress, const void*, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpy2D_v2(const void*);
REDZONE_EXPORT int cuMemcpy2D_v2_ptds(const void*);
REDZONE_EXPORT int cuMemcpy2DUnaligned_v2(const void*);
REDZONE_EXPORT int cuMemcpy2DUnaligned_v2_ptds(const void*);
REDZONE_EXPORT int cuMemcpy2DAsync_v2(const void*, CuStream);
REDZONE_EXPORT int cuMemcpy2DAsync_v2_ptsz(const void*, CuStream);
REDZONE_EXPORT int cuMemcpy3D_v2(const void*);
REDZONE_EXPORT int cuMemcpy3D_v2_ptds(const void*);
REDZONE_EXPORT int cuMemcpy3DAsync_v2(const void*, CuStream);
REDZONE_EXPORT int cuMemcpy3DAsync_v2_ptsz(const void*, CuStream);
REDZONE_EXPORT int cuMemcpyPeer(CuAddress, CuContext, CuAddress, CuContext, std::size_t);
REDZONE_EXPORT int cuMemcpyPeer_ptds(CuAddress, CuContext, CuAddress, CuContext, std::size_t);
REDZONE_EXPORT int cuMemcpyPeerAsync(CuAddress, CuContext, CuAddress, CuContext, std::size_t,
                                     CuStream);
REDZONE_EXPORT int cuMemcpyPeerAsync_ptsz(CuAddress, CuContext, CuAddress, CuContext, std::size_t,
                                          CuStream);
REDZONE_EXPORT int cuMemcpy3DPeer(const void*);
REDZONE_EXPORT int cuMemcpy3DPeer_ptds(const void*);
REDZONE_EXPORT int cuMemcpy3DPeerAsync(const void*, CuStream);
REDZONE_EXPORT int cuMemcpy3DPeerAsync_ptsz(const void*, CuStream);
REDZONE_EXPORT int cuMemcpyDtoA_v2(void*, std::size_t, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyDtoA_v2_ptds(void*, std::size_t, CuAddress, std::size_t);
REDZONE_EXPORT int cuMemcpyAtoD_v2(CuAddress, void*, std::size_t, std::size_t);
REDZONE_EXPORT int cuMemcpyAtoD_v2_ptds(CuAddress, void*, std::size_t, std::size_t);
REDZONE_EXPORT int cuMemcpyBatchAsync(const CuAddress*, const CuAddress*, const std::size_t*,
                                      std::size_t, void*, std::size_t*, std::size_t, std::size_t*,
                                      CuStream);
REDZONE_EXPORT int cuMemcpyBatchAsync_ptsz(const CuAddress*, const CuAddress*, const std::size_t*,
                                           std::size_t, void*, std::size_t*, std::size_t,
                                           std::size_t*, CuStream);
REDZONE_EXPORT int cuMemcpyBatchAsync_v2(const CuAddress*, const CuAddress*, const std::size_t*,
                                         std::size_t, void*, std::size_t*, std::size_t, CuStream);
REDZONE_EXPORT int cuMemcpyBatchAsync_v2_ptsz(const CuAddress*, const CuAddress*,
                                              const std::size_t*, std::size_t, void*, std::size_t*,
                                              std::size_t, CuStream);
REDZONE_EXPORT int cuStreamWriteValue32(CuStream, CuAddress, std::uint32_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue32_ptsz(CuStream, CuAddress, std::uint32_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue32_v2(CuStream, CuAddress, std::uint32_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue32_v2_ptsz(CuStream, CuAddress, std::uint32_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue64(CuStream, CuAddress, std::uint64_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue64_ptsz(CuStream, CuAddress, std::uint64_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue64_v2(CuStream, CuAddress, std::uint64_t, unsigned);
REDZONE_EXPORT int cuStreamWriteValue64_v2_ptsz(CuStream, CuAddress, std::uint64_t, unsigned);
REDZONE_EXPORT int cuMemsetD8_v2(CuAddress, unsigned char, std::size_t);
REDZONE_EXPORT int cuMemsetD8_v2_ptds(CuAddress, unsigned char, std::size_t);
REDZONE_EXPORT int cuMemsetD8Async(CuAddress, unsigned char, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD8Async_ptsz(CuAddress, unsigned char, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD16_v2(CuAddress, unsigned short, std::size_t);
REDZONE_EXPORT int cuMemsetD16_v2_ptds(CuAddress, unsigned short, std::size_t);
REDZONE_EXPORT int cuMemsetD16Async(CuAddress, unsigned short, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD16Async_ptsz(CuAddress, unsigned short, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD32_v2(CuAddress, unsigned, std::size_t);
REDZONE_EXPORT int cuMemsetD32_v2_ptds(CuAddress, unsigned, std::size_t);
REDZONE_EXPORT int cuMemsetD32Async(CuAddress, unsigned, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD32Async_ptsz(CuAddress, unsigned, std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD2D8_v2(CuAddress, std::size_t, unsigned char, std::size_t, std::size_t);
REDZONE_EXPORT int cuMemsetD2D8_v2_ptds(CuAddress, std::size_t, unsigned char, std::size_t,
                                        std::size_t);
REDZONE_EXPORT int cuMemsetD2D8Async(CuAddress, std::size_t, unsigned char, std::size_t,
                                     std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD2D8Async_ptsz(CuAddress, std::size_t, unsigned char, std::size_t,
                                          std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD2D16_v2(CuAddress, std::size_t, unsigned short, std::size_t,
                                    std::size_t);
REDZONE_EXPORT int cuMemsetD2D16_v2_ptds(CuAddress, std::size_t, unsigned short, std::size_t,
                                         std::size_t);
REDZONE_EXPORT int cuMemsetD2D16Async(CuAddress, std::size_t, unsigned short, std::size_t,
                                      std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD2D16Async_ptsz(CuAddress, std::size_t, unsigned short, std::size_t,
                                           std::size_t, CuStream);
REDZONE_EXPORT int cuMemsetD2D32_v2(CuAddress, std::size_t, unsigned, std::size_t, std::size_t);
REDZONE_EXPORT int cuMemsetD2D32_v2_ptds(CuAddress, std::size_t, unsigned, std::size_t,
                                         std::size_t);
REDZONE_EXPORT int cuMemsetD2D32Async(CuAddress, std::size_t, unsigned, std::size_t, std::size_t,
                                      CuStream);
REDZONE_EXPORT int cuMemsetD2D32Async_ptsz(CuAddress, std::size_t, unsigned, std::size_t,
                                           std::size_t, CuStream);
REDZONE_EXPORT int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, CuStream, void**, void**);
REDZONE_EXPORT int cuLaunchKernel_ptsz(void*, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, CuStream, void**, void**);
REDZONE_EXPORT int cuLaunchKernelEx(const void*, void*, void**, void**);
REDZONE_EXPORT int cuLaunchKernelEx_ptsz(const void*, void*, void**, void**);
REDZONE_EXPORT int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned,
                                             unsigned, unsigned, unsigned, CuStream, void**);
REDZONE_EXPORT int cuLaunchCooperativeKernel_ptsz(void*, unsigned, unsigned, unsigned, unsigned,
                                                  unsigned, unsigned, unsigned, CuStream, void**);
REDZONE_EXPORT int cuGraphLaunch(void*, CuStream);
REDZONE_EXPORT int cuGraphLaunch_ptsz(void*, CuStream);

// Functions that return or invalidate handles of kernels.
REDZONE_EXPORT int cuModuleGetFunction(void**, void*, const char*);
REDZONE_EXPORT int cuModuleUnload(void*);
REDZONE_EXPORT int cuLibraryGetKernel(void**, void*, const char*);
REDZONE_EXPORT int cuLibraryUnload(void*);
REDZONE_EXPORT int cuKernelGetFunction(void**, void*);
REDZONE_EXPORT int cuLibraryEnumerateKernels(void**, unsigned, void*);
REDZONE_EXPORT int cuModuleEnumerateFunctions(void**, unsigned, void*);
REDZONE_EXPORT int cuFuncLoad(void*);

// Functions that determine what a wait for an event covers.
REDZONE_EXPORT int cuEventRecord(CuEvent, CuStream);
REDZONE_EXPORT int cuEventRecord_ptsz(CuEvent, CuStream);
REDZONE_EXPORT int cuEventRecordWithFlags(CuEvent, CuStream, unsigned);
REDZONE_EXPORT int cuEventRecordWithFlags_ptsz(CuEvent, CuStream, unsigned);
REDZONE_EXPORT int cuEventDestroy_v2(CuEvent);

}  // namespace redzone::interpose
// NOLINTEND
