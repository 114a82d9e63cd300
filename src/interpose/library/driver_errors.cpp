// The calls from which a program learns of an error on the device.
#include "interpose/library/driver_errors.h"

#include <optional>

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

namespace {

// A wait of the program, for a stream or else for a context (the current one if it is null). What
// was launched before it has completed when it returns.
template <class Forward>
int wait(CuContext context, std::optional<CuStream> stream, const char* call,
         Forward forward_call) {
  DriverGuard* const guard = driver_guard_in_use();
  if (guard == nullptr) return forward_call();
  guard->holds.release();
  const std::uint64_t returned = guard->launches.returned();
  const int result = forward_call();
  if (result != kCuSuccess) return checked(result, call, context);
  if (context == nullptr) guard->driver.get_context(&context);
  guard->launches.completed(context, stream, returned);
  const InternalScope scope;
  guard->memory.retire_passed(call);
  return result;
}

}  // namespace

void release_holds() {
  if (DriverGuard* const guard = driver_guard_in_use()) guard->holds.release();
}

int cuCtxSynchronize() {
  return wait(nullptr, std::nullopt, "cuCtxSynchronize",
              [] { return forward(Call::ctx_synchronize); });
}

int cuCtxSynchronize_v2(CuContext context) {
  return wait(context, std::nullopt, "cuCtxSynchronize",
              [&] { return forward(Call::ctx_synchronize_v2, context); });
}

int cuStreamSynchronize(CuStream stream) {
  return wait(nullptr, legacy_stream(stream), "cuStreamSynchronize",
              [&] { return forward(Call::stream_synchronize, stream); });
}

int cuStreamSynchronize_ptsz(CuStream stream) {
  return wait(nullptr, per_thread_stream(stream), "cuStreamSynchronize",
              [&] { return forward(Call::stream_synchronize_ptsz, stream); });
}

int cuStreamQuery(CuStream stream) {
  return wait(nullptr, legacy_stream(stream), "cuStreamQuery",
              [&] { return forward(Call::stream_query, stream); });
}

int cuStreamQuery_ptsz(CuStream stream) {
  return wait(nullptr, per_thread_stream(stream), "cuStreamQuery",
              [&] { return forward(Call::stream_query_ptsz, stream); });
}

int cuEventSynchronize(CuEvent event) {
  release_holds();
  return checked(forward(Call::event_synchronize, event), "cuEventSynchronize");
}

int cuEventQuery(CuEvent event) {
  release_holds();
  return checked(forward(Call::event_query, event), "cuEventQuery");
}

}  // namespace redzone::interpose
