// Prepares the rerun of a recorded plan: the engine, the target, and the reason if the plan cannot
// be judged here.
#pragma once

#include <memory>
#include <string>

#include "core/plan.h"
#include "engine/engine.h"
#include "engine/recorded_plan.h"

namespace redzone::engine {

struct Rerun {
  std::unique_ptr<Engine> engine;
  const TargetEntry* entry = nullptr;
  std::string not_judged;  // why the plan cannot be judged here; "" if it can
  std::string other_code;  // how the loaded target differs from the recorded one; "" if it does not
};

// Opens an engine, completes the plan and validates it for its target. Returns a usage error if the
// target is not loaded or the plan does not fit it.
Result<Rerun> open_rerun(const EngineOptions& options, const RecordedPlan& recorded, Plan& plan);

}  // namespace redzone::engine
