#include "oracles/catalog.h"

#include <algorithm>
#include <utility>

#include "oracles/async.h"
#include "oracles/axis_oracle.h"
#include "oracles/dry_screen.h"
#include "oracles/fault.h"
#include "oracles/launch_config.h"
#include "oracles/launch_mismatch.h"
#include "oracles/order.h"
#include "oracles/redzone.h"
#include "oracles/reference.h"
#include "oracles/repetition.h"
#include "oracles/sanitizer.h"
#include "oracles/scratch.h"

namespace redzone::oracles {

namespace {

std::vector<std::unique_ptr<Oracle>> comparing_along(const std::vector<ModeAxis>& axes) {
  std::vector<std::pair<FailKind, std::unique_ptr<Oracle>>> all;
  all.emplace_back(FailKind::nondeterministic, std::make_unique<RepetitionOracle>());
  all.emplace_back(FailKind::history, std::make_unique<AxisOracle>(history_oracle()));
  if (find_mode_axis(axes, axis::kLaunch) != nullptr) {
    all.emplace_back(FailKind::async, std::make_unique<AsyncOracle>(axes));
    all.emplace_back(FailKind::order, std::make_unique<OrderOracle>());
  }
  if (find_mode_axis(axes, "addresses") != nullptr)
    all.emplace_back(FailKind::address, std::make_unique<AxisOracle>(address_oracle()));
  if (find_mode_axis(axes, "callers") != nullptr)
    all.emplace_back(FailKind::host_thread, std::make_unique<AxisOracle>(host_thread_oracle()));
  all.emplace_back(FailKind::reference, std::make_unique<ReferenceOracle>());
  for (const auto& axis : axes) {
    const auto is_its_own = [&](const auto& o) { return o.second->name() == axis.oracle; };
    if (!axis.oracle.empty() && std::none_of(all.begin(), all.end(), is_its_own))
      all.emplace_back(axis.kind, std::make_unique<AxisOracle>(axis));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return more_specific(a.first, b.first); });
  std::vector<std::unique_ptr<Oracle>> out;
  out.reserve(all.size());
  for (auto& [kind, oracle] : all) out.push_back(std::move(oracle));
  return out;
}

}  // namespace

Catalog::Catalog(LaunchLimits limits, SanitizerTool tool, ScreenOptions screen,
                 std::vector<ModeAxis> axes)
    : screen_(std::make_unique<ScreenOracle>(screen, axes)),
      device_free_(std::make_unique<LaunchConfigOracle>(limits)),
      comparing_(comparing_along(axes)),
      axes_(std::move(axes)) {
  direct_.push_back(std::make_unique<FaultOracle>());
  direct_.push_back(std::make_unique<RedzoneOracle>());
  direct_.push_back(std::make_unique<ScratchOracle>());
  for (auto t : {SanitizerTool::memcheck, SanitizerTool::racecheck, SanitizerTool::initcheck,
                 SanitizerTool::synccheck, SanitizerTool::races, SanitizerTool::init,
                 SanitizerTool::sync, SanitizerTool::undefined})
    by_name_.push_back(std::make_unique<SanitizerOracle>(t));
  by_name_.push_back(std::make_unique<LaunchMismatchOracle>());
  if (tool == SanitizerTool::none) return;
  direct_.push_back(std::make_unique<SanitizerOracle>(tool));
  const Oracle& under_tool = sanitizer(tool);
  native_screen_ = std::move(screen_);
  screen_ = std::make_unique<SanitizedScreen>(*native_screen_, under_tool);
}

Catalog::Catalog(LaunchLimits limits, Dry)
    : screen_(std::make_unique<DryScreenOracle>()),
      device_free_(std::make_unique<LaunchConfigOracle>(limits)),
      axes_(mode_axes_with(SeedDecides::nothing)),
      dry_(true) {
  direct_.push_back(std::make_unique<FaultOracle>());
  direct_.push_back(std::make_unique<LaunchMismatchOracle>());
  direct_.push_back(std::make_unique<ScratchOracle>());
}

Catalog Catalog::dry(LaunchLimits limits) {
  return Catalog(limits, Dry{});
}

std::vector<const Oracle*> Catalog::all() const {
  std::vector<const Oracle*> out{device_free_.get()};
  for (const auto* group : {&direct_, &comparing_})
    for (const auto& oracle : *group) out.push_back(oracle.get());
  return out;
}

const Oracle& Catalog::sanitizer(SanitizerTool tool) const {
  const Oracle* oracle = find(name_of(tool));
  RZ_CHECK(oracle != nullptr);
  return *oracle;
}

const Oracle* Catalog::find(std::string_view name) const {
  if (name == LaunchMismatchOracle::kFirstName) name = LaunchMismatchOracle::kName;
  if (screen_->name() == name) return screen_.get();
  for (const auto* oracle : all())
    if (oracle->name() == name) return oracle;
  for (const auto& oracle : by_name_)
    if (oracle->name() == name) return oracle.get();
  return nullptr;
}

}  // namespace redzone::oracles
