#include "device/cuda/stream_set.h"

#include "core/error.h"
#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

Status<std::unique_ptr<StreamSet>> StreamSet::create(const DriverApi& api) {
  std::unique_ptr<StreamSet> set(new StreamSet(api));
  for (CUstream& stream : set->streams_)
    if (auto r = api.stream_create(&stream, CU_STREAM_NON_BLOCKING); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api, r, "cuStreamCreate"));
  for (CUevent& event : set->events_)
    if (auto r = api.event_create(&event, CU_EVENT_DISABLE_TIMING); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api, r, "cuEventCreate"));
  return set;
}

StreamSet::~StreamSet() {
  for (CUevent event : events_)
    if (event != nullptr) api_.event_destroy(event);
  for (CUstream stream : streams_)
    if (stream != nullptr) api_.stream_destroy(stream);
}

CUstream StreamSet::operator[](int stream) const {
  RZ_CHECK(stream >= 0 && stream < kDeviceStreams);
  return streams_[static_cast<std::size_t>(stream)];
}

std::span<const CUstream> StreamSet::first(int count) const {
  RZ_CHECK(count >= 0 && count <= kDeviceStreams);
  return {streams_.data(), static_cast<std::size_t>(count)};
}

Status<void> StreamSet::wait(int stream, int on) {
  const CUstream waiting = (*this)[stream];
  const CUstream source = (*this)[on];
  if (stream == on) return {};
  const CUevent event = events_[static_cast<std::size_t>(on)];
  if (auto r = api_.event_record(event, source); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api_, r, "cuEventRecord"));
  return status_of(api_, api_.stream_wait_event(waiting, event, CU_EVENT_WAIT_DEFAULT),
                   "cuStreamWaitEvent");
}

}  // namespace redzone::device::cuda
