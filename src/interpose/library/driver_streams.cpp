// Captures of streams, and the calls from which a program learns of an error on the device.
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {
namespace {

// The guard holds back before the capture begins, and not after: in between it could make a call
// that invalidates it.
template <class Begin>
int begin_capture(CuStream stream, Begin begin) {
  DriverGuard* const guard = driver_guard();
  if (guard == nullptr) return begin();
  const InternalScope scope;
  guard->memory.capture_began(stream);
  const int result = begin();
  if (result != kCuSuccess) guard->memory.capture_ended(stream);
  return result;
}

template <class End>
int end_capture(CuStream stream, End end) {
  const int result = end();
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.capture_ended(stream);
  }
  return result;
}

int checked(int result, const char* call) {
  if (!is_sticky(result)) return result;
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.check_result(result, call);
  }
  return result;
}

}  // namespace

int cuStreamBeginCapture(CuStream stream) {
  return begin_capture(stream, [&] { return forward(Call::begin_capture_v1, stream); });
}

int cuStreamBeginCapture_ptsz(CuStream stream) {
  return begin_capture(stream, [&] { return forward(Call::begin_capture_v1_ptsz, stream); });
}

int cuStreamBeginCapture_v2(CuStream stream, int mode) {
  return begin_capture(stream, [&] { return forward(Call::begin_capture, stream, mode); });
}

int cuStreamBeginCapture_v2_ptsz(CuStream stream, int mode) {
  return begin_capture(stream, [&] { return forward(Call::begin_capture_ptsz, stream, mode); });
}

int cuStreamBeginCaptureToGraph(CuStream stream, CuGraph graph, const void* dependencies,
                                const void* edges, std::size_t count, int mode) {
  return begin_capture(stream, [&] {
    return forward(Call::begin_capture_to_graph, stream, graph, dependencies, edges, count, mode);
  });
}

int cuStreamBeginCaptureToGraph_ptsz(CuStream stream, CuGraph graph, const void* dependencies,
                                     const void* edges, std::size_t count, int mode) {
  return begin_capture(stream, [&] {
    return forward(Call::begin_capture_to_graph_ptsz, stream, graph, dependencies, edges, count,
                   mode);
  });
}

int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  return end_capture(stream, [&] { return forward(Call::end_capture, stream, graph); });
}

int cuStreamEndCapture_ptsz(CuStream stream, CuGraph* graph) {
  return end_capture(stream, [&] { return forward(Call::end_capture_ptsz, stream, graph); });
}

int cuStreamDestroy_v2(CuStream stream) {
  // A capture that nobody has ended ends with its stream.
  return end_capture(stream, [&] { return forward(Call::stream_destroy, stream); });
}

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
