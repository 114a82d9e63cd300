// One axis varied alone: the outputs of a target must not depend on it. Of one that is declared
// nondeterministic, whether they are within its reference (see can_compare()).
//
//   uninitialized  what was in outputs, scratch and red zones before     (poison)
//   history        the calls that came before                            (order, repeats)
//   placement      where the buffers lie                                 (tail or head)
//   graph          whether calls are captured and replayed, or run       (graphs)
//   allocation     what memory is used again, and who its neighbours are (guard or caching)
//   schedule       the order in which blocks, threads and streams run    (seed of the host device)
//
// and of each further axis of core/mode_axes.h that can be varied and has no oracle of its own.
//
// Each runs the plan as it is, then with the axis changed, then as it is again; `schedule` with 14
// other schedules, as a race shows under some of them only. It fails when the change alone makes a
// difference: the first and the last trial agree and one between them does not. When the first and
// the last differ, the failure is not this axis' (inconclusive). `history` also compares identical
// calls within a trial, where the second trial adds nothing. A reordered trial knows no streams and
// no graphs, so of a plan that has some `history` compares two orders of plain calls. The schedules
// of the host device are drawn from a seed; CUDA has its own, where there is no such axis.
// Can be wrong: about targets wrongly declared deterministic (float atomics), and by chance about a
// rare race. Cost: 3 trials, of `schedule` 16.
#pragma once

#include <functional>
#include <string>

#include "core/mode_axes.h"
#include "core/oracle.h"

namespace redzone::oracles {

class AxisOracle final : public Oracle {
 public:
  // Changes the one axis of a trial of `plan`.
  using Change = std::function<void(const Plan& plan, TrialSpec& trial)>;

  // `base`: changes the first and third trial; empty: the plan as it is.
  AxisOracle(std::string name, FailKind kind, std::string claim, Change change, Change base);
  // Along an axis that can be varied. `others`: trials with other values of it, each other than the
  // one before: more than one where a difference shows with some of them only.
  explicit AxisOracle(const ModeAxis& axis, std::size_t others = 1);

  std::string_view name() const override { return name_; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<TrialSpec> unvaried(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<std::string_view> varies() const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  std::string name_;
  FailKind kind_;
  std::string claim_;  // "depends on ..."
  Change change_, base_;
  std::string_view axis_ = {};  // its name
  std::size_t others_ = 1;
};

AxisOracle history_oracle();

}  // namespace redzone::oracles
