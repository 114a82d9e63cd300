#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/spec_names.h"
#include "package/call.h"
#include "package/description.h"
#include "package/package_target.h"

namespace redzone::package {
namespace {

// Work of a call whose work expression has no value.
constexpr double kEndlessWork = 1e18;

std::int64_t value_or_throw(const Expression& expression, const Dims& dims) {
  const auto value = expression.value(dims);
  if (!value) throw std::invalid_argument(value.error());
  return *value;
}

Fill fill_of(const Tensor& tensor) {
  switch (tensor.fill) {
    case Fill::Kind::uniform:
      return Fill::uniform(tensor.lo, tensor.hi);
    case Fill::Kind::constant:
      return Fill::constant(tensor.lo);
    case Fill::Kind::integers:
      return Fill::integers([from = *tensor.from, to = *tensor.to](const Dims& dims) {
        return std::pair(value_or_throw(from, dims), value_or_throw(to, dims));
      });
    case Fill::Kind::offsets:
      return Fill::offsets(
          [total = *tensor.to](const Dims& dims) { return value_or_throw(total, dims); });
  }
  return {};
}

TensorSpec tensor_spec(const Package& package, std::size_t index) {
  const Tensor& tensor = package.tensors[index];
  TensorSpec spec;
  spec.name = tensor.name;
  spec.dtype = tensor.dtype;
  spec.role = tensor.role;
  spec.shape = [shape = tensor.shape](const Dims& dims) {
    Shape out;
    for (const auto& extent : shape) out.push_back(value_or_throw(extent, dims));
    return out;
  };
  spec.fill = fill_of(tensor);
  spec.align_bytes = least_align(package, index);
  spec.tolerance = tensor.tolerance;
  if (!tensor.dtype_of.empty())
    spec.dtype_of = [knob = tensor.dtype_of](const Config& config) {
      return *value_named<DType>(get_str(config, knob));
    };
  return spec;
}

Geometry geometry_of(const Package& package, const Dims& dims, const Config& config) {
  const auto call = resolve(package, dims, config);
  if (!call) return {};
  const auto plan = plan_launch(package, package.variants[call->variants.front()], call->values,
                                kUsualMultiprocessors);
  if (!plan || plan->empty()) return {};
  const auto& shape = plan->shape;
  LaunchDecl launch;
  launch.kernel = package.kernel;
  const std::int64_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
  std::copy(std::begin(grid), std::end(grid), launch.grid);
  launch.block[0] = shape.block.x;
  launch.shared_bytes = static_cast<std::int64_t>(shape.shared_bytes);
  return {{std::move(launch)}, {}};
}

double work_of(const Package& package, const Dims& dims, const Config& config) {
  Values values = dims;
  add_knobs(values, package.knobs, config);
  const auto work = package.work->value(values);
  return work ? static_cast<double>(*work) : kEndlessWork;
}

}  // namespace

TargetSpec spec_of(std::shared_ptr<const Package> package,
                   const std::shared_ptr<const Settings>& settings) {
  TargetSpec spec;
  spec.name = package->name;
  spec.doc = package->doc;
  spec.dims = package->dims;
  spec.constraints = package->constraints;
  spec.constraints.push_back(Constraint::predicate(
      "the package has no compiled variant for the call, or a value is out of range",
      [package, settings](const Dims& dims, const Config& config) {
        const auto full = settings->full(config);
        return std::any_of(full.begin(), full.end(), [&](const Config& each) {
          return resolve(*package, dims, each).has_value();
        });
      }));
  for (std::size_t i = 0; i < package->tensors.size(); ++i)
    spec.tensors.push_back(tensor_spec(*package, i));
  spec.knobs = settings->knobs();
  spec.deterministic = package->deterministic;
  spec.has_reference = !package->reference.empty();
  spec.only_compute_capability = package->arch;
  if (package->work)
    spec.work = [package, settings](const Dims& dims, const Config& config) {
      const auto full = settings->full(config);
      // Each is tried, and then the best one runs.
      const auto launches = full.size() == 1 ? 1 : full.size() + 1;
      return work_of(*package, dims, full.front()) * static_cast<double>(launches);
    };
  spec.geometry = [package, settings](const Dims& dims, const Config& config) {
    const auto full = settings->full(config);
    return full.size() == 1 ? geometry_of(*package, dims, full.front()) : Geometry{};
  };
  return spec;
}

}  // namespace redzone::package
