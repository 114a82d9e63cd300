// The graphs of a plan: calls that are captured at their position in the plan and run by replays.
//
// The harness's own work is not captured. Before each replay the outputs, in-out tensors and
// scratch of its calls are filled again, on the stream of the replay, so that a captured call sees
// the same data as a plain one. (Scratch of a repeated call is filled once for all its runs.)
#pragma once

#include <array>
#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

class PlanGraphs {
 public:
  // `units`: the units of one segment, which contains its graphs from the capture to the last
  // replay. Both arguments must outlive the object.
  PlanGraphs(TrialState& state, std::vector<CallUnit>& units) : state_(state), units_(units) {}

  // Until end_capture(), calls become part of the graph item.graph; `unit` is the index of the next
  // unit to run.
  void capture(const RunItem& item, std::size_t unit);
  // Does nothing without a capture. Call it on every path.
  void end_capture(std::size_t unit);
  // Runs the graph item.runs times. Stops the session on failure.
  void replay(const RunItem& item);

 private:
  struct Graph {
    int captured = 0;                // the session's number of the graph; 0: none
    std::size_t begin = 0, end = 0;  // units
    int stream = -1;                 // stream of the last replay; -1: none
    bool replayed = false;
  };

  Graph& of(const RunItem& item) { return graphs_[static_cast<std::size_t>(item.graph)]; }
  void collect_fills(const Graph& graph);

  TrialState& state_;
  std::vector<CallUnit>& units_;
  std::array<Graph, kMaxGraphs + 1> graphs_ = {};
  Graph* open_ = nullptr;
  int origin_ = 0;
  std::vector<device::BufferJob> jobs_;
};

}  // namespace redzone::trial
