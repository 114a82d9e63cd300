#include "package/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/plan_text.h"

namespace redzone::package {
namespace {

constexpr auto kMostScratch = static_cast<__int128>(1) << 62;

std::string where(const Package& package, std::string_view field) {
  return fmt::format("{}: {}", (package.folder / "target.toml").string(), field);
}

// The classes of the specialized integers; nullopt for addresses, which are not known yet.
std::vector<std::optional<Class>> classes_of(const Package& package, const ResolvedCall& call) {
  std::vector<std::optional<Class>> classes(package.arguments.size());
  for (std::size_t i = 0; i < package.arguments.size(); ++i)
    if (const Argument& argument = package.arguments[i];
        argument.kind == Argument::Kind::integer && argument.specialized)
      classes[i] = class_of(std::get<std::int64_t>(call.arguments[i]));
  return classes;
}

// The value of the argument in a call.
tl::expected<Constant, std::string> value_of(const Package& package, const Argument& argument,
                                             const Values& values, const Config& config) {
  if (!argument.knob.empty()) return std::get<std::string>(config.find(argument.knob)->second);
  if (!argument.value) return argument.plain;
  const auto field = [&] {
    return where(package, fmt::format("argument[{}].value", argument.name));
  };
  const auto value = argument.value->value(values);
  if (!value) return tl::unexpected(fmt::format("{}: {}", field(), value.error()));
  if (argument.kind == Argument::Kind::integer && !holds(argument.type, *value))
    return tl::unexpected(
        fmt::format("{}: {} does not fit {}", field(), *value, name_of(argument.type)));
  if (argument.kind == Argument::Kind::real) return static_cast<double>(*value);
  return *value;
}

// The problem with the first shape that has no value or a negative dim; nullopt if there is none.
std::optional<std::string> shape_problem(const Package& package, const Values& values) {
  for (const auto& tensor : package.tensors)
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const auto extent = tensor.shape[i].value(values);
      if (extent && *extent >= 0) continue;
      return fmt::format("{}: {}",
                         where(package, fmt::format("tensor[{}].shape[{}]", tensor.name, i)),
                         extent ? fmt::format("{} is negative", *extent) : extent.error());
    }
  return std::nullopt;
}

// "BLOCK = 64, RDIM = 128, N of class '16'".
std::string describe(const Package& package, const Config& config, const ResolvedCall& call) {
  std::vector<std::string> parts;
  for (const auto& knob : package.knobs)
    parts.push_back(fmt::format("{} = {}", knob.name, print_value(config.find(knob.name)->second)));
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const auto& argument = package.arguments[i];
    if (argument.kind == Argument::Kind::constant && config.count(argument.name) == 0)
      parts.push_back(fmt::format("{} = {}", argument.name, text_of(call.arguments[i])));
    if (argument.kind == Argument::Kind::integer && argument.specialized)
      parts.push_back(
          fmt::format("{} of class '{}'", argument.name,
                      redzone::name_of(class_of(std::get<std::int64_t>(call.arguments[i])))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Triton's launcher must provide size * num_ctas for each program (Triton 3.6, CudaLauncher in its
// NVIDIA backend).
tl::expected<ScratchPlan, std::string> plan_scratch(const ScratchRule& rule, const Extent& programs,
                                                    int ctas) {
  __int128 bytes = static_cast<__int128>(rule.bytes) * ctas;
  for (const std::int64_t extent : {programs.x, programs.y, programs.z}) {
    bytes *= extent;  // each factor is at most 2^53, and the product so far at most 2^62
    if (bytes > kMostScratch)
      return tl::unexpected(
          fmt::format("more than 2^62 bytes of scratch for a grid of {} x {} x {}", programs.x,
                      programs.y, programs.z));
  }
  return ScratchPlan{static_cast<std::size_t>(bytes), rule.align, rule.bytes};
}

}  // namespace

Class class_of(std::int64_t value) {
  if (value == 1) return Class::one;
  return value % 16 == 0 ? Class::sixteen : Class::other;
}

tl::expected<ResolvedCall, std::string> evaluate(const Package& package, const Dims& dims,
                                                 const Config& config) {
  ResolvedCall call;
  call.values = dims;
  described::add_knobs(call.values, package.knobs, config);
  if (auto problem = shape_problem(package, call.values)) return tl::unexpected(*problem);
  for (const Argument& argument : package.arguments) {
    RZ_TRY_ASSIGN(auto value, value_of(package, argument, call.values, config));
    call.arguments.push_back(std::move(value));
  }
  return call;
}

tl::expected<ResolvedCall, std::string> resolve(const Package& package, const Dims& dims,
                                                const Config& config) {
  auto call = evaluate(package, dims, config);
  if (!call) return call;
  std::vector<Constant> constants;
  for (std::size_t i = 0; i < package.arguments.size(); ++i)
    if (package.arguments[i].kind == Argument::Kind::constant)
      constants.push_back(call->arguments[i]);
  const auto found =
      package.by_key.find(variant_key(package, config, constants, classes_of(package, *call)));
  if (found == package.by_key.end())
    return tl::unexpected(
        fmt::format("no variant was compiled for {}", describe(package, config, *call)));
  call->variants = found->second;
  return call;
}

tl::expected<std::size_t, std::string> choose(const Package& package, const ResolvedCall& call,
                                              std::span<const std::uintptr_t> addresses) {
  std::string classes;
  for (const std::size_t v : call.variants) {
    const Variant& variant = package.variants[v];
    bool fits = true;
    for (std::size_t i = 0; i < package.arguments.size() && fits; ++i)
      if (package.arguments[i].kind == Argument::Kind::tensor && variant.classes[i])
        fits = *variant.classes[i] == (addresses[i] % 16 == 0 ? Class::sixteen : Class::other);
    if (fits) return v;
  }
  for (std::size_t i = 0; i < package.arguments.size(); ++i)
    if (package.arguments[i].kind == Argument::Kind::tensor && package.arguments[i].specialized)
      classes += fmt::format("{}{} of class '{}'", classes.empty() ? "" : ", ",
                             package.arguments[i].name, addresses[i] % 16 == 0 ? "16" : "other");
  return tl::unexpected(fmt::format("no variant was compiled for addresses {}", classes));
}

std::size_t least_align(const Package& package, std::size_t tensor) {
  const std::size_t align = package.tensors[tensor].align_bytes;
  if (align >= 16) return align;
  // Without an alignment in the description, variants are compiled for addresses aligned to 16.
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const auto& argument = package.arguments[i];
    if (argument.kind != Argument::Kind::tensor || argument.tensor != tensor) continue;
    if (!argument.specialized) continue;
    if (align == 0) return 16;
    const bool any = std::any_of(package.variants.begin(), package.variants.end(),
                                 [&](const Variant& v) { return v.classes[i] == Class::other; });
    if (!any) return 16;
  }
  return align;
}

tl::expected<Extent, std::string> programs_of(const Package& package, Values values,
                                              int multiprocessors) {
  values["num_sms"] = multiprocessors;
  Extent programs;
  std::int64_t* const extents[] = {&programs.x, &programs.y, &programs.z};
  for (std::size_t i = 0; i < package.grid.size(); ++i) {
    const auto extent = package.grid[i].value(values);
    if (!extent || *extent < 0)
      return tl::unexpected(fmt::format(
          "{}: {}", where(package, fmt::format("grid[{}]", i)),
          extent ? fmt::format("'{}' is {}, which is negative", package.grid[i].text(), *extent)
                 : extent.error()));
    *extents[i] = *extent;
  }
  return programs;
}

tl::expected<LaunchPlan, std::string> launch_of(const Package& package, const Variant& variant,
                                                const Extent& programs) {
  const Compiled& compiled = package.compiled[variant.compiled];
  LaunchPlan plan;
  plan.programs = programs;
  if (plan.empty()) return plan;
  auto& shape = plan.shape;
  shape.grid = plan.programs;
  shape.grid.x *= compiled.ctas;
  shape.block = {compiled.warps * 32};
  shape.shared_bytes = compiled.shared_bytes;
  shape.cluster = {compiled.ctas};
  shape.cooperative = compiled.cooperative;
  shape.dependent = compiled.dependent;
  const std::pair<const ScratchRule*, ScratchPlan*> both[] = {{&compiled.global, &plan.global},
                                                              {&compiled.profile, &plan.profile}};
  for (const auto& [rule, scratch] : both) {
    RZ_TRY_ASSIGN(auto planned, plan_scratch(*rule, plan.programs, compiled.ctas));
    *scratch = planned;
  }
  return plan;
}

bool setting_allows(const Package& package, const Dims& dims, const Config& setting) {
  const auto& all = package.constraints;
  return std::all_of(all.begin(), all.end(), [&](const Constraint& c) {
    return c.kind != Constraint::Kind::predicate || c.holds(dims, setting);
  });
}

}  // namespace redzone::package
