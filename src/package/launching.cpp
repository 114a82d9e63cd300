#include "package/launching.h"

namespace redzone::package {

const KernelRef& LoadedKernels::get(Context& ctx, std::size_t compiled) {
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

std::vector<std::uintptr_t> addresses_of(Context& ctx, const Package& package) {
  std::vector<std::uintptr_t> addresses(package.arguments.size());
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (package.arguments[i].kind == Argument::Kind::tensor)
      addresses[i] = reinterpret_cast<std::uintptr_t>(
          ctx.tensor(package.tensors[package.arguments[i].tensor].name).base);
  return addresses;
}

void* take_scratch(Context& ctx, const char* name, const ScratchPlan& plan,
                   const LaunchPlan& launch) {
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

references::Numbers numbers_of(const Package& package, const ResolvedCall& call) {
  references::Numbers numbers;
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    if (!is_number(package.arguments[i])) continue;
    const Constant& value = call.arguments[i];
    const auto* real = std::get_if<double>(&value);
    numbers[package.arguments[i].name] =
        real != nullptr ? *real : static_cast<double>(std::get<std::int64_t>(value));
  }
  return numbers;
}

}  // namespace redzone::package
