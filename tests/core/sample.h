// A spec and a plan that use every feature, for tests of core.
#pragma once

#include "core/plan.h"

namespace redzone::testing {

inline TargetSpec sample_spec() {
  TargetSpec spec;
  spec.name = "sample";
  spec.dims = {{.name = "T", .min = 0, .max = 64, .multiple_of = 4},
               {.name = "C", .min = 1, .max = 64},
               {.name = "D", .values = {16, 32}}};
  spec.constraints = {
      Constraint::divides("C", "T"),
      Constraint::predicate("C * D must be below 1024", [](const Dims& d, const Config&) {
        return get(d, "C") * get(d, "D") < 1024;
      })};
  spec.tensors = {{.name = "x", .shape = shape_of({"T", "D"}), .layouts = LayoutRules::strided()},
                  {.name = "y", .role = Role::out, .shape = shape_of({"T", "D"})}};
  spec.knobs = {{.name = "num_warps", .values = {4, 8}},
                {.name = "mode", .values = {"flat", "persistent"}}};
  return spec;
}

inline Plan sample_plan() {
  Plan plan;
  plan.target = "sample";
  plan.mode = {Launch::blocking, Allocator::guard, Placement::guard_before, 0x7fc00badu, 17};
  Call call;
  call.dims = {{"T", 32}, {"C", 8}, {"D", 16}};
  call.config = {{"num_warps", 8}, {"mode", "flat"}};
  call.layouts = {
      {"x", {.row_padding_elems = 8, .transposed = true, .offset_elems = 3, .unit_stride = 0}}};
  call.seed = 123456789012345;
  plan.steps = {CallStep{call, 3, 1}, SyncStep{}, WaitStep{0, 1}};
  call.layouts.clear();
  plan.steps.push_back(CallStep{call, 1, 0});
  return plan;
}

}  // namespace redzone::testing
