// The bugs that the self-proof plants, all in the selftest plugin, each with the mode to run it in
// and the oracle that must catch it. Includes the clean target, which must pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::campaign {

// How a planted plan runs its calls.
enum class Steps : std::uint8_t { plain, captured };

struct Planted {
  std::string what;    // for people
  std::string target;  // of the selftest plugin
  std::string oracle;
  std::optional<FailKind> kind;  // expected failure; empty: must pass
  Mode mode;
  std::vector<std::int64_t> sizes;  // N of each call
  Steps steps = Steps::plain;       // captured: all calls in one graph that runs once
};

// True if the bug kills its worker.
bool faults(const Planted& planted);

Plan plan_of(const Planted& planted);

// Returns bugs for every launch mode, both placements, and all oracles that compare or inspect, in
// guarded memory; bugs against the guarantees of each further allocator of `allocators`; and, if a
// seed determines the order of blocks (host device), a race between blocks.
std::vector<Planted> planted_bugs(const std::vector<Allocator>& allocators, bool seeded_schedules);

// Returns the bugs that show in a dry run.
std::vector<Planted> planted_without_device();

}  // namespace redzone::campaign
