// The stations of triage. A suspect passes each once, in this order:
//
//   confirm        shows the failure in fresh workers and names it, in a few runs
//   refine         reduces the plan, makes the name more specific, measures the failure rate;
//                  this is most of the work
//   explain        collects tool reports, and which settings the failure depends on
//   measure_load   measures whether the failure needs a busy machine
//
// Other work may run between two stations. Each station stores its result, also if it is stopped
// early, and leaves a finding that is fit to be reported.
#pragma once

#include <chrono>

#include "campaign/case.h"
#include "campaign/finding_sink.h"
#include "campaign/triage_options.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// The environment of every station. All members but the options are borrowed.
struct Workshop {
  exec::Runner& runner;
  const oracles::Catalog& catalog;
  const SimplifyFor& simplify;
  FindingSink& sink;
  const TargetSpec& spec;
  TriageOptions options;

  Evaluator evaluator(std::chrono::milliseconds deadline) const {
    Evaluator made(runner, spec, deadline, options.cut_off);
    made.set_seeds_decide_contention(options.seeds_decide_contention);
    return made;
  }
};

// `c.finding` is the recorded suspect.
Result<void> confirm(const Workshop& shop, Case& c, const Suspect& suspect);

enum class Naming { may_sharpen, as_it_is };

// Requires a case whose failure was shown. `reduce_time`: for all reductions. With
// Naming::may_sharpen the signature may change to a more specific kind that the reduced plan shows.
Result<void> refine(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time,
                    Naming naming = Naming::may_sharpen);

Result<void> explain(const Workshop& shop, Case& c);

// Runs trials alone on the device, as far as the runner controls the device.
Result<void> measure_load(const Workshop& shop, Case& c);

}  // namespace redzone::campaign
