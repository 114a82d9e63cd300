// Graphs that are captured from streams and launched again.
#pragma once

#include <vector>

#include "device/cuda/driver_api.h"
#include "device/cuda/gate.h"
#include "device/device.h"

namespace redzone::device::cuda {

// The capture mode is relaxed: what this thread does beside the capture (mapping memory, loading a
// kernel) is its own business. Calls that would end a capture are refused by the driver, with one
// of the CUDA_ERROR_STREAM_CAPTURE codes.
class GraphSet {
 public:
  GraphSet(const DriverApi& api, Gate& gate) : api_(api), gate_(gate) {}
  // Needs nothing in flight, as clear().
  ~GraphSet();
  GraphSet(const GraphSet&) = delete;
  GraphSet& operator=(const GraphSet&) = delete;

  Status<void> begin(CUstream stream);
  // Instantiates what was captured; the index of the graph. The stream is uncaptured in any case.
  Status<int> end();
  // Ends a capture that is open and forgets what it recorded.
  void abandon();
  bool capturing() const { return capturing_; }
  Status<void> launch(CUstream stream, int graph);
  void clear();

 private:
  const DriverApi& api_;
  Gate& gate_;
  bool capturing_ = false;
  CUstream origin_ = nullptr;
  std::vector<CUgraphExec> graphs_;
};

}  // namespace redzone::device::cuda
