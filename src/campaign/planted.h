// What the self-proof plants: bugs of the selftest plugin, each with the mode to run it in and the
// oracle that must catch it there; and the clean target, which must pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::campaign {

// How the calls of a planted plan come.
enum class Steps : std::uint8_t { plain, captured };

struct Planted {
  std::string what;    // for people
  std::string target;  // of the selftest plugin
  std::string oracle;
  std::optional<FailKind> kind;  // that it must fail with; nothing: it must pass
  Mode mode;
  std::vector<std::int64_t> sizes;  // N of each call
  Steps steps = Steps::plain;       // captured: all calls in one graph that runs once
};

// Takes its worker down.
bool faults(const Planted& planted);

Plan plan_of(const Planted& planted);

// Every launch mode, both placements, all oracles that compare or look, over guarded memory; what
// each further allocator of `allocators` promises; and, where a seed says in which order blocks run
// (the host device), a race between them.
std::vector<Planted> planted_bugs(const std::vector<Allocator>& allocators, bool seeded_schedules);

// The same where nothing runs.
std::vector<Planted> planted_without_device();

}  // namespace redzone::campaign
