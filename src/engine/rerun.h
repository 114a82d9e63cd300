// A recorded plan that is to be run again: the engine for it, its target, and why it cannot be
// judged here, if it cannot.
#pragma once

#include <memory>
#include <string>

#include "core/environment.h"
#include "core/plan.h"
#include "engine/engine.h"

namespace redzone::engine {

struct RecordedPlan {
  std::string name;           // in errors and notes: "finding 3", "plan.toml"
  std::string oracle;         // that judged it; "" where none is named
  Environment found_in = {};  // of a finding
};

struct Rerun {
  std::unique_ptr<Engine> engine;
  const TargetEntry* entry = nullptr;
  std::string not_judged;  // why it cannot be judged here; "" where it can
  std::string other_code;  // the target that is here is not the one of the record: how; ""
};

// Opens an engine, completes the plan and checks it against its target. A usage error where the
// target is not here, or the plan is none of its.
Result<Rerun> open_rerun(const EngineOptions& options, const RecordedPlan& recorded, Plan& plan);

}  // namespace redzone::engine
