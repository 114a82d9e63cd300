#include "oracles/catalog.h"

#include "core/plan_text.h"
#include "oracles/async.h"
#include "oracles/axis_oracle.h"
#include "oracles/dry_screen.h"
#include "oracles/fault.h"
#include "oracles/launch_config.h"
#include "oracles/launches.h"
#include "oracles/redzone.h"
#include "oracles/reference.h"
#include "oracles/repetition.h"
#include "oracles/sanitizer.h"
#include "oracles/schedule.h"
#include "oracles/scratch.h"

namespace redzone::oracles {

Catalog::Catalog(LaunchLimits limits, SanitizerTool tool, ScreenOptions screen, bool schedules)
    : screen_(std::make_unique<ScreenOracle>(screen)),
      device_free_(std::make_unique<LaunchConfigOracle>(limits)) {
  direct_.push_back(std::make_unique<FaultOracle>());
  direct_.push_back(std::make_unique<RedzoneOracle>());
  direct_.push_back(std::make_unique<ScratchOracle>());
  comparing_.push_back(std::make_unique<RepetitionOracle>());
  comparing_.push_back(std::make_unique<AxisOracle>(uninitialized_oracle()));
  comparing_.push_back(std::make_unique<AxisOracle>(history_oracle()));
  comparing_.push_back(std::make_unique<AsyncOracle>());
  if (schedules) comparing_.push_back(std::make_unique<ScheduleOracle>());
  comparing_.push_back(std::make_unique<AxisOracle>(placement_oracle()));
  comparing_.push_back(std::make_unique<AxisOracle>(graph_oracle()));
  comparing_.push_back(std::make_unique<AxisOracle>(allocation_oracle()));
  comparing_.push_back(std::make_unique<ReferenceOracle>());
  for (auto t : {SanitizerTool::memcheck, SanitizerTool::racecheck, SanitizerTool::initcheck,
                 SanitizerTool::synccheck})
    by_name_.push_back(std::make_unique<SanitizerOracle>(t));
  by_name_.push_back(std::make_unique<LaunchesOracle>());
  if (tool == SanitizerTool::none) return;
  direct_.push_back(std::make_unique<SanitizerOracle>(tool));
  const Oracle& under_tool = sanitizer(tool);
  native_screen_ = std::move(screen_);
  screen_ = std::make_unique<SanitizedScreen>(*native_screen_, under_tool);
}

Catalog::Catalog(LaunchLimits limits, Dry)
    : screen_(std::make_unique<DryScreenOracle>()),
      device_free_(std::make_unique<LaunchConfigOracle>(limits)),
      dry_(true) {
  direct_.push_back(std::make_unique<FaultOracle>());
  direct_.push_back(std::make_unique<LaunchesOracle>());
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
  if (screen_->name() == name) return screen_.get();
  for (const auto* oracle : all())
    if (oracle->name() == name) return oracle;
  for (const auto& oracle : by_name_)
    if (oracle->name() == name) return oracle.get();
  return nullptr;
}

}  // namespace redzone::oracles
