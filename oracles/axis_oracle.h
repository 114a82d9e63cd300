// Varies one axis alone: the outputs of a target must not depend on it. If the target is declared
// nondeterministic, only whether its outputs match the reference must not depend on the axis (see
// can_compare()). The axes, and the name of a difference along each, are the rows of
// core/mode_axes.h; the order of the calls (`history`) is an axis only here.
//
// Runs the plan unchanged, then with the axis changed, then unchanged again. Fails when the first
// and the last trial agree and a trial between them differs. When the first and the last trial
// differ, the axis is not the cause (inconclusive). When all trials agree, `history` also compares
// identical calls within one trial. A reordered trial has no streams and no graphs, so for a plan
// that has some, `history` compares two orders of plain calls. The meaning of `schedule` depends on
// the device (SeedDecides). `address` and `host-thread` compare a plan that sets their axis with a
// correct result: without the setting, both orders of its calls and two poisons must give one
// result, which the reference, if there is one, must not reject. All launches for `address` are
// blocking, because calls that reuse memory also wait for each other. Can be wrong about targets
// wrongly declared deterministic (float atomics), and by chance about a rare race. Cost: 2 trials,
// and ModeAxis::compared.
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

  // `base` changes the first and the last trial; empty: these run the plan unchanged.
  AxisOracle(std::string name, FailKind kind, std::string claim, Change change, Change base);
  // `axis` must have a `vary` function.
  explicit AxisOracle(const ModeAxis& axis);
  // Compares a trial with the plan's setting of the axis to trials without that setting, whose
  // results must be correct. `also_last` makes a further change to the last trial, on which correct
  // results do not depend.
  AxisOracle(const ModeAxis& axis, Change with_axis, Change without_axis, Change also_last);

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
  Change change_, base_, also_last_;
  std::string_view axis_ = {};  // name of the axis
  std::size_t others_ = 1;
};

AxisOracle history_oracle();
AxisOracle address_oracle();
AxisOracle host_thread_oracle();

}  // namespace redzone::oracles
