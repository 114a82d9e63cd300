#include "target/spec_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "core/counted.h"
#include "core/spec_limits.h"
#include "core/spec_mistake.h"
#include "core/target_name.h"
#include "core/terminal.h"
#include "core/utf8.h"
#include "target/guarded_spec.h"
#include "target/known_enumerator.h"

namespace redzone {
namespace {

using Problem = std::optional<std::string>;

bool is_identifier(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Names of dims, tensors or knobs: identifiers, each once.
template <class Specs>
Problem names_problem(const Specs& specs, std::string_view what) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name.size() > kMostNameBytes)
      return fmt::format("the name of a {} has {} characters, at most {} are possible", what,
                         specs[i].name.size(), kMostNameBytes);
    if (!is_identifier(specs[i].name))
      return fmt::format("{} name '{}' is not of [A-Za-z0-9_]+", what, printable(specs[i].name));
    for (std::size_t k = 0; k < i; ++k)
      if (specs[k].name == specs[i].name)
        return fmt::format("{} '{}' is declared twice", what, specs[i].name);
  }
  return std::nullopt;
}

// `of`: "the dtype of tensor 'x'".
template <class E>
Problem enumerator_problem(std::string_view of, E value) {
  if (is_known(value)) return std::nullopt;
  return fmt::format("{} is {}, which is not one of its enumerators", of, static_cast<int>(value));
}

Problem count_problem(std::string_view of, std::size_t count, std::string_view what,
                      std::size_t most) {
  if (count <= most) return std::nullopt;
  return fmt::format("{} has {} {}, at most {} are possible", of, count, what, most);
}

Problem knob_problem(const KnobSpec& knob) {
  if (knob.values.empty()) return fmt::format("knob '{}' has no values", knob.name);
  for (const auto& value : knob.values)
    if (const auto* text = std::get_if<std::string>(&value);
        text != nullptr && valid_utf8(*text) != *text)
      return fmt::format("knob '{}' has a value that is not UTF-8, which no plan could give",
                         knob.name);
  if (auto p = count_problem(fmt::format("knob '{}'", knob.name), knob.values.size(), "values",
                             kMostListedValues))
    return p;
  auto sorted = knob.values;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fmt::format("knob '{}' lists a value twice", knob.name);
  if (knob.drawn > knob.values.size())
    return fmt::format("knob '{}' draws {} of {} values", knob.name, knob.drawn,
                       knob.values.size());
  return std::nullopt;
}

Problem dim_problem(const DimSpec& dim) {
  if (auto p = count_problem(fmt::format("dim '{}'", dim.name), dim.values.size(), "values",
                             kMostListedValues))
    return p;
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
  if (dim.tile < 0) return fmt::format("dim '{}': tile {} is negative", dim.name, dim.tile);
  if (dim.min > dim.max)
    return fmt::format("dim '{}': min {} exceeds max {}", dim.name, dim.min, dim.max);
  if (dim.max / dim.multiple_of * dim.multiple_of < dim.min)
    return fmt::format("dim '{}': no multiple of {} in {}..{}", dim.name, dim.multiple_of, dim.min,
                       dim.max);
  return std::nullopt;
}

Problem constraint_problem(const Constraint& c, const TargetSpec& spec) {
  if (auto p = enumerator_problem(fmt::format("the kind of constraint '{}'", c.text), c.kind))
    return p;
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

// `value`, or the nearest value that the dim allows.
std::int64_t allowed_near(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty()) {
    const auto it = std::lower_bound(dim.values.begin(), dim.values.end(), value);
    return it == dim.values.end() ? dim.values.back() : *it;
  }
  const std::int64_t down = value / dim.multiple_of * dim.multiple_of;
  if (down >= dim.min) return down;
  return (dim.min + dim.multiple_of - 1) / dim.multiple_of * dim.multiple_of;
}

std::int64_t largest(const DimSpec& dim) {
  return dim.values.empty() ? allowed_near(dim, dim.max) : dim.values.back();
}

// The smallest allowed value that is not 0, so that shape functions may divide; else 0.
std::int64_t smallest(const DimSpec& dim) {
  if (!dim.values.empty()) {
    auto it = std::find_if(dim.values.begin(), dim.values.end(), [](auto v) { return v > 0; });
    return it == dim.values.end() ? 0 : *it;
  }
  const std::int64_t from = std::max<std::int64_t>(dim.min, 1);
  const std::int64_t value = (from + dim.multiple_of - 1) / dim.multiple_of * dim.multiple_of;
  return value <= dim.max ? value : 0;
}

struct TriedCall {
  Dims dims;
  Config config;
  bool allowed = false;  // by the constraints
};

// The smallest call, the largest, and some between them, with the default and with other knobs.
constexpr std::size_t kTriedCalls = 4;
// No further call is tried after this time, because functions may be slow.
constexpr std::chrono::seconds kTryTime{1};

TriedCall tried_call(const TargetSpec& spec, std::size_t index) {
  TriedCall call;
  for (std::size_t d = 0; d < spec.dims.size(); ++d) {
    const DimSpec& dim = spec.dims[d];
    const std::int64_t from = smallest(dim), to = largest(dim);
    // A different part of each dim's range, often near the lower end.
    const auto part = static_cast<std::int64_t>(7 * index + 3 * d) % 13;
    call.dims.emplace(dim.name, index == 0   ? from
                                : index == 1 ? to
                                             : allowed_near(dim, from + (to - from) / 64 * part));
  }
  for (const auto& knob : spec.knobs)
    call.config.emplace(knob.name, knob.values[index < 2 ? 0 : (index - 1) % knob.values.size()]);
  return call;
}

bool holds(const Constraint& c, const TriedCall& call) {
  if (c.kind == Constraint::Kind::predicate) return c.holds(call.dims, call.config);
  const std::int64_t a = get(call.dims, c.a), b = get(call.dims, c.b);
  return c.kind == Constraint::Kind::at_most ? a <= b : a > 0 && b % a == 0;
}

// The problem with a function of the spec that `use` calls: it uses a name that the spec does not
// declare, or it throws for an allowed call. Other exceptions are reported by plans.
template <class Use>
Problem function_problem(bool allowed, Use use) {
  try {
    use();
  } catch (const SpecMistake& e) {
    if (allowed || e.kind() == SpecMistake::Kind::undeclared) return e.clause();
  }
  return std::nullopt;
}

// The driver, each worker and each replay call the functions separately. If a function returned
// different results, a difference between two trials would be attributed to the kernel.
template <class Ask>
Problem answers_problem(const TriedCall& call, std::string_view function, Ask ask) {
  bool same = true;
  if (auto p = function_problem(call.allowed, [&] { same = ask() == ask(); })) return p;
  if (same) return std::nullopt;
  return fmt::format(
      "{} returns two results for the same call ({}): it must depend only on its arguments",
      function, describe(call.dims, call.config));
}

Problem shape_problem(const TensorSpec& tensor, const TriedCall& call) {
  Shape shape;
  if (auto p = answers_problem(call, fmt::format("the shape function of tensor '{}'", tensor.name),
                               [&] { return shape = tensor.shape_for(call.dims, call.config); }))
    return p;
  if (shape.size() > kMostRank || call.allowed)
    if (auto p = shape_violation(shape))
      return fmt::format("the shape function of tensor '{}' {} for {}", tensor.name, *p,
                         describe(call.dims, call.config));
  return std::nullopt;
}

Problem fill_problem(const TensorSpec& tensor, const TriedCall& call) {
  if (!tensor.may_be_filled() || tensor.fill.kind != Fill::Kind::offsets || !call.allowed)
    return std::nullopt;
  const DType type = tensor.dtype_for(call.config);
  if (type != DType::boolean && reals_per_element(type) == 1) return std::nullopt;
  return fmt::format("tensor '{}': elements of type {} cannot be row offsets", tensor.name,
                     name_of(type));
}

Problem counter_problem(const TensorSpec& tensor, const TargetSpec& spec, const TriedCall& call) {
  if (!call.allowed) return std::nullopt;
  Problem counted;
  if (auto p = function_problem(
          true, [&] { counted = counting_problem(tensor, spec, call.dims, call.config); }))
    return p;
  return counted;
}

Problem work_problem(const TargetSpec& spec, const TriedCall& call) {
  if (!spec.work || !call.allowed) return std::nullopt;
  const double work = spec.work(call.dims, call.config);
  if (std::isfinite(work) && work >= 0) return std::nullopt;
  return fmt::format("the work function gives {}, which is not a finite number >= 0, for {}", work,
                     describe(call.dims, call.config));
}

Problem geometry_problem(const TargetSpec& spec, const TriedCall& call) {
  Geometry geometry;
  if (auto p = function_problem(call.allowed, [&] {
        if (spec.geometry) geometry = spec.geometry(call.dims, call.config);
      }))
    return p;
  for (const auto& product : geometry.products) {
    if (product.factors.empty())
      return fmt::format("the product '{}' of its geometry has no factors", product.what);
    if (product.bits < 1 || product.bits > 64)
      return fmt::format("the product '{}' of its geometry has {} bits, must be in 1..64",
                         product.what, product.bits);
  }
  return std::nullopt;
}

Problem tolerance_problem(std::string_view of, const Tolerance& tolerance) {
  for (const double value : {tolerance.abs, tolerance.rel})
    if (!std::isfinite(value) || value < 0)
      return fmt::format("the tolerance of {} is {}, which is not a finite number >= 0", of, value);
  return std::nullopt;
}

// With NaN in inputs every output passes, and an infinite range produces only NaN or infinities.
Problem bounds_problem(const TensorSpec& tensor) {
  const Fill& fill = tensor.fill;
  const bool is_range = fill.kind == Fill::Kind::uniform || fill.kind == Fill::Kind::sums ||
                        fill.kind == Fill::Kind::special_values;
  if (!tensor.may_be_filled() || (!is_range && fill.kind != Fill::Kind::constant))
    return std::nullopt;
  if (std::isnan(fill.lo) || (is_range && !std::isfinite(fill.hi - fill.lo)))
    return fmt::format("tensor '{}': its fill is from {} to {}, which is no range of numbers",
                       tensor.name, fill.lo, fill.hi);
  if (is_range && fill.lo > fill.hi)
    return fmt::format("tensor '{}': its fill is from {} to {}, which holds no number", tensor.name,
                       fill.lo, fill.hi);
  return std::nullopt;
}

// Checks the declaration of a tensor, except for its functions.
Problem tensor_problem(const TensorSpec& tensor) {
  const std::string whose = fmt::format("of tensor '{}'", tensor.name);
  if (auto p = enumerator_problem("the dtype " + whose, tensor.dtype)) return p;
  if (auto p = enumerator_problem("the role " + whose, tensor.role)) return p;
  if (auto p = enumerator_problem("the kind of the fill " + whose, tensor.fill.kind)) return p;
  if (!tensor.shape && !tensor.shape_with_knobs)
    return fmt::format("tensor '{}' has no shape function", tensor.name);
  if ((tensor.align_bytes & (tensor.align_bytes - 1)) != 0)
    return fmt::format("tensor '{}': align_bytes {} is not a power of two", tensor.name,
                       tensor.align_bytes);
  const std::size_t least_align = dtype_bytes(real_type(tensor.dtype));
  if (!tensor.dtype_of && tensor.align_bytes != 0 && tensor.align_bytes < least_align)
    return fmt::format("tensor '{}': align_bytes is {}, and its elements are aligned to {}",
                       tensor.name, tensor.align_bytes, least_align);
  constexpr std::int64_t kMostGranule = std::int64_t{1} << 31;
  if (tensor.layouts.granule_elems < 1 || tensor.layouts.granule_elems > kMostGranule)
    return fmt::format("tensor '{}': granule_elems is {}, must be in 1..{}", tensor.name,
                       tensor.layouts.granule_elems, kMostGranule);
  if (auto p = bounds_problem(tensor)) return p;
  if (tensor.layouts.broadcast && tensor.may_be_output())
    return fmt::format("tensor '{}': only inputs can be broadcast", tensor.name);
  if (tensor.tolerance)
    if (auto p = tolerance_problem(fmt::format("tensor '{}'", tensor.name), *tensor.tolerance))
      return p;
  const bool ranged =
      tensor.fill.kind == Fill::Kind::integers || tensor.fill.kind == Fill::Kind::offsets;
  if (ranged && tensor.may_be_filled() && !tensor.fill.range)
    return fmt::format("tensor '{}': its fill has no range function", tensor.name);
  return std::nullopt;
}

// A constraint may throw if one before it does not hold: the call is then not allowed.
Problem ask_constraints(const TargetSpec& spec, TriedCall& call) {
  call.allowed = true;
  for (const auto& c : spec.constraints) {
    bool satisfied = false;
    if (auto p = answers_problem(call, fmt::format("constraint '{}'", c.text),
                                 [&] { return satisfied = holds(c, call); }))
      return p;
    call.allowed = call.allowed && satisfied;
  }
  return std::nullopt;
}

Problem functions_problem(const TargetSpec& spec, TriedCall call) {
  if (auto p = ask_constraints(spec, call)) return p;
  // Each function is called separately, so that each is checked for undeclared names.
  const auto same = [&](const std::string& function, auto ask) {
    return answers_problem(call, function, ask);
  };
  for (const auto& tensor : spec.tensors) {
    if (tensor.may_be_filled() && tensor.fill.range)
      if (auto p = same("the range of the fill of tensor '" + tensor.name + "'",
                        [&] { return tensor.fill.range(call.dims); }))
        return p;
    if (auto p = same("the dtype function of tensor '" + tensor.name + "'",
                      [&] { return tensor.dtype_for(call.config); }))
      return p;
    if (auto p = same("the role function of tensor '" + tensor.name + "'",
                      [&] { return tensor.role_for(call.config); }))
      return p;
    if (auto p = fill_problem(tensor, call)) return p;
    if (auto p = shape_problem(tensor, call)) return p;
    if (auto p = counter_problem(tensor, spec, call)) return p;
  }
  if (auto p = same("the tolerance function", [&] {
        const Tolerance tolerance = spec.tolerance_for(call.config);
        return std::pair(tolerance.abs, tolerance.rel);
      }))
    return p;
  if (auto p = same("the work function", [&] {
        const double work = spec.work ? spec.work(call.dims, call.config) : 0;
        return std::bit_cast<std::uint64_t>(work);  // NaN equals NaN here
      }))
    return p;
  if (auto p = work_problem(spec, call)) return p;
  if (auto p = geometry_problem(spec, call)) return p;
  if (!call.allowed) return std::nullopt;
  return function_problem(true, [&] { try_functions(spec, call.dims, call.config); });
}

Problem reference_problem(const TargetSpec& spec) {
  if (auto p = tolerance_problem("the target", spec.tolerance)) return p;
  const bool has_output = std::any_of(spec.tensors.begin(), spec.tensors.end(),
                                      [](const TensorSpec& t) { return t.may_be_output(); });
  if (spec.has_reference && !has_output)
    return "it declares has_reference, but has no output tensor to compare";
  if (spec.sampled_rows != 0 && (spec.sampled_rows < 3 || spec.sampled_rows > kMostSampledRows))
    return fmt::format("its sampled_rows is {}, must be 0 or in 3..{}", spec.sampled_rows,
                       kMostSampledRows);
  if (spec.sampled_rows > 0 && !spec.has_reference)
    return "it declares sampled_rows, but not has_reference: small calls are compared whole";
  return std::nullopt;
}

Result<void> as_error(const Problem& problem, const TargetSpec& spec, std::string_view origin) {
  if (!problem) return {};
  return usage_error(fmt::format("{}: invalid spec of target '{}': {}", origin,
                                 printable(std::string_view(spec.name).substr(0, kMostNameBytes)),
                                 *problem));
}

}  // namespace

std::optional<std::string> declaration_problem(const TargetSpec& spec) {
  if (spec.name.size() > kMostNameBytes)
    return fmt::format("the name of the target has {} characters, at most {} are possible",
                       spec.name.size(), kMostNameBytes);
  if (!is_target_name(spec.name))
    return fmt::format("target name '{}' is not of [a-z0-9_.]+", printable(spec.name));
  if (spec.name.ends_with(".py"))
    return fmt::format("target name '{}' ends as files of Python targets do", spec.name);
  if (auto p = enumerator_problem("its category", spec.category)) return p;
  if (spec.tensors.empty()) return "it has no tensors";
  if (auto p = count_problem("it", spec.dims.size(), "dims", kMostDims)) return p;
  if (auto p = count_problem("it", spec.knobs.size(), "knobs", kMostKnobs)) return p;
  if (auto p = count_problem("it", spec.tensors.size(), "tensors", kMostTensors)) return p;
  if (auto p = names_problem(spec.dims, "dim")) return p;
  if (auto p = names_problem(spec.tensors, "tensor")) return p;
  if (auto p = names_problem(spec.knobs, "knob")) return p;
  for (const auto& dim : spec.dims)
    if (auto p = dim_problem(dim)) return p;
  for (const auto& c : spec.constraints)
    if (auto p = constraint_problem(c, spec)) return p;
  for (const auto& knob : spec.knobs)
    if (auto p = knob_problem(knob)) return p;
  for (const auto& tensor : spec.tensors)
    if (auto p = tensor_problem(tensor)) return p;
  for (const auto& tensor : spec.tensors)
    if (auto p = counting_problem(tensor, spec)) return p;
  if (auto p = reference_problem(spec)) return p;
  if (spec.side_streams < 0 || spec.side_streams > kMaxSideStreams)
    return fmt::format("side_streams is {}, must be in 0..{}", spec.side_streams, kMaxSideStreams);
  for (const auto& [of, value] :
       {std::pair{"min_compute_capability", spec.min_compute_capability},
        std::pair{"only_compute_capability", spec.only_compute_capability}})
    if (value < 0) return fmt::format("{} is {}, must be at least 0", of, value);
  return std::nullopt;
}

std::optional<std::string> spec_problem(const TargetSpec& spec,
                                        const std::shared_ptr<SpecWatch>& watch) {
  if (auto p = declaration_problem(spec)) return p;
  const TargetSpec safe = guarded(spec, watch);
  const auto until = std::chrono::steady_clock::now() + kTryTime;
  for (std::size_t i = 0; i < kTriedCalls; ++i) {
    if (i > 0 && std::chrono::steady_clock::now() >= until) break;
    if (auto p = functions_problem(safe, tried_call(safe, i))) return p;
  }
  return std::nullopt;
}

Result<void> check_spec(const TargetSpec& spec, std::string_view origin,
                        const std::shared_ptr<SpecWatch>& watch) {
  return as_error(spec_problem(spec, watch), spec, origin);
}

Result<void> check_declaration(const TargetSpec& spec, std::string_view origin) {
  return as_error(declaration_problem(spec), spec, origin);
}

}  // namespace redzone
