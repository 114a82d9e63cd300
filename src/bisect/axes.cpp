#include "bisect/axes.h"

#include "bisect/axis_list.h"

namespace redzone::bisect {

Plan Draft::done() const {
  Plan out = plan;
  out.steps.clear();
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (!dropped[i]) out.steps.push_back(plan.steps[i]);
  return out;
}

std::string axis_of_oracle(FailKind kind) {
  switch (kind) {
    case FailKind::async:
      return "launch";
    case FailKind::placement:
      return "placement";
    case FailKind::allocation:
      return "allocator";
    case FailKind::uninitialized:
      return "poison";
    case FailKind::schedule:
      return "schedule";
    case FailKind::graph:
      return "graph";
    default:
      return "";
  }
}

std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options) {
  AxisList list(plan, spec);
  add_knob_axes(list);
  add_step_axes(list);
  add_dim_axes(list);
  add_layout_axes(list);
  add_data_axis(list);
  add_mode_axes(list, options);
  return list.take();
}

}  // namespace redzone::bisect
