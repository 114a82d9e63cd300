// Prepares plans while others run, by compiling their kernels, so that their trials need not wait.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace redzone::campaign {

class Preparer {
 public:
  using Ticket = std::uint64_t;
  virtual ~Preparer() = default;

  // Prefetch depth for this target; 0 disables prefetching.
  virtual std::size_t depth(const TargetSpec& spec) const = 0;
  virtual Ticket prepare(const Plan& plan) = 0;
  // True once the preparation has finished or failed; after a failure the trial itself compiles
  // what is missing or reports the failure. A ticket for which this returned true is forgotten.
  virtual bool done(Ticket ticket) = 0;
  // Waits up to `timeout` for one preparation to finish; returns at once if none is pending. 0
  // polls.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  // Cancels all pending preparations.
  virtual void stop() = 0;
};

}  // namespace redzone::campaign
