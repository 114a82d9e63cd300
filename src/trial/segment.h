// The calls of a trial whose buffers are alive at the same time: one fill, the calls, one check.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

struct Segment {
  std::span<const RunItem> items;  // part of the schedule
  std::vector<CallUnit> units;     // one for each call item; entries from `count` on are spare
  std::size_t count = 0;
  std::size_t ran = 0;  // units that were enqueued; if the session gave up, the last one only in
                        // part
  std::vector<device::BufferJob> jobs;
  std::vector<device::BufferCheck> results;  // valid after the synchronize() that follows the check
  bool checked = false;                      // the check was enqueued
  bool scratch_checked = false;              // includes scratch of the calls
  bool trial_checked = false;                // includes buffers of the whole trial

  CallUnit& add_unit(const RunItem& item);
  std::span<CallUnit> used() { return std::span(units).first(count); }
};

// Each function does nothing once the session has stopped, except check(), which also checks the
// calls that were enqueued before a refused one.

// Takes as many items from the front of `items` as fit into `bytes` and `calls` (at least one call)
// and allocates their tensors.
void prepare(TrialState& state, const TargetSpec& spec, std::span<const RunItem> items,
             std::size_t bytes, std::size_t calls, Segment& out);
void fill(TrialState& state, Segment& segment);
// Enqueues the items, then collects what the calls returned. An exception of the target ends the
// trial as a fault with a code for the exception (thrown.h); a SpecError ends it as a spec error.
void run(TrialState& state, const TargetSpec& spec, Target& target, Segment& segment);
// `last`: this is the last segment of the trial, so workspaces and allocations are checked too. If
// the session gave up, only tensors are checked: scratch may not have been filled yet.
void check(TrialState& state, Segment& segment, bool last);
// Stores the results in state.calls. Repeats of a call share one observation, with the digest of
// the last repeat and the damage of all.
void collect(TrialState& state, const Segment& segment);
// Like collect(), but without results: only records which calls were completed.
void note_completed(TrialState& state, const Segment& segment);

}  // namespace redzone::trial
