// An endless sequence of plans for one target, from a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/plan.h"

namespace redzone::generators {

// Limits of what a plan may cost. Every plan stays within them, except that a target whose smallest
// call exceeds the budget gets plans of that one call.
struct Budget {
  double work_per_plan = 0;         // scalar operations: spec.work or tensor elements, x repeats
  std::int64_t bytes_per_plan = 0;  // tensor storage, summed over calls and repeats
  std::int64_t max_calls = 1;       // repeats included

  // Share of the plans that have one call (not repeated) of up to large_work and large_bytes, in
  // addition to the limits above.
  double large_share = 0;
  std::int64_t large_bytes = 0;
  double large_work = 0;

  // Share of the plans that consist of one call at the boundary of a product (products.h);
  // large_share of these are large.
  double boundary_share = 0;

  // Occasionally one call has a tensor with few elements whose offsets exceed 2^31 and whose
  // storage takes up to large_bytes.
  bool big_offsets = false;
  // If true, storage that is never touched costs nothing (the host maps memory on demand);
  // otherwise all storage counts.
  bool sparse = false;
  // One plan in six has calls on two streams, with waits between the streams.
  bool streams = false;
  // For capturable targets, one plan in eight captures calls into graphs and replays them after
  // other calls.
  bool graphs = false;
  // One plan in 64 repeats a cheap call this many times, or up to a third fewer, without a sync.
  // May exceed max_calls, but not work_per_plan. 0: never.
  std::int64_t burst = 0;
  // Some plans use an allocator that reuses memory: one in six caching, one in twelve pool.
  bool allocators = false;
  // Some plans with the guard allocator align tensors to less than usual: one in six to the element
  // size if the spec is silent about the alignment of some tensor; one in eight of the rest align
  // all or some tensors to no more than the spec promises.
  bool alignments = false;
  // Some plans that need at most six threads make each call, and capture the body of each graph,
  // from a separate host thread: one in six, or one in three of those with a graph.
  bool callers = false;
  // One in six of the plans with several calls on one stream (one in 24 if the target has side
  // streams) lets the tensors of each call reuse the addresses of earlier calls.
  bool addresses = false;
  // One plan in six fills the host's stack before each call.
  bool stacks = false;
};

// For the host device: most plans run in about 1 ms at 50 million scalar operations a second.
Budget host_budget();

// For dry runs: the whole space of shapes, because there the cost of a call does not depend on its
// size.
Budget none_budget();

// For a GPU with this much memory: mostly small plans, occasionally a shape of a real model.
Budget gpu_budget(std::int64_t device_memory_bytes);

// Deterministic: the same spec, budget and seed give the same plans on every machine; the
// environment is not read. Every plan passes validate(). Not thread-safe.
class PlanGenerator {
 public:
  // Copies `spec`. Throws std::invalid_argument if no call is found that satisfies the spec's
  // constraints.
  PlanGenerator(const TargetSpec& spec, const Budget& budget, std::uint64_t seed);
  ~PlanGenerator();
  PlanGenerator(PlanGenerator&&) noexcept;
  PlanGenerator& operator=(PlanGenerator&&) noexcept;

  Plan next();
  // The dims whose upper values the budget excludes, separated by commas: "N above 1000 (of 4000)".
  // "" if there are none.
  std::string out_of_reach() const;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace redzone::generators
