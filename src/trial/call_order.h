// Event edges between consecutive calls on different streams of the plan, for targets whose calls
// must not overlap (TargetSpec::concurrent_calls): so that hand-written plans get them too.
#pragma once

#include <cstdint>

#include "trial/trial_state.h"

namespace redzone::trial {

class CallOrder {
 public:
  // `state` outlives the order.
  explicit CallOrder(TrialState& state) : state_(state) {}

  // Before a call, or the replay of a graph, on `stream`: orders it behind the last one, unless the
  // plan does. False when the trial has stopped.
  bool before(int stream);
  // What the plan orders itself.
  void waited(int stream, int on);
  void synchronized() { now_.ordered = ~std::uint32_t{0}; }
  // Captured calls are ordered among themselves only: they run at the replay.
  void begin_capture();
  void end_capture() { now_ = outside_; }

 private:
  struct Last {
    int stream = -1;            // of the last call; -1: there was none
    std::uint32_t ordered = 0;  // bit set of streams that come behind it
  };

  TrialState& state_;
  Last now_, outside_;
};

}  // namespace redzone::trial
