// The calls from which a program learns of an error on the device.
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {
namespace {

// Without a context it is the current one.
int checked(int result, const char* call, CuContext context = nullptr) {
  if (!is_sticky(result)) return result;
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.check_result(result, call, context);
  }
  return result;
}

}  // namespace

int cuCtxSynchronize() {
  return checked(forward(Call::ctx_synchronize), "cuCtxSynchronize");
}

int cuCtxSynchronize_v2(CuContext context) {
  return checked(forward(Call::ctx_synchronize_v2, context), "cuCtxSynchronize", context);
}

int cuStreamSynchronize(CuStream stream) {
  return checked(forward(Call::stream_synchronize, stream), "cuStreamSynchronize");
}

int cuStreamSynchronize_ptsz(CuStream stream) {
  return checked(forward(Call::stream_synchronize_ptsz, stream), "cuStreamSynchronize");
}

int cuStreamQuery(CuStream stream) {
  return checked(forward(Call::stream_query, stream), "cuStreamQuery");
}

int cuStreamQuery_ptsz(CuStream stream) {
  return checked(forward(Call::stream_query_ptsz, stream), "cuStreamQuery");
}

int cuEventSynchronize(CuEvent event) {
  return checked(forward(Call::event_synchronize, event), "cuEventSynchronize");
}

int cuEventQuery(CuEvent event) {
  return checked(forward(Call::event_query, event), "cuEventQuery");
}

int cuMemcpyDtoH_v2(void* to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy_to_host, to, from, bytes), "cuMemcpyDtoH");
}

int cuMemcpyDtoH_v2_ptds(void* to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy_to_host_ptds, to, from, bytes), "cuMemcpyDtoH");
}

int cuMemcpyHtoD_v2(CuAddress to, const void* from, std::size_t bytes) {
  return checked(forward(Call::copy_to_device, to, from, bytes), "cuMemcpyHtoD");
}

int cuMemcpyHtoD_v2_ptds(CuAddress to, const void* from, std::size_t bytes) {
  return checked(forward(Call::copy_to_device_ptds, to, from, bytes), "cuMemcpyHtoD");
}

int cuMemcpy(CuAddress to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy, to, from, bytes), "cuMemcpy");
}

int cuMemcpy_ptds(CuAddress to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy_ptds, to, from, bytes), "cuMemcpy");
}

int cuMemcpyAsync(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_async, to, from, bytes, stream), "cuMemcpyAsync");
}

int cuMemcpyAsync_ptsz(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_async_ptsz, to, from, bytes, stream), "cuMemcpyAsync");
}

int cuMemcpyDtoD_v2(CuAddress to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy_on_device, to, from, bytes), "cuMemcpyDtoD");
}

int cuMemcpyDtoD_v2_ptds(CuAddress to, CuAddress from, std::size_t bytes) {
  return checked(forward(Call::copy_on_device_ptds, to, from, bytes), "cuMemcpyDtoD");
}

int cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_on_device_async, to, from, bytes, stream), "cuMemcpyDtoDAsync");
}

int cuMemcpyDtoDAsync_v2_ptsz(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_on_device_async_ptsz, to, from, bytes, stream),
                 "cuMemcpyDtoDAsync");
}

int cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_to_host_async, to, from, bytes, stream), "cuMemcpyDtoHAsync");
}

int cuMemcpyDtoHAsync_v2_ptsz(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_to_host_async_ptsz, to, from, bytes, stream),
                 "cuMemcpyDtoHAsync");
}

int cuMemcpyHtoDAsync_v2(CuAddress to, const void* from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_to_device_async, to, from, bytes, stream), "cuMemcpyHtoDAsync");
}

int cuMemcpyHtoDAsync_v2_ptsz(CuAddress to, const void* from, std::size_t bytes, CuStream stream) {
  return checked(forward(Call::copy_to_device_async_ptsz, to, from, bytes, stream),
                 "cuMemcpyHtoDAsync");
}

int cuMemcpy2D_v2(const void* copy) {
  return checked(forward(Call::copy_2d, copy), "cuMemcpy2D");
}

int cuMemcpy2D_v2_ptds(const void* copy) {
  return checked(forward(Call::copy_2d_ptds, copy), "cuMemcpy2D");
}

int cuMemcpy2DUnaligned_v2(const void* copy) {
  return checked(forward(Call::copy_2d_unaligned, copy), "cuMemcpy2DUnaligned");
}

int cuMemcpy2DUnaligned_v2_ptds(const void* copy) {
  return checked(forward(Call::copy_2d_unaligned_ptds, copy), "cuMemcpy2DUnaligned");
}

int cuMemcpy2DAsync_v2(const void* copy, CuStream stream) {
  return checked(forward(Call::copy_2d_async, copy, stream), "cuMemcpy2DAsync");
}

int cuMemcpy2DAsync_v2_ptsz(const void* copy, CuStream stream) {
  return checked(forward(Call::copy_2d_async_ptsz, copy, stream), "cuMemcpy2DAsync");
}

int cuMemcpy3D_v2(const void* copy) {
  return checked(forward(Call::copy_3d, copy), "cuMemcpy3D");
}

int cuMemcpy3D_v2_ptds(const void* copy) {
  return checked(forward(Call::copy_3d_ptds, copy), "cuMemcpy3D");
}

int cuMemcpy3DAsync_v2(const void* copy, CuStream stream) {
  return checked(forward(Call::copy_3d_async, copy, stream), "cuMemcpy3DAsync");
}

int cuMemcpy3DAsync_v2_ptsz(const void* copy, CuStream stream) {
  return checked(forward(Call::copy_3d_async_ptsz, copy, stream), "cuMemcpy3DAsync");
}

int cuLaunchKernel(void* kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream,
                   void** arguments, void** extra) {
  return checked(forward(Call::launch_kernel, kernel, x, y, z, block_x, block_y, block_z,
                         shared_bytes, stream, arguments, extra),
                 "cuLaunchKernel");
}

int cuLaunchKernel_ptsz(void* kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream,
                        void** arguments, void** extra) {
  return checked(forward(Call::launch_kernel_ptsz, kernel, x, y, z, block_x, block_y, block_z,
                         shared_bytes, stream, arguments, extra),
                 "cuLaunchKernel");
}

int cuLaunchKernelEx(const void* config, void* kernel, void** arguments, void** extra) {
  return checked(forward(Call::launch_kernel_ex, config, kernel, arguments, extra),
                 "cuLaunchKernelEx");
}

int cuLaunchKernelEx_ptsz(const void* config, void* kernel, void** arguments, void** extra) {
  return checked(forward(Call::launch_kernel_ex_ptsz, config, kernel, arguments, extra),
                 "cuLaunchKernelEx");
}

}  // namespace redzone::interpose
