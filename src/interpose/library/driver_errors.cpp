// The calls by which a program waits for the device and learns of its errors.
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

// A wait of the program for a stream, or else for a context (the current one if it is null). When
// it returns, the launches before it have completed.
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

// A wait for an event refers to the last record of the event before the wait began.
template <class Forward>
int wait_for_event(CuEvent event, const char* call, Forward forward_call) {
  DriverGuard* const guard = driver_guard_in_use();
  if (guard == nullptr) return forward_call();
  guard->holds.release();
  const auto mark = guard->launches.mark_of(event);
  const int result = forward_call();
  if (result == kCuSuccess && mark) guard->launches.passed(*mark);
  return checked(result, call);
}

// Launches whose calls have returned before the event is recorded precede it in the stream.
template <class Forward>
int record_event(CuEvent event, CuStream stream, Forward forward_call) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard_in_use();
  if (guard == nullptr) return forward_call();
  bool captured = false;
  std::uint64_t returned = 0;
  {
    const InternalScope scope;
    captured = guard->memory.captures(stream);
    returned = guard->launches.returned();
    guard->launches.record_begins(event);
  }
  const int result = forward_call();
  const InternalScope scope;
  guard->launches.record_ends(event, stream, returned, result == kCuSuccess && !captured);
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
  return wait_for_event(event, "cuEventSynchronize",
                        [&] { return forward(Call::event_synchronize, event); });
}

int cuEventQuery(CuEvent event) {
  return wait_for_event(event, "cuEventQuery", [&] { return forward(Call::event_query, event); });
}

int cuEventRecord(CuEvent event, CuStream stream) {
  return record_event(event, legacy_stream(stream),
                      [&] { return forward(Call::event_record, event, stream); });
}

int cuEventRecord_ptsz(CuEvent event, CuStream stream) {
  return record_event(event, per_thread_stream(stream),
                      [&] { return forward(Call::event_record_ptsz, event, stream); });
}

int cuEventRecordWithFlags(CuEvent event, CuStream stream, unsigned flags) {
  return record_event(event, legacy_stream(stream),
                      [&] { return forward(Call::event_record_with_flags, event, stream, flags); });
}

int cuEventRecordWithFlags_ptsz(CuEvent event, CuStream stream, unsigned flags) {
  return record_event(event, per_thread_stream(stream), [&] {
    return forward(Call::event_record_with_flags_ptsz, event, stream, flags);
  });
}

int cuEventDestroy_v2(CuEvent event) {
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->launches.event_gone(event);
  }
  return forward(Call::event_destroy, event);
}

}  // namespace redzone::interpose
