#include "package/package_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/names.h"
#include "package/call.h"
#include "package/parameters.h"

namespace redzone::package {

Result<const references::Reference*> reference_of(const Package& package) {
  if (package.reference.empty()) return nullptr;
  const auto fail = [&](std::string_view what) {
    return usage_error(
        fmt::format("{}: reference: {}", (package.folder / "target.toml").string(), what));
  };
  const auto* reference = references::find(package.reference);
  if (reference == nullptr)
    return fail(fmt::format("there is no reference '{}'{} ({})", package.reference,
                            did_you_mean(package.reference, references::names()),
                            fmt::join(references::names(), ", ")));
  const auto needs = [&](std::string_view kind, std::string_view name) {
    return fail(fmt::format("'{}' needs the {} '{}'", package.reference, kind, name));
  };
  const auto tensor = [&](std::string_view name, Role but) {
    return std::any_of(package.tensors.begin(), package.tensors.end(),
                       [&](const Tensor& t) { return t.name == name && t.role != but; });
  };
  for (const auto name : reference->dims)
    if (std::none_of(package.dims.begin(), package.dims.end(),
                     [&](const DimSpec& d) { return d.name == name; }))
      return needs("dim", name);
  for (const auto name : reference->inputs)
    if (!tensor(name, Role::out)) return needs("input", name);
  for (const auto name : reference->outputs)
    if (!tensor(name, Role::in)) return needs("output", name);
  for (const auto& t : package.tensors)
    if (t.role != Role::in && std::find(reference->outputs.begin(), reference->outputs.end(),
                                        t.name) == reference->outputs.end())
      return fail(fmt::format("'{}' does not compute the output '{}'", package.reference, t.name));
  for (const auto name : reference->numbers)
    if (std::none_of(package.arguments.begin(), package.arguments.end(),
                     [&](const Argument& a) { return a.name == name && is_number(a); }))
      return needs("number", name);
  return reference;
}

PackageTarget::PackageTarget(std::shared_ptr<const Package> package,
                             std::shared_ptr<const Settings> settings,
                             const references::Reference* reference)
    : package_(std::move(package)),
      settings_(std::move(settings)),
      reference_(reference),
      kernels_(package_) {}

void PackageTarget::run(Context& ctx) {
  const Package& package = *package_;
  const auto call = resolve(package, ctx.dims(), settings_->full(ctx.config()).front());
  if (!call) return ctx.unsupported(call.error());
  const auto addresses = addresses_of(ctx, package);
  const auto chosen = choose(package, *call, addresses);
  if (!chosen) return ctx.unsupported(chosen.error());
  const Variant& variant = package.variants[*chosen];
  const auto programs = programs_of(package, call->values, ctx.multiprocessors());
  if (!programs) throw SpecError(programs.error());
  const auto plan = launch_of(package, variant, *programs);
  if (!plan) return ctx.unsupported(plan.error());
  if (plan->empty()) return;

  const KernelRef& kernel = kernels_.get(ctx, variant.compiled);
  void* global = take_scratch(ctx, "global_scratch", plan->global, *plan);
  void* profile = take_scratch(ctx, "profile_scratch", plan->profile, *plan);
  if (ctx.ended()) return;
  const Parameters parameters(package, variant, *call, addresses, global, profile);
  ctx.launch(kernel, plan->shape, parameters.args());
}

void PackageTarget::reference(ReferenceCall& call) const {
  const auto resolved = resolve(*package_, call.dims(), settings_->full(call.config()).front());
  if (!resolved) throw std::invalid_argument(resolved.error());
  reference_->run(call, numbers_of(*package_, *resolved));
}

}  // namespace redzone::package
