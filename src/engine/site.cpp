#include "engine/site.h"

#include <fmt/format.h>

#include <algorithm>

#include "campaign/run_judgement.h"
#include "core/build_environment.h"
#include "core/device_traits.h"
#include "core/mode_axes.h"
#include "core/plan_text.h"
#include "core/validate.h"
#include "engine/origin.h"
#include "target/capability.h"

namespace redzone::engine {
namespace {

bool was_dry(const RecordedPlan& recorded) {
  const std::string& device = recorded.found_in.device;
  return !device.empty() && !traits_of_device(device).execution.runs_kernels;
}

// True if a dry run, in which launchers but not kernels can fault and hang, would pass although the
// recorded failure still exists.
bool needs_kernels(const RecordedPlan& recorded) {
  if (was_dry(recorded)) return false;
  if (recorded.kind == FailKind::fault) return !recorded.found_in.device.empty();
  return recorded.kind == FailKind::illegal_access || recorded.kind == FailKind::misaligned ||
         recorded.kind == FailKind::hang;
}

}  // namespace

Environment Site::environment(const TargetEntry& target) const {
  auto environment =
      collect_environment(worker_.device, worker_.driver, worker_.compute_capability,
                          target.spec.needs_nvrtc ? worker_.nvrtc : "", target.code_hash);
  environment.toolkit = toolkit_of(target, environment.toolkit);
  environment.origin = origin_of(target);
  return environment;
}

Environment Site::environment() const {
  return collect_environment(worker_.device, worker_.driver, 0, "", "");
}

campaign::FindSpec Site::find_spec() const {
  return [registry = registry_, device = device()](std::string_view name) -> const TargetSpec* {
    const TargetEntry* entry = registry->find(name, device);
    return entry == nullptr ? nullptr : &entry->spec;
  };
}

Result<const TargetEntry*> Site::check(Plan& plan, std::string_view where) const {
  auto entry = registry_->require(plan.target, device());
  if (!entry) return usage_error(fmt::format("{}: {}", where, entry.error().message));
  complete(plan, (*entry)->spec);
  RZ_TRY(validate(plan, (*entry)->spec, where));
  return *entry;
}

std::optional<std::string> Site::cannot_judge(const RecordedPlan& recorded) const {
  if (catalog_->is_dry() && needs_kernels(recorded))
    return fmt::format("the failure '{}' needs kernels that run, and device {} runs none",
                       name_of(*recorded.kind), traits_->name);
  const std::string& oracle = recorded.oracle;
  const std::string& device = recorded.found_in.device;
  if (oracle == axis::kSchedule && !device.empty() &&
      traits_of_device(device).execution.seed_decides != traits_->execution.seed_decides)
    return fmt::format(
        "the seeds of the oracle '{}' decide something else on {} than on {}, where "
        "it was found",
        oracle, traits_->name, device);
  if (catalog_->find(oracle) != nullptr || oracles::Catalog().find(oracle) == nullptr)
    return std::nullopt;
  return fmt::format("the oracle '{}' needs kernels that run, and device {} runs none", oracle,
                     traits_->name);
}

std::optional<std::string> Site::cannot_refute(const RecordedPlan& recorded) const {
  if (!catalog_->is_dry() || recorded.kind != FailKind::fault || was_dry(recorded))
    return std::nullopt;
  return fmt::format("it passes on device {}, which shows faults of launchers and none of kernels",
                     traits_->name);
}

std::string Site::no_tool(SanitizerTool tool) const {
  if (tool == SanitizerTool::none) return "";
  return no_tool_ ? no_tool_(tool) : fmt::format("{} cannot be used here", name_of(tool));
}

std::optional<std::string> Site::cannot_run(const TargetSpec& spec) const {
  return support_problem(spec, *traits_, worker_.compute_capability, worker_.nvrtc);
}

const oracles::Catalog& Site::catalog_for(std::span<const TargetEntry* const> targets) const {
  const bool at_once =
      !targets.empty() && std::all_of(targets.begin(), targets.end(),
                                      [](const TargetEntry* target) { return target->immediate; });
  return at_once ? *at_once_ : *catalog_;
}

const oracles::Catalog& Site::catalog_for(const TargetEntry& target) const {
  const TargetEntry* const targets[] = {&target};
  return catalog_for(targets);
}

Result<std::vector<const Oracle*>> Site::oracles_for(const Plan& plan, const TargetSpec& spec,
                                                     std::string_view oracle,
                                                     SanitizerTool tool) const {
  if (tool != SanitizerTool::none) return std::vector<const Oracle*>{&catalog_->sanitizer(tool)};
  const TargetEntry* const target = registry_->find(plan.target, device());
  const oracles::Catalog& judging = target == nullptr ? *catalog_ : catalog_for(*target);
  if (oracle.empty()) return judging.all();
  const Oracle* own = catalog_->find(oracle);
  if (own == nullptr) return usage_error(fmt::format("no oracle '{}' in this build", oracle));
  return campaign::oracles_for(judging, *own, plan, spec);
}

}  // namespace redzone::engine
