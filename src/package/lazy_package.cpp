#include "package/lazy_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/plan_text.h"
#include "launcher/rule_knobs.h"
#include "package/package_target.h"
#include "package/parameters.h"

namespace redzone::package {
namespace {

std::string last_dim_of_grid(const Package& package) {
  for (auto dim = package.dims.rbegin(); dim != package.dims.rend(); ++dim)
    for (const auto& extent : package.grid)
      if (const auto& names = extent.names();
          std::find(names.begin(), names.end(), dim->name) != names.end())
        return dim->name;
  return "";
}

// Number of CTAs of a launch; the maximum if the grid has no value.
__int128 ctas_of(const Package& package, const Variant& variant, const Dims& dims, int sms) {
  Values values(dims.begin(), dims.end());
  described::add_knobs(values, package.knobs, variant.knobs);
  const auto programs = programs_of(package, std::move(values), sms);
  if (!programs) return static_cast<__int128>(1) << 126;
  return static_cast<__int128>(programs->x) * programs->y * programs->z *
         package.compiled[variant.compiled].ctas;
}

}  // namespace

TunedChoice::TunedChoice(std::shared_ptr<const Package> package)
    : package_(std::move(package)),
      settings_(Settings::to_tune(*package_)),
      forgotten_dim_(last_dim_of_grid(*package_)) {}

bool TunedChoice::can_make(const lazy::Mistake& mistake) const {
  const lazy::Rules right;
  const auto& compiled = package_->compiled;
  const bool clusters_only = mistake.rules.scratch == lazy::ScratchRule::without_num_ctas;
  if (mistake.rules.scratch != right.scratch)
    return std::any_of(compiled.begin(), compiled.end(), [&](const Compiled& c) {
      return c.global.bytes > 0 && (!clusters_only || c.ctas > 1);
    });
  if (mistake.rules.tuning != right.tuning)
    return settings_.has_choice() &&
           std::any_of(package_->tensors.begin(), package_->tensors.end(),
                       [](const Tensor& t) { return t.role == Role::inout; });
  return !forgotten_dim_.empty();
}

TargetSpec lazy_spec_of(const std::shared_ptr<const TunedChoice>& choice) {
  TargetSpec spec =
      spec_of(choice->shared(), std::shared_ptr<const Settings>(choice, &choice->settings()));
  // The launcher tunes on copies of tensors, and only once: a replay would not repeat what the
  // capture recorded.
  spec.capturable = false;
  return spec;
}

LazyPackageTarget::LazyPackageTarget(std::shared_ptr<const TunedChoice> choice,
                                     const references::Reference* reference,
                                     const lazy::Rules& rules)
    : choice_(std::move(choice)),
      reference_(reference),
      rules_(rules),
      kernels_(choice_->shared()) {}

std::vector<std::size_t> LazyPackageTarget::configs(Context& ctx) {
  const auto addresses = addresses_of(ctx, package());
  std::vector<std::size_t> out;
  std::string why_not;
  for (const auto& config : choice_->settings().full(ctx.config())) {
    if (!setting_allows(package(), ctx.dims(), config)) continue;
    const auto call = resolve(package(), ctx.dims(), config);
    if (!call) {
      why_not = call.error();
      continue;
    }
    if (const auto chosen = choose(package(), *call, addresses))
      out.push_back(*chosen);
    else
      why_not = chosen.error();
  }
  if (out.empty()) ctx.unsupported(why_not);
  return out;
}

std::size_t LazyPackageTarget::best(Context& ctx, std::span<const std::size_t> configs) {
  const auto cost = [&](std::size_t config) {
    return ctas_of(package(), package().variants[config], ctx.dims(), ctx.multiprocessors());
  };
  std::size_t best = configs.front();
  for (const std::size_t config : configs)
    if (cost(config) < cost(best)) best = config;
  return best;
}

void LazyPackageTarget::prepare(Context& ctx, std::size_t config) {
  kernels_.get(ctx, package().variants[config].compiled);
}

Extent LazyPackageTarget::programs(Context& ctx, std::size_t config, const Dims& dims) {
  const Variant& variant = package().variants[config];
  Values values(dims.begin(), dims.end());
  described::add_knobs(values, package().knobs, variant.knobs);
  const auto programs = programs_of(package(), std::move(values), ctx.multiprocessors());
  if (!programs && setting_allows(package(), dims, variant.knobs))
    throw SpecError(programs.error());
  if (!programs) {  // the frozen grid or variant belongs to another call
    ctx.unsupported(programs.error());
    return {0, 0, 0};
  }
  // Checks only the limits; the size of the request is up to the launcher.
  if (const auto launch = launch_of(package(), variant, *programs); !launch)
    ctx.unsupported(launch.error());
  return *programs;
}

lazy::CtaScratch LazyPackageTarget::scratch(std::size_t config) const {
  const Compiled& compiled = package().compiled[package().variants[config].compiled];
  return {"global_scratch", compiled.global.bytes, compiled.ctas, compiled.global.align};
}

void LazyPackageTarget::launch(Context& ctx, std::size_t config, const Extent& programs,
                               void* scratch) {
  const Variant& variant = package().variants[config];
  // The frozen variant may be one that does not serve this call, but the expressions of its
  // arguments still have values.
  const auto call = evaluate(package(), ctx.dims(), variant.knobs);
  if (!call) return ctx.unsupported(call.error());
  const auto plan = launch_of(package(), variant, programs);
  if (!plan) return ctx.unsupported(plan.error());
  void* profile = take_scratch(ctx, "profile_scratch", plan->profile, *plan);
  if (ctx.ended()) return;
  const Parameters parameters(package(), variant, *call, addresses_of(ctx, package()), scratch,
                              profile);
  ctx.launch(kernels_.get(ctx, variant.compiled), plan->shape, parameters.args());
}

std::string LazyPackageTarget::key(Context& ctx) {
  std::string key;
  for (const auto& [name, value] : ctx.config()) key += name + " = " + print_value(value) + ", ";
  for (const auto address : addresses_of(ctx, package())) key += address % 16 == 0 ? '0' : '1';
  return key;
}

std::vector<std::string_view> LazyPackageTarget::accumulated() const {
  std::vector<std::string_view> names;
  for (const auto& tensor : package().tensors)
    if (tensor.role == Role::inout) names.emplace_back(tensor.name);
  return names;
}

void LazyPackageTarget::run(Context& ctx) {
  launcher_.run(ctx, *this, lazy::rules_of(ctx.config(), rules_));
}

void LazyPackageTarget::reference(ReferenceCall& call) const {
  for (const auto& config : choice_->settings().full(call.config())) {
    const auto resolved = resolve(package(), call.dims(), config);
    if (resolved) return reference_->run(call, numbers_of(package(), *resolved));
  }
  throw std::invalid_argument("no variant serves the call");
}

}  // namespace redzone::package
