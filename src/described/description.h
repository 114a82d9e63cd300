// A target that is described by data: the common part of the descriptions of kernel packages and of
// Python targets. Plain values, and the spec that they define.
#pragma once

#include <redzone/spec.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "described/expression.h"

namespace redzone::described {

struct Tensor {
  std::string name;
  DType dtype = DType::f32;
  std::string dtype_of;  // the knob whose value is the element type, or ""
  Role role = Role::in;
  std::vector<Expression> shape;  // over dims
  LayoutRules layouts = {};
  Fill::Kind fill = Fill::Kind::uniform;
  double lo = -1, hi = 1;              // for uniform, sums, special_values; constant: lo
  std::optional<Expression> from, to;  // integers: both ends included; offsets: `to` is the total
  std::size_t align_bytes = 0;         // as in TensorSpec
  std::optional<Tolerance> tolerance;
  std::optional<CountedBy> counted_by;  // as in TensorSpec
  bool returned = false;                // an output that a Python callable returns
};

struct Description {
  std::string name, doc;
  bool deterministic = true;
  bool alignment_changes_bits = false;
  bool remembers_addresses = false;
  std::vector<DimSpec> dims;
  std::vector<Constraint> constraints;
  std::vector<Tensor> tensors;
  std::vector<KnobSpec> knobs;
  std::optional<Expression> work;  // over dims and knobs
};

// Adds knobs as values for expressions: a number under the knob's name; for each value V of a knob
// K of strings, K_is_V is 1 or 0.
void add_knobs(Values& values, const std::vector<KnobSpec>& knobs, const Config& config);

// The part of the spec that the description defines: everything except the launches. Functions of
// the spec throw std::invalid_argument if an expression has no value.
TargetSpec spec_of(const std::shared_ptr<const Description>& description);

}  // namespace redzone::described
