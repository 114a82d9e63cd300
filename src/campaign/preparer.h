// What can be done for a plan while others run, so that its trial need not wait: its kernels are
// compiled.
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

  // So many plans of the target are worth being made ahead of their turn; 0: they need nothing.
  virtual std::size_t depth(const TargetSpec& spec) const = 0;
  virtual Ticket prepare(const Plan& plan) = 0;
  // Whether that is over; it is where it failed, too: what is missing the trial will make, or say.
  // A ticket that is over is forgotten once this was said.
  virtual bool done(Ticket ticket) = 0;
  // For one more to be over, at most for so long and not where none is to be; 0: only sees to what
  // has happened.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  // No plan that was to be prepared is wanted any more.
  virtual void stop() = 0;
};

}  // namespace redzone::campaign
