// Streams, events, captures and copies of the stand-in for libcuda.so.1.
#include <algorithm>
#include <cstring>

#include "interpose/fake_state.h"

// NOLINTBEGIN: the names and the types are the driver's
using namespace redzone::fake;

FAKE_EXPORT int cuMemsetD8Async(CuAddress address, unsigned char value, std::size_t bytes,
                                CuStream stream) {
  // A capture of the legacy stream is not allowed, and work on it waits for captured streams.
  FAKE_CALL(stream == nullptr || stream == kLegacyStream);
  return give(stream, [=] {
    if (!is_mapped(address, bytes)) return int{kCuIllegalAddress};
    std::memset(host(address), value, bytes);
    return 0;
  });
}
FAKE_EXPORT int cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] {
    if (!is_mapped(from, bytes)) return int{kCuIllegalAddress};
    std::memcpy(to, host(from), bytes);
    return 0;
  });
}
FAKE_EXPORT int cuMemcpyDtoH_v2(void* to, CuAddress from, std::size_t bytes) {
  FAKE_CALL(true);
  run_all();
  if (const int failed = sticky_of(current())) return failed;
  if (!is_mapped(from, bytes)) return kCuInvalidValue;
  std::memcpy(to, host(from), bytes);
  return 0;
}
FAKE_EXPORT int cuMemcpyHtoD_v2(CuAddress to, const void* from, std::size_t bytes) {
  FAKE_CALL(true);
  run_all();
  if (const int failed = sticky_of(current())) return failed;
  if (!is_mapped(to, bytes)) return kCuInvalidValue;
  std::memcpy(host(to), from, bytes);
  return 0;
}

FAKE_EXPORT int cuStreamCreate(CuStream* out, unsigned) {
  FAKE_CALL();
  State& s = state();
  auto* const made = s.all_streams.emplace_back(std::make_unique<Stream>()).get();
  made->context = current();
  // A handle of a stream that was destroyed may come back.
  *out = reinterpret_cast<CuStream>(made);
  if (!s.free_handles.empty()) {
    *out = s.free_handles.back();
    s.free_handles.pop_back();
  }
  s.streams[{*out, nullptr, {}}] = made;
  return 0;
}
FAKE_EXPORT int cuStreamDestroy_v2(CuStream handle) {
  FAKE_CALL();
  const auto at = state().streams.find({handle, nullptr, {}});
  if (at == state().streams.end()) return kInvalidHandle;
  // Its work is still done; the object stays for the events that were recorded in it.
  at->second->capturing = false;
  state().streams.erase(at);
  state().free_handles.push_back(handle);
  return 0;
}
FAKE_EXPORT int cuStreamGetCtx(CuStream handle, CuContext* out) {
  FAKE_CALL();
  *out = stream_of(handle).context;
  return 0;
}
FAKE_EXPORT int cuStreamSynchronize(CuStream handle) {
  FAKE_CALL(true);
  Stream& stream = stream_of(handle);
  wait_until(lock, __func__, [&] {
    run(stream, stream.given);
    return stream.work.empty();
  });
  return sticky_of(stream.context);
}
FAKE_EXPORT int cuStreamQuery(CuStream handle) {
  FAKE_CALL(true);
  return stream_of(handle).work.empty() ? 0 : kCuNotReady;
}
FAKE_EXPORT int cuStreamWaitEvent(CuStream handle, CuEvent event, unsigned) {
  FAKE_CALL();
  const auto after = reinterpret_cast<Event*>(event)->after;
  return give(handle, [after] {
    for (const auto& [stream, count] : after) {
      run(*stream, count);
      if (stream->done < count) return int{kCuNotReady};
    }
    return 0;
  });
}

namespace {

int begin_capture(CuStream handle) {
  if (handle == nullptr || handle == kLegacyStream) return kCaptureUnsupported;
  Stream& stream = stream_of(handle);
  if (stream.capturing) return kIllegalState;
  stream.capturing = true;
  state().invalidated = false;
  return kCuSuccess;
}

int end_capture(CuStream handle, CuGraph* graph) {
  Stream& stream = stream_of(handle);
  if (!stream.capturing) return kIllegalState;
  stream.capturing = false;
  *graph = nullptr;
  return state().invalidated ? kCaptureInvalidated : 0;
}

// The stream that 0 means for functions with a suffix.
CuStream per_thread(CuStream handle) {
  return handle == nullptr ? kThreadStream : handle;
}

}  // namespace

FAKE_EXPORT int cuStreamBeginCapture_v2(CuStream stream, int) {
  FAKE_CALL();
  return begin_capture(stream);
}
FAKE_EXPORT int cuStreamBeginCapture_v2_ptsz(CuStream stream, int) {
  FAKE_CALL();
  return begin_capture(per_thread(stream));
}
FAKE_EXPORT int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  FAKE_CALL();
  return end_capture(stream, graph);
}
FAKE_EXPORT int cuStreamEndCapture_ptsz(CuStream stream, CuGraph* graph) {
  FAKE_CALL();
  return end_capture(per_thread(stream), graph);
}
FAKE_EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  FAKE_CALL();
  *mode = exchange_capture_mode(*mode);
  return 0;
}
FAKE_EXPORT int cuStreamIsCapturing(CuStream stream, int* status) {
  FAKE_CALL();
  *status = stream_of(stream).capturing ? 1 : 0;
  return 0;
}
FAKE_EXPORT int cuLaunchHostFunc(CuStream stream, void (*function)(void*), void* argument) {
  FAKE_CALL();
  return give(stream, [=] {
    function(argument);
    return 0;
  });
}
FAKE_EXPORT int cuEventCreate(CuEvent* out, unsigned) {
  FAKE_CALL(true);
  auto* const made = state().all_events.emplace_back(std::make_unique<Event>()).get();
  made->context = current();
  *out = reinterpret_cast<CuEvent>(made);
  return 0;
}
FAKE_EXPORT int cuEventRecord(CuEvent event, CuStream handle) {
  FAKE_CALL();
  Stream& stream = stream_of(handle);
  auto& of = *reinterpret_cast<Event*>(event);
  if (of.context != stream.context) return kInvalidHandle;
  of.after = {{&stream, stream.given}};
  return 0;
}
FAKE_EXPORT int cuEventRecordWithFlags(CuEvent event, CuStream handle, unsigned) {
  return cuEventRecord(event, handle);
}
FAKE_EXPORT int cuEventDestroy_v2(CuEvent) {
  FAKE_CALL();
  return 0;  // the object stays for what was given to streams
}
FAKE_EXPORT int cuCtxRecordEvent(CuContext context, CuEvent event) {
  FAKE_CALL(true);
  auto& of = *reinterpret_cast<Event*>(event);
  if (of.context != context) return kInvalidHandle;
  of.after.clear();
  for (const auto& stream : state().all_streams)
    if (stream->context == context) of.after[stream.get()] = stream->given;
  return 0;
}
FAKE_EXPORT int cuEventQuery(CuEvent event) {
  FAKE_CALL(true);
  const auto& of = *reinterpret_cast<Event*>(event);
  for (const auto& [stream, count] : of.after) {
    if (state().eager) run(*stream, count);
    if (stream->done < count) return kCuNotReady;
  }
  return sticky_of(of.context);
}
FAKE_EXPORT int cuEventSynchronize(CuEvent event) {
  FAKE_CALL(true);
  const auto of = *reinterpret_cast<Event*>(event);
  wait_until(lock, __func__, [&] {
    bool passed = true;
    for (const auto& [stream, count] : of.after) {
      run(*stream, count);
      passed = passed && stream->done >= count;
    }
    return passed;
  });
  return sticky_of(of.context);
}
// NOLINTEND
