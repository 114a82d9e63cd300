// The self-proof: before anything is screened, planted bugs (planted.h) go through the same workers
// and oracles under the launch modes, placements and allocators that the plans will have. A harness
// that does not catch them would report a broken target as clean.
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
  std::size_t caught = 0;  // planted bugs
  std::chrono::milliseconds took{0};
};

struct SelfProofOptions {
  std::chrono::milliseconds deadline{10000};  // of each trial
  std::function<bool()> stop = {};            // Ctrl-C; ends it with an error
  bool seeded_schedules = false;              // of blocks and threads: the host device
  // That plans may name; the guard arena is always among them.
  std::vector<Allocator> allocators = {Allocator::guard, Allocator::plain, Allocator::pool,
                                       Allocator::caching};
};

// The spec of a target on the executor's device; null for an unknown one.
using FindSpec = std::function<const TargetSpec*(std::string_view name)>;

// Asks the oracles about the targets of the selftest plugin: each of its bugs must be caught as
// what it is, and its clean target must pass. Bugs that take their worker down run in fresh
// workers; the others in a warm one, where there is one, at the same time. Nothing is left in
// flight but when it is stopped.
//
// A harness error, one line, names the first proof that failed, or a target that is missing.
Result<SelfProof> prove(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, const SelfProofOptions& options);

}  // namespace redzone::campaign
