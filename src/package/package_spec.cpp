#include <fmt/format.h>

#include <algorithm>

#include "core/spec_mistake.h"
#include "package/call.h"
#include "package/package_target.h"

namespace redzone::package {
namespace {

// A grid without a value is a mistake of the package, because its dims and constraints allow the
// call.
Geometry geometry_of(const Package& package, const Dims& dims, const Config& config) {
  const auto call = resolve(package, dims, config);
  if (!call) return {};
  const auto programs = programs_of(package, call->values, kUsualMultiprocessors);
  if (!programs)
    throw SpecMistake(SpecMistake::Kind::of_the_call, package.name, "the grid",
                      fmt::format("is invalid: {}", programs.error()),
                      redzone::describe(dims, config));
  const auto plan = launch_of(package, package.variants[call->variants.front()], *programs);
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

// The predicates of the description read its own knobs. Makes them hold for a setting of the
// target's knobs if they hold for any config that the setting represents.
void over_settings(std::vector<Constraint>& constraints,
                   const std::shared_ptr<const Settings>& settings) {
  for (auto& constraint : constraints)
    if (constraint.kind == Constraint::Kind::predicate)
      constraint.holds = [settings, holds = std::move(constraint.holds)](const Dims& dims,
                                                                         const Config& config) {
        const auto full = settings->full(config);
        return std::any_of(full.begin(), full.end(),
                           [&](const Config& each) { return holds(dims, each); });
      };
}

}  // namespace

TargetSpec spec_of(std::shared_ptr<const Package> package,
                   const std::shared_ptr<const Settings>& settings) {
  TargetSpec spec = described::spec_of(package);
  over_settings(spec.constraints, settings);
  spec.constraints.push_back(Constraint::predicate(
      "the package has no compiled variant for the call, or a value is out of range",
      [package, settings](const Dims& dims, const Config& config) {
        const auto full = settings->full(config);
        return std::any_of(full.begin(), full.end(), [&](const Config& each) {
          return resolve(*package, dims, each).has_value();
        });
      }));
  for (std::size_t i = 0; i < package->tensors.size(); ++i)
    spec.tensors[i].align_bytes = least_align(*package, i);
  spec.knobs = settings->knobs();
  spec.has_reference = !package->reference.empty();
  spec.only_compute_capability = package->arch;
  if (spec.work)
    spec.work = [settings, work = std::move(spec.work)](const Dims& dims, const Config& config) {
      const auto full = settings->full(config);
      // Each config is tried, and then the best one runs.
      const auto launches = full.size() == 1 ? 1 : full.size() + 1;
      return work(dims, full.front()) * static_cast<double>(launches);
    };
  spec.geometry = [package, settings](const Dims& dims, const Config& config) {
    const auto full = settings->full(config);
    if (full.size() == 1) return geometry_of(*package, dims, full.front());
    for (const auto& each : full)
      if (setting_allows(*package, dims, each)) geometry_of(*package, dims, each);  // may throw
    return Geometry{};
  };
  return spec;
}

}  // namespace redzone::package
