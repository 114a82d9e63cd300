// Shared by the functions that create axes. Private to the bisection.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bisect/axes.h"
#include "core/validate.h"

namespace redzone::bisect {

// Collects axes; keeps only values that give a new, valid plan.
class AxisList {
 public:
  AxisList(const Plan& plan, const TargetSpec& spec) : plan_(plan), spec_(spec) {}

  void begin(AxisKind kind, std::string name, std::string value, bool alone = false) {
    axes_.push_back({kind, std::move(name), std::move(value), {}, alone, nullptr, {}});
    seen_ = {plan_hash(plan_)};
  }
  // Marks the last axis as this dim of these steps.
  void set_dim(const DimSpec& dim, std::vector<std::size_t> steps) {
    axes_.back().dim = &dim;
    axes_.back().steps = std::move(steps);
  }
  // Adds a value to the last axis.
  void add(Setting setting) {
    Draft draft(plan_);
    setting.apply(draft);
    const Plan changed = draft.done();
    if (calls_of(changed).empty() || !validate(changed, spec_)) return;
    if (!seen_.insert(plan_hash(changed)).second) return;
    axes_.back().others.push_back(std::move(setting));
  }
  void add(std::string text, Change apply) { add({std::move(text), std::move(apply)}); }
  const Plan& plan() const { return plan_; }
  const TargetSpec& spec() const { return spec_; }
  std::vector<Axis> take() {
    std::erase_if(axes_, [](const Axis& axis) { return axis.others.empty(); });
    return std::move(axes_);
  }

 private:
  const Plan& plan_;
  const TargetSpec& spec_;
  std::vector<Axis> axes_;
  std::set<std::string> seen_;  // hashes of the plans of the last axis
};

// Indices of the call steps of a plan.
inline std::vector<std::size_t> call_steps(const Plan& plan) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (std::holds_alternative<CallStep>(plan.steps[i])) out.push_back(i);
  return out;
}

inline Call& call_at(Draft& draft, std::size_t step) {
  return std::get<CallStep>(draft.plan.steps[step]).call;
}

// Returns the setting that changes a dim of these steps to `value`. Borrows `spec` and `dim`.
Setting dim_setting(const Plan& plan, const TargetSpec& spec, const DimSpec& dim,
                    const std::vector<std::size_t>& steps, std::int64_t value);

void add_knob_axes(AxisList& list);
void add_layout_axes(AxisList& list);
void add_data_axis(AxisList& list);
void add_same_data_axis(AxisList& list);
void add_mode_axes(AxisList& list, const AxesOptions& options);
void add_step_axes(AxisList& list);
void add_dim_axes(AxisList& list);

}  // namespace redzone::bisect
