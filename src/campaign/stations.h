// The line that a suspect walks, each station once and in this order:
//
//   confirm        shows the failure in fresh workers and names it, in a few runs
//   refine         reduces the plan, sharpens the name, measures how often it fails: most of the
//   work explain        what the tools say of it, and which settings matter to it measure_load
//   whether it takes a busy machine
//
// Other work may come between two stations. Each stores what it has found out, also when it is
// stopped, and leaves a finding that is worth showing.
#pragma once

#include <chrono>

#include "campaign/case.h"
#include "campaign/finding_sink.h"
#include "campaign/triage_options.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// What every station works with. Borrowed, all but the options.
struct Workshop {
  exec::Runner& runner;
  const oracles::Catalog& catalog;
  const SimplifyFor& simplify;
  FindingSink& sink;
  const TargetSpec& spec;
  TriageOptions options;

  Evaluator evaluator(std::chrono::milliseconds deadline) const {
    return {runner, spec, deadline, options.cut_off};
  }
};

// `c.finding` is the recorded suspect.
Result<void> confirm(const Workshop& shop, Case& c, const Suspect& suspect);

enum class Naming { may_sharpen, as_it_is };

// Of a case that is shown. `reduce_time`: of all reductions. With Naming::may_sharpen the reduced
// plan may show that the failure is one of a more specific kind.
Result<void> refine(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time,
                    Naming naming = Naming::may_sharpen);

Result<void> explain(const Workshop& shop, Case& c);

// Alone on the device, as far as that is in the hands of the runner.
Result<void> measure_load(const Workshop& shop, Case& c);

}  // namespace redzone::campaign
