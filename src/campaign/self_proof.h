// The self-proof: before the screen starts, planted bugs (planted.h) run in the same workers and
// oracles, under the launch modes, placements and allocators of the plans. A harness that misses
// them would report a broken target as clean.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "exec/executor.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

struct SelfProof {
  std::size_t caught = 0;  // number of planted bugs
  std::chrono::milliseconds took{0};
};

struct SelfProofOptions {
  std::chrono::milliseconds deadline{10000};  // of each trial
  std::function<bool()> stop = {};            // Ctrl-C; ends it with an error
  bool seeded_schedules = false;  // a seed determines the schedule of blocks and threads (host
                                  // device)
  // Allocators that plans may use; the guard arena is always included.
  std::vector<Allocator> allocators = {Allocator::guard, Allocator::plain, Allocator::pool,
                                       Allocator::caching};
};

// Returns the spec of a target on the executor's device; null if the target is unknown.
using FindSpec = std::function<const TargetSpec*(std::string_view name)>;

// Has the oracles judge the targets of the selftest plugin: each of its bugs must be caught with
// its own kind, and its clean target must pass. Bugs that kill their worker run in fresh workers;
// at the same time the others run in a warm worker, if there is one. No job is left in flight
// unless `stop` ended the proof.
//
// On failure, a harness error of one line names the first proof that failed, or a missing target.
Result<SelfProof> prove(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, const SelfProofOptions& options);

}  // namespace redzone::campaign
