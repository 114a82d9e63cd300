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
  std::int64_t bytes_per_plan = 0;  // of tensor storage, summed over calls and repeats
  std::int64_t max_calls = 1;       // repeats included

  // This share of the plans has one call (not repeated) of up to large_work and large_bytes, in
  // addition to the limits above.
  double large_share = 0;
  std::int64_t large_bytes = 0;
  double large_work = 0;

  // This share of the plans consists of one call at the boundary of a product (products.h); the
  // share of large ones among them is large_share.
  double boundary_share = 0;

  // Occasionally one call has a tensor with few elements whose offsets pass 2^31, of up to
  // large_bytes.
  bool big_offsets = false;
  // Storage that is never touched costs nothing (the host maps memory on demand); else all storage
  // counts.
  bool sparse = false;
  // Calls on two streams, with waits between them: one plan in six.
  bool streams = false;
  // Calls captured into graphs and replayed after other calls: one plan in eight, for capturable
  // targets.
  bool graphs = false;
  // One plan in 64 repeats a cheap call this many times, or up to a third fewer, without a sync.
  // May exceed max_calls, but not work_per_plan. 0: never.
  std::int64_t burst = 0;
  // Some plans use an allocator that reuses memory: one in six caching, one in twelve pool.
  bool allocators = false;
  // Some plans with the allocator guard align tensors to less than most: one in twelve to no more
  // than the spec promises, and one in six to their elements, if it is silent about some.
  bool alignments = false;
  // Some of the plans for which six threads are enough make each call, and each body of a graph,
  // from a host thread of its own: one in six, or one in three of those with a graph.
  bool callers = false;
  // One in six of the plans of several calls lets the tensors of each call lie where those of
  // earlier calls did.
  bool addresses = false;
  // One plan in six fills the host's stack before each call.
  bool stacks = false;
};

// For the host device: most plans run in about 1 ms at 50 million scalar operations a second.
Budget host_budget();

// For dry runs: the whole space of shapes, because the cost of a call does not depend on its size.
Budget none_budget();

// For a GPU with this much memory: mostly small plans, occasionally a shape as in a real model.
Budget gpu_budget(std::int64_t device_memory_bytes);

// Deterministic: the same spec, budget and seed give the same plans on every machine; the
// environment is not read. Every plan passes validate(). One thread at a time.
class PlanGenerator {
 public:
  // Copies `spec`. Throws std::invalid_argument when no call is found that satisfies the spec's
  // constraints.
  PlanGenerator(const TargetSpec& spec, const Budget& budget, std::uint64_t seed);
  ~PlanGenerator();
  PlanGenerator(PlanGenerator&&) noexcept;
  PlanGenerator& operator=(PlanGenerator&&) noexcept;

  Plan next();
  // The dims whose upper values the budget excludes: "N above 1000 (of 4000)", separated by commas;
  // or "".
  std::string out_of_reach() const;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace redzone::generators
