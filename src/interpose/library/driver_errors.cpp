// The calls from which a program learns of an error on the device.
#include "interpose/library/driver_errors.h"
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {

int checked(int result, const char* call, CuContext context) {
  if (!is_sticky(result)) return result;
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.check_result(result, call, context);
  }
  return result;
}

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
