// A trial of a plan, unrolled into a sequence of items.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/trial.h"

namespace redzone::trial {

struct RunItem {
  // capture and end_capture enclose the calls (and waits) of a graph's body.
  enum class Kind : std::uint8_t { call, sync, wait, capture, end_capture, replay };
  Kind kind = Kind::call;
  const Call* call = nullptr;  // borrowed from the plan
  std::int32_t index = -1;     // call index
  int stream = 0;
  int on = 0;             // wait: the stream waited for
  std::int64_t runs = 1;  // call: repetitions on the same buffers; replay: repetitions
  int graph = 0;          // the graph that the item belongs to, from 1; 0: none
  bool joined = false;    // in the same segment as the preceding item, because buffers of a graph
                          // must stay alive
  bool first = true;      // first of the items that share this call index
  bool last = true;
};

struct Schedule {
  std::vector<RunItem> items;
  std::int32_t calls = 0;  // call indices in the plan
  int streams = 1;         // 0 .. streams - 1 are used
};

// Overwrites `out`, which is a parameter so that its memory is reused. `own_buffers`: each repeat
// of a call is a separate item (otherwise a repeat sees the inout tensors as the previous one left
// them). Returns a harness error if an index of the plan or of the trial is out of range.
Result<void> make_schedule(const Plan& plan, const TrialSpec& trial, bool own_buffers,
                           Schedule& out);

}  // namespace redzone::trial
