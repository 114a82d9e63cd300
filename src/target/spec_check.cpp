#include "target/spec_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/target_name.h"

namespace redzone {
namespace {

using Problem = std::optional<std::string>;

// As <redzone/spec.h> promises.
constexpr std::size_t kMaxTensorRank = 5;

bool is_identifier(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Names of dims, tensors or knobs: identifiers, each once.
template <class Specs>
Problem names_problem(const Specs& specs, std::string_view what) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!is_identifier(specs[i].name))
      return fmt::format("{} name '{}' is not of [A-Za-z0-9_]+", what, specs[i].name);
    for (std::size_t k = 0; k < i; ++k)
      if (specs[k].name == specs[i].name)
        return fmt::format("{} '{}' is declared twice", what, specs[i].name);
  }
  return std::nullopt;
}

Problem dim_problem(const DimSpec& dim) {
  if (!dim.values.empty()) {
    if (dim.values.front() < 0) return fmt::format("dim '{}' has a negative value", dim.name);
    if (std::adjacent_find(dim.values.begin(), dim.values.end(), std::greater_equal<>{}) !=
        dim.values.end())
      return fmt::format("dim '{}': its values must ascend", dim.name);
    return std::nullopt;
  }
  if (dim.multiple_of < 1)
    return fmt::format("dim '{}': multiple_of is {}, must be at least 1", dim.name,
                       dim.multiple_of);
  if (dim.min < 0) return fmt::format("dim '{}': min {} is negative", dim.name, dim.min);
  if (dim.min > dim.max)
    return fmt::format("dim '{}': min {} exceeds max {}", dim.name, dim.min, dim.max);
  if (dim.max / dim.multiple_of * dim.multiple_of < dim.min)
    return fmt::format("dim '{}': no multiple of {} in {}..{}", dim.name, dim.multiple_of, dim.min,
                       dim.max);
  return std::nullopt;
}

Problem constraint_problem(const Constraint& c, const TargetSpec& spec) {
  if (c.kind == Constraint::Kind::predicate) {
    if (!c.holds) return fmt::format("constraint '{}' has no predicate", c.text);
    if (c.text.empty()) return "a constraint has no text";
    return std::nullopt;
  }
  for (const auto& name : {c.a, c.b})
    if (std::none_of(spec.dims.begin(), spec.dims.end(),
                     [&](const DimSpec& d) { return d.name == name; }))
      return fmt::format("constraint '{}' names the unknown dim '{}'", c.text, name);
  return std::nullopt;
}

// The smallest value that is allowed and not 0, so that shape functions may divide; else 0.
std::int64_t smallest(const DimSpec& dim) {
  if (!dim.values.empty()) {
    auto it = std::find_if(dim.values.begin(), dim.values.end(), [](auto v) { return v > 0; });
    return it == dim.values.end() ? 0 : *it;
  }
  const std::int64_t from = std::max<std::int64_t>(dim.min, 1);
  const std::int64_t value = (from + dim.multiple_of - 1) / dim.multiple_of * dim.multiple_of;
  return value <= dim.max ? value : 0;
}

// A call of the smallest dims and the default knobs.
struct SmallestCall {
  Dims dims;
  Config config;
  bool allowed = false;  // by the constraints
};

SmallestCall smallest_call(const TargetSpec& spec) {
  SmallestCall call;
  for (const auto& dim : spec.dims) call.dims.emplace(dim.name, smallest(dim));
  for (const auto& knob : spec.knobs) call.config.emplace(knob.name, knob.values.front());
  return call;
}

bool holds(const Constraint& c, const SmallestCall& call) {
  if (c.kind == Constraint::Kind::predicate) return c.holds(call.dims, call.config);
  const std::int64_t a = get(call.dims, c.a), b = get(call.dims, c.b);
  return c.kind == Constraint::Kind::at_most ? a <= b : a > 0 && b % a == 0;
}

// What is wrong with a function of the spec that `use` calls: one that asks for a name that the
// spec does not declare, or that throws for a call that is allowed. Else it is for the plans to
// judge.
template <class Use>
Problem function_problem(std::string_view what, bool allowed, Use use) {
  try {
    use();
  } catch (const SpecError& e) {
    return fmt::format("{} asks for what the spec does not have: {}", what, e.what());
  } catch (const std::exception& e) {
    if (allowed) return fmt::format("{} threw for the smallest call: {}", what, e.what());
  }
  return std::nullopt;
}

Problem shape_problem(const TensorSpec& tensor, const SmallestCall& call) {
  Shape shape;
  const std::string what = fmt::format("the shape function of tensor '{}'", tensor.name);
  if (auto p = function_problem(what, call.allowed, [&] { shape = tensor.shape(call.dims); }))
    return p;
  if (shape.size() > kMaxTensorRank)
    return fmt::format("tensor '{}' has {} dims, at most {} are possible", tensor.name,
                       shape.size(), kMaxTensorRank);
  for (const auto size : shape)
    if (size < 0 && call.allowed)
      return fmt::format("tensor '{}' has a dim of size {} in the smallest call", tensor.name,
                         size);
  return std::nullopt;
}

Problem tensor_problem(const TensorSpec& tensor, const SmallestCall& call) {
  if (!tensor.shape) return fmt::format("tensor '{}' has no shape function", tensor.name);
  if (tensor.align_bytes == 0 || (tensor.align_bytes & (tensor.align_bytes - 1)) != 0)
    return fmt::format("tensor '{}': align_bytes {} is not a power of two", tensor.name,
                       tensor.align_bytes);
  if (tensor.layouts.granule_elems < 1)
    return fmt::format("tensor '{}': granule_elems is {}, must be at least 1", tensor.name,
                       tensor.layouts.granule_elems);
  if (tensor.layouts.broadcast && tensor.role != Role::in)
    return fmt::format("tensor '{}': only inputs can be broadcast", tensor.name);
  const bool ranged =
      tensor.fill.kind == Fill::Kind::integers || tensor.fill.kind == Fill::Kind::offsets;
  if (ranged && tensor.role != Role::out) {
    if (!tensor.fill.range)
      return fmt::format("tensor '{}': its fill has no range function", tensor.name);
    if (auto p = function_problem(fmt::format("the range of the fill of tensor '{}'", tensor.name),
                                  call.allowed, [&] { tensor.fill.range(call.dims); }))
      return p;
  }
  if (auto p = function_problem(fmt::format("the dtype function of tensor '{}'", tensor.name),
                                call.allowed, [&] { tensor.dtype_for(call.config); }))
    return p;
  return shape_problem(tensor, call);
}

// The functions of the spec that are not of a tensor.
Problem functions_problem(const TargetSpec& spec, const SmallestCall& call) {
  const auto check = [&](std::string_view what, auto use) {
    return function_problem(what, call.allowed, use);
  };
  if (auto p = check("the tolerance function", [&] { spec.tolerance_for(call.config); })) return p;
  if (auto p = check("the work function", [&] {
        if (spec.work) spec.work(call.dims, call.config);
      }))
    return p;
  return check("the geometry function", [&] {
    if (spec.geometry) spec.geometry(call.dims, call.config);
  });
}

}  // namespace

std::optional<std::string> spec_problem(const TargetSpec& spec) {
  if (!is_target_name(spec.name))
    return fmt::format("target name '{}' is not of [a-z0-9_.]+", spec.name);
  if (spec.tensors.empty()) return "it has no tensors";
  if (auto p = names_problem(spec.dims, "dim")) return p;
  if (auto p = names_problem(spec.tensors, "tensor")) return p;
  if (auto p = names_problem(spec.knobs, "knob")) return p;
  for (const auto& dim : spec.dims)
    if (auto p = dim_problem(dim)) return p;
  for (const auto& c : spec.constraints)
    if (auto p = constraint_problem(c, spec)) return p;
  for (const auto& knob : spec.knobs) {
    if (knob.values.empty()) return fmt::format("knob '{}' has no values", knob.name);
    if (knob.drawn > knob.values.size())
      return fmt::format("knob '{}' draws {} of {} values", knob.name, knob.drawn,
                         knob.values.size());
  }
  SmallestCall call = smallest_call(spec);
  bool allowed = true;
  for (const auto& c : spec.constraints) {
    bool satisfied = false;
    if (auto p = function_problem(fmt::format("constraint '{}'", c.text), false,
                                  [&] { satisfied = holds(c, call); }))
      return p;
    allowed = allowed && satisfied;
  }
  call.allowed = allowed;
  for (const auto& tensor : spec.tensors)
    if (auto p = tensor_problem(tensor, call)) return p;
  if (auto p = functions_problem(spec, call)) return p;
  if (spec.side_streams < 0 || spec.side_streams > kMaxSideStreams)
    return fmt::format("side_streams is {}, must be in 0..{}", spec.side_streams, kMaxSideStreams);
  return std::nullopt;
}

}  // namespace redzone
