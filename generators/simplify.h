// Plans that are simpler than a given one, for the reducer to try.
//
// Works on any valid plan, including plans loaded from a file. Greedy descent (take the first
// candidate that still fails, restart from it) ends, because every candidate is strictly simpler in
// a well-founded order. It ends in a plan that is 1-minimal: no step can be dropped, no repeat
// lowered by one, no dim of any call moved to its next smaller allowed value (other dims repaired
// as a structural constraint requires, or unchanged), no layout part, knob, seed or part of the
// mode made plainer by one step.
//
// Candidates are ordered such that descent over one number visits few distinct plans: a caller that
// stores the hashes of tried plans saves most of the work after each success.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/plan.h"

namespace redzone::generators {

// True if `a` is strictly simpler than `b`. Compares lexicographically: launches (repeats and
// replays included); steps; captured calls and replays; the sum over calls and dims of the dim's
// rank among its allowed values; layout parts that are not the default; their magnitudes; knobs, as
// indices into their values; numbers of streams and graphs, and whether the first call is on stream
// 0; data seeds other than 1, and with mixed alignments also their size up to 16; the distance of
// the mode from the plainest (blocking, guard, guard_after, poison 0xffffffff, schedule 0). All are
// non-negative integers, so every descent ends. Work and bytes are not compared, because they need
// not decrease with the dims (a kernel may pad to powers of two). Both plans must be valid for
// `spec`.
bool simpler(const Plan& a, const Plan& b, const TargetSpec& spec);

// The candidates, most aggressive first. Each is valid for the spec, simpler than the plan, and
// returned once. Candidates are built lazily. Not thread-safe.
class Simplifications {
 public:
  class Sequence;
  explicit Simplifications(std::unique_ptr<Sequence> sequence);
  Simplifications(Simplifications&&) noexcept;
  Simplifications& operator=(Simplifications&&) noexcept;
  ~Simplifications();

  std::optional<Plan> next();

 private:
  std::unique_ptr<Sequence> sequence_;
};

// `plan` must be valid for `spec`, and `spec` must outlive the result.
Simplifications simplify(const Plan& plan, const TargetSpec& spec);

std::vector<Plan> all_simplifications(const Plan& plan, const TargetSpec& spec);

}  // namespace redzone::generators
