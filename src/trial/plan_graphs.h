// The graphs of a plan: runs of calls that are captured where they stand and run by their replays.
//
// What the harness does itself stays out of a graph. Before each replay the outputs, in-out tensors
// and scratch of its calls are filled anew, on the stream of the replay, so that a captured call
// meets what a plain one would. (Scratch of the runs of a repeated call is filled once for all.)
#pragma once

#include <array>
#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

class PlanGraphs {
 public:
  // The units of one segment, which holds its graphs from the capture to the last replay. Both
  // outlive the graphs.
  PlanGraphs(TrialState& state, std::vector<CallUnit>& units) : state_(state), units_(units) {}

  // Until end_capture() the calls that run are the body of item.graph; `unit` is the next to run.
  void capture(const RunItem& item, std::size_t unit);
  // Does nothing without a capture. To be called on every path.
  void end_capture(std::size_t unit);
  // Runs it item.runs times. Stops the session where it fails.
  void replay(const RunItem& item);

 private:
  struct Graph {
    int captured = 0;                // the session's number; 0: none
    std::size_t begin = 0, end = 0;  // units
    int stream = -1;                 // of the last replay
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
