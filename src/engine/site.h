// Where trials run: a device with its targets and oracles. Reports what can be run and judged
// there, and the environment that is stored with a finding.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "campaign/self_proof.h"
#include "core/device_traits.h"
#include "core/environment.h"
#include "core/error.h"
#include "core/plan.h"
#include "engine/recorded_plan.h"
#include "exec/trial_host.h"
#include "oracles/catalog.h"
#include "target/registry.h"

namespace redzone::engine {

class Site {
 public:
  // `registry` and `catalog` are borrowed. `worker`: what a worker on the device reported.
  // `no_tool`: returns why a tool, which must not be none, is unavailable, or "" if it seems
  // available; unset: no tool is available. `at_once`: the oracles for targets whose calls compute
  // at once (TargetEntry::immediate), if they differ from `catalog`.
  Site(DeviceKind device, const Registry& registry, const oracles::Catalog& catalog,
       exec::Hello worker, std::function<std::string(SanitizerTool)> no_tool,
       const oracles::Catalog* at_once = nullptr)
      : traits_(&traits_of(device)),
        registry_(&registry),
        catalog_(&catalog),
        at_once_(at_once == nullptr ? &catalog : at_once),
        worker_(std::move(worker)),
        no_tool_(std::move(no_tool)) {}

  DeviceKind device() const { return traits_->kind; }
  const DeviceTraits& traits() const { return *traits_; }
  const Registry& registry() const { return *registry_; }
  const oracles::Catalog& catalog() const { return *catalog_; }
  // The oracles without the axes that have no effect on any of these targets.
  const oracles::Catalog& catalog_for(std::span<const TargetEntry* const> targets) const;
  const oracles::Catalog& catalog_for(const TargetEntry& target) const;
  const exec::Hello& worker() const { return worker_; }
  // Why the tool is unavailable; "" if it seems available or is SanitizerTool::none.
  std::string no_tool(SanitizerTool tool) const;

  // The environment of a trial of the target. The overload without a target leaves the target's
  // properties empty.
  Environment environment(const TargetEntry& target) const;
  Environment environment() const;
  // Finds the spec of a target on this device; borrows the registry.
  campaign::FindSpec find_spec() const;

  // Finds the target of `plan` on this device, completes the plan and validates it. `where` names
  // the plan in errors.
  Result<const TargetEntry*> check(Plan& plan, std::string_view where) const;
  // Returns why the recorded failure cannot be judged on this device, if it cannot: its oracle, or
  // the failure itself, needs kernels to run.
  std::optional<std::string> cannot_judge(const RecordedPlan& recorded) const;
  // Returns why a pass does not show that the recorded failure is gone, although that failure can
  // show on this device: in a dry run, if a plan file expects a fault that may be of the launcher
  // or of a kernel.
  std::optional<std::string> cannot_refute(const RecordedPlan& recorded) const;
  // Returns why the target cannot run on this device, if it cannot.
  std::optional<std::string> cannot_run(const TargetSpec& spec) const;

  // The oracles for a rerun of the plan. With a tool, only that tool judges. `oracle`: the oracle
  // that recorded the failure, which comes first; "": all oracles. An unknown oracle is a usage
  // error.
  Result<std::vector<const Oracle*>> oracles_for(const Plan& plan, const TargetSpec& spec,
                                                 std::string_view oracle, SanitizerTool tool) const;

 private:
  const DeviceTraits* traits_;
  const Registry* registry_;
  const oracles::Catalog* catalog_;
  const oracles::Catalog* at_once_;
  exec::Hello worker_;
  std::function<std::string(SanitizerTool)> no_tool_;
};

}  // namespace redzone::engine
