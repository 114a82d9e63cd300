// Puts event edges between consecutive calls on different streams of the plan, for targets whose
// calls must not overlap (TargetSpec::concurrent_calls). Hand-written plans get the edges, too.
#pragma once

#include <cstdint>

#include "trial/trial_state.h"

namespace redzone::trial {

class CallOrder {
 public:
  // `state` must outlive the order.
  explicit CallOrder(TrialState& state) : state_(state) {}

  // Call before a call, or the replay of a graph, on `stream`: orders it after the last call unless
  // the plan does. False if the trial has stopped.
  bool before(int stream);
  // Records the order that the plan itself establishes.
  void waited(int stream, int on);
  void synchronized() { now_.ordered = ~std::uint32_t{0}; }
  // Captured calls are ordered only among themselves, because they run at the replay.
  void begin_capture();
  void end_capture() { now_ = outside_; }

 private:
  struct Last {
    int stream = -1;            // stream of the last call; -1: no call yet
    std::uint32_t ordered = 0;  // bit set of streams ordered after that call
  };

  TrialState& state_;
  Last now_, outside_;
};

}  // namespace redzone::trial
