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

}  // namespace redzone::interpose
