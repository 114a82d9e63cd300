#include "device/cuda/graph_set.h"

#include <utility>

#include "core/error.h"
#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

GraphSet::~GraphSet() {
  abandon();
  clear();
}

Status<void> GraphSet::begin(CUstream stream) {
  RZ_CHECK(!capturing_);
  if (auto r = api_.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api_, r, "cuStreamBeginCapture"));
  capturing_ = true;
  origin_ = stream;
  return gate_.set_capturing(true);
}

Status<int> GraphSet::end() {
  RZ_CHECK(capturing_);
  capturing_ = false;
  CUgraph graph = nullptr;
  const CUresult ended = api_.end_capture(origin_, &graph);
  if (auto closed = gate_.set_capturing(false); ended == CUDA_SUCCESS && !closed) {
    api_.graph_destroy(graph);
    return tl::unexpected(std::move(closed.error()));
  }
  if (ended != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, ended, "cuStreamEndCapture"));
  CUgraphExec executable = nullptr;
  const CUresult made = api_.graph_instantiate(&executable, graph, 0);
  api_.graph_destroy(graph);  // the executable graph has its own copy
  if (made != CUDA_SUCCESS) return tl::unexpected(failure_of(api_, made, "cuGraphInstantiate"));
  graphs_.push_back(executable);
  return static_cast<int>(graphs_.size()) - 1;
}

void GraphSet::abandon() {
  if (!std::exchange(capturing_, false)) return;
  CUgraph graph = nullptr;
  if (api_.end_capture(origin_, &graph) == CUDA_SUCCESS && graph != nullptr)
    api_.graph_destroy(graph);
  // Ignores an error: it is an error of the context, which the next call reports.
  (void)gate_.set_capturing(false);
}

Status<void> GraphSet::launch(CUstream stream, int graph) {
  RZ_CHECK(graph >= 0 && static_cast<std::size_t>(graph) < graphs_.size());
  return status_of(api_, api_.graph_launch(graphs_[static_cast<std::size_t>(graph)], stream),
                   "cuGraphLaunch");
}

void GraphSet::clear() {
  for (CUgraphExec graph : graphs_) api_.graph_exec_destroy(graph);
  graphs_.clear();
}

}  // namespace redzone::device::cuda
