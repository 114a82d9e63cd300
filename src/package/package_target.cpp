#include "package/package_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "package/call.h"
#include "package/parameters.h"

namespace redzone::package {
namespace {

void* scratch(Context& ctx, const char* name, const ScratchPlan& plan, const LaunchPlan& launch) {
  if (plan.bytes_per_cta == 0) return nullptr;
  return ctx.scratch(name, plan.bytes, plan.align,
                     {.bytes_per_cta = plan.bytes_per_cta,
                      .grid = launch.programs,
                      .num_ctas = static_cast<int>(launch.shape.cluster.x),
                      .align = plan.align});
}

bool is_number(const Argument& argument) {
  if (argument.kind == Argument::Kind::tensor || !argument.knob.empty()) return false;
  return argument.value || !std::holds_alternative<std::string>(argument.plain);
}

}  // namespace

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
      return fail(fmt::format("'{}' says nothing of the output '{}'", package.reference, t.name));
  for (const auto name : reference->numbers)
    if (std::none_of(package.arguments.begin(), package.arguments.end(),
                     [&](const Argument& a) { return a.name == name && is_number(a); }))
      return needs("number", name);
  return reference;
}

PackageTarget::PackageTarget(std::shared_ptr<const Package> package,
                             const references::Reference* reference)
    : package_(std::move(package)), reference_(reference), kernels_(package_->compiled.size()) {}

const KernelRef& PackageTarget::kernel(Context& ctx, std::size_t compiled) {
  auto& known = kernels_[compiled];
  if (!known) {
    VariantRequest request;
    request.name = package_->kernel.c_str();
    request.expression = package_->kernel;
    request.image = package_->compiled[compiled].image;
    known = ctx.variant(request);
  }
  return *known;
}

void PackageTarget::run(Context& ctx) {
  const Package& package = *package_;
  const auto call = resolve(package, ctx.dims(), ctx.config());
  if (!call) return ctx.unsupported(call.error());
  std::vector<std::uintptr_t> addresses(package.arguments.size());
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (package.arguments[i].kind == Argument::Kind::tensor)
      addresses[i] = reinterpret_cast<std::uintptr_t>(
          ctx.tensor(package.tensors[package.arguments[i].tensor].name).base);
  const auto chosen = choose(package, *call, addresses);
  if (!chosen) return ctx.unsupported(chosen.error());
  const Variant& variant = package.variants[*chosen];
  const auto plan = plan_launch(package, variant, call->values, ctx.multiprocessors());
  if (!plan) return ctx.unsupported(plan.error());
  if (plan->empty()) return;

  const KernelRef& kernel = this->kernel(ctx, variant.compiled);
  void* global = scratch(ctx, "global_scratch", plan->global, *plan);
  void* profile = scratch(ctx, "profile_scratch", plan->profile, *plan);
  if (ctx.ended()) return;
  const Parameters parameters(package, variant, *call, addresses, global, profile);
  ctx.launch(kernel, plan->shape, parameters.args());
}

void PackageTarget::reference(ReferenceCall& call) const {
  const auto resolved = resolve(*package_, call.dims(), call.config());
  if (!resolved) throw std::invalid_argument(resolved.error());
  references::Numbers numbers;
  for (std::size_t i = 0; i < package_->arguments.size(); ++i) {
    if (!is_number(package_->arguments[i])) continue;
    const Constant& value = resolved->arguments[i];
    const auto* real = std::get_if<double>(&value);
    numbers[package_->arguments[i].name] =
        real != nullptr ? *real : static_cast<double>(std::get<std::int64_t>(value));
  }
  reference_->run(call, numbers);
}

}  // namespace redzone::package
