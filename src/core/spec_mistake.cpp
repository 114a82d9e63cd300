#include "core/spec_mistake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/plan_text.h"
#include "core/spec_limits.h"

namespace redzone {
namespace {

std::string clause_of(SpecMistake::Kind kind, std::string_view function, std::string problem,
                      std::string_view call) {
  if (kind == SpecMistake::Kind::undeclared) return fmt::format("{}: {}", function, problem);
  return call.empty() ? fmt::format("{} {}", function, problem)
                      : fmt::format("{} {} for {}", function, problem, call);
}

}  // namespace

SpecMistake::SpecMistake(Kind kind, std::string_view target, std::string_view function,
                         std::string problem, std::string_view call)
    : SpecMistake(kind, target, function, clause_of(kind, function, std::move(problem), call)) {}

SpecMistake::SpecMistake(Kind kind, std::string_view target, std::string_view function,
                         std::string clause)
    : SpecError(fmt::format("target '{}': {}", target, clause)),
      kind_(kind),
      whose_(fmt::format("target '{}': {}", target, function)),
      clause_(std::move(clause)) {}

std::string describe(const Dims& dims, const Config& config) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  };
  for (const auto& [name, value] : dims) add(name, std::to_string(value));
  for (const auto& [name, value] : config) add(name, print_value(value));
  return out;
}

std::optional<std::string> range_problem(const std::pair<std::int64_t, std::int64_t>& range,
                                         std::int64_t elements) {
  if (range.first <= range.second || elements == 0) return std::nullopt;
  return fmt::format("is from {} to {}, which holds no number", range.first, range.second);
}

std::optional<std::string> shape_violation(const Shape& shape) {
  if (shape.size() > kMostRank)
    return fmt::format("gives {} dims, at most {} are possible", shape.size(), kMostRank);
  for (const auto size : shape)
    if (size < 0) return fmt::format("gives a size of {}", size);
  return std::nullopt;
}

void try_functions(const TargetSpec& spec, const Dims& dims, const Config& config) {
  for (const auto& tensor : spec.tensors) {
    const Shape shape = tensor.shape_for(dims, config);
    if (const auto problem = shape_violation(shape))
      throw SpecMistake(SpecMistake::Kind::of_the_call, spec.name,
                        fmt::format("the shape function of tensor '{}'", tensor.name), *problem,
                        describe(dims, config));
    tensor.dtype_for(config);
    if (tensor.role_for(config) == Role::out || !tensor.fill.range) continue;
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (const auto problem = range_problem(tensor.fill.range(dims), empty ? 0 : 1))
      throw SpecMistake(SpecMistake::Kind::of_the_call, spec.name,
                        fmt::format("the range of the fill of tensor '{}'", tensor.name), *problem,
                        describe(dims, {}));
  }
  if (spec.has_reference) spec.tolerance_for(config);
  if (spec.work) spec.work(dims, config);
  if (spec.geometry) spec.geometry(dims, config);
}

void try_functions(const TargetSpec& spec, const Plan& plan) {
  for (const auto* step : calls_of(plan)) try_functions(spec, step->call.dims, step->call.config);
}

}  // namespace redzone
