// Graphs that are captured from streams and launched later.
#pragma once

#include <vector>

#include "device/cuda/driver_api.h"
#include "device/cuda/gate.h"
#include "device/device.h"

namespace redzone::device::cuda {

// The capture mode is relaxed, so this thread may do unrelated work during the capture (map memory,
// load a kernel). The driver refuses calls that would break a capture, with one of the
// CUDA_ERROR_STREAM_CAPTURE codes.
class GraphSet {
 public:
  GraphSet(const DriverApi& api, Gate& gate) : api_(api), gate_(gate) {}
  // Requires that nothing is in flight, like clear().
  ~GraphSet();
  GraphSet(const GraphSet&) = delete;
  GraphSet& operator=(const GraphSet&) = delete;

  Status<void> begin(CUstream stream);
  // Instantiates the captured work and returns the index of the graph. The capture of the stream
  // has ended in any case.
  Status<int> end();
  // Ends an open capture and discards what it recorded.
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
