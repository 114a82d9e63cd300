#include "bisect/axes.h"

#include "bisect/axis_list.h"

namespace redzone::bisect {

std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options) {
  AxisList list(plan, spec);
  add_knob_axes(list);
  add_step_axes(list);
  add_dim_axes(list);
  add_layout_axes(list);
  add_data_axis(list);
  add_same_data_axis(list);
  add_mode_axes(list, options);
  return list.take();
}

}  // namespace redzone::bisect
