// Captures of streams.
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {
namespace {

// The guard stops its own calls before the capture begins, not after: in between, a call of the
// guard could invalidate the capture.
template <class Begin>
int begin_capture(CuStream stream, Begin begin) {
  DriverGuard* const guard = driver_guard();
  if (guard == nullptr) return begin();
  const InternalScope scope;
  const bool is_new = guard->memory.capture_begins(stream);
  const int result = begin();
  if (result != kCuSuccess && is_new) guard->memory.capture_over(stream);
  return result;
}

template <class End>
int end_capture(CuStream stream, End end) {
  const int result = end();
  // A call from the wrong thread does not end the capture.
  if (result == kCuCaptureWrongThread) return result;
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.capture_over(stream);
  }
  return result;
}

}  // namespace

int cuStreamBeginCapture(CuStream stream) {
  return begin_capture(legacy_stream(stream),
                       [&] { return forward(Call::begin_capture_v1, stream); });
}

int cuStreamBeginCapture_ptsz(CuStream stream) {
  return begin_capture(per_thread_stream(stream),
                       [&] { return forward(Call::begin_capture_v1_ptsz, stream); });
}

int cuStreamBeginCapture_v2(CuStream stream, int mode) {
  return begin_capture(legacy_stream(stream),
                       [&] { return forward(Call::begin_capture, stream, mode); });
}

int cuStreamBeginCapture_v2_ptsz(CuStream stream, int mode) {
  return begin_capture(per_thread_stream(stream),
                       [&] { return forward(Call::begin_capture_ptsz, stream, mode); });
}

int cuStreamBeginCaptureToGraph(CuStream stream, CuGraph graph, const void* dependencies,
                                const void* edges, std::size_t count, int mode) {
  return begin_capture(legacy_stream(stream), [&] {
    return forward(Call::begin_capture_to_graph, stream, graph, dependencies, edges, count, mode);
  });
}

int cuStreamBeginCaptureToGraph_ptsz(CuStream stream, CuGraph graph, const void* dependencies,
                                     const void* edges, std::size_t count, int mode) {
  return begin_capture(per_thread_stream(stream), [&] {
    return forward(Call::begin_capture_to_graph_ptsz, stream, graph, dependencies, edges, count,
                   mode);
  });
}

int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  return end_capture(legacy_stream(stream),
                     [&] { return forward(Call::end_capture, stream, graph); });
}

int cuStreamEndCapture_ptsz(CuStream stream, CuGraph* graph) {
  return end_capture(per_thread_stream(stream),
                     [&] { return forward(Call::end_capture_ptsz, stream, graph); });
}

int cuStreamDestroy_v2(CuStream stream) {
  DriverGuard* const guard = driver_guard_in_use();
  // A capture that was not ended ends with its stream.
  const InternalScope scope;
  const bool captures = guard != nullptr && guard->memory.capture_dies(stream);
  if (guard != nullptr) guard->launches.stream_gone(stream);
  const int result = forward(Call::stream_destroy, stream);
  if (captures) guard->memory.capture_died();
  return result;
}

}  // namespace redzone::interpose
