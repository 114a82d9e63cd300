// Endless plans for one target, from a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/plan.h"

namespace redzone::generators {

// What plans may cost. Every plan keeps within it, except that a target whose smallest call is
// larger than the budget gets plans of that one call.
struct Budget {
  double work_per_plan = 0;         // scalar operations: spec.work or tensor elements, x repeats
  std::int64_t bytes_per_plan = 0;  // of tensor storage, summed over calls and repeats
  std::int64_t max_calls = 1;       // repeats included

  // This share of the plans has one call (not repeated) of up to large_work and large_bytes, on
  // top of the above.
  double large_share = 0;
  std::int64_t large_bytes = 0;
  double large_work = 0;

  // Now and then one call has a tensor whose offsets pass 2^31 although it has few elements. Its
  // bytes may go up to large_bytes.
  bool big_offsets = false;
  // Storage that nobody touches costs nothing (the host maps it on demand); else all of it counts.
  bool sparse = false;
  // Calls on two streams, with waits between them: one plan in six.
  bool streams = false;
  // Calls captured into graphs, replayed after others: one plan in eight, for capturable targets.
  bool graphs = false;
  // One plan in 64 repeats a cheap call this often, or up to a third less, undrained. On top of
  // max_calls, but within work_per_plan. 0: never.
  std::int64_t burst = 0;
  // Some plans under an allocator that uses memory again: one in six caching, one in twelve pool.
  bool allocators = false;
};

// For the host device: most plans run in about 1 ms at 50 million scalar operations a second.
Budget host_budget();

// For the device that runs nothing: the whole space of shapes, as a call costs the same whatever
// its size.
Budget none_budget();

// For a GPU with this much memory: mostly small plans, now and then a shape as of a real model.
Budget gpu_budget(std::int64_t device_memory_bytes);

// Deterministic: the same spec, budget and seed give the same plans on every machine; the
// environment is not read. Every plan passes validate(). One thread at a time.
class PlanGenerator {
 public:
  // Copies `spec`. Throws std::invalid_argument when the spec's constraints leave no call that can
  // be found.
  PlanGenerator(const TargetSpec& spec, const Budget& budget, std::uint64_t seed);
  ~PlanGenerator();
  PlanGenerator(PlanGenerator&&) noexcept;
  PlanGenerator& operator=(PlanGenerator&&) noexcept;

  Plan next();
  // Which dims the budget keeps small: "N above 1000 (of 4000)", with commas between; or "".
  std::string out_of_reach() const;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace redzone::generators
