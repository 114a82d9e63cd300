// Generation and simplification of a campaign's plans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "campaign/campaign.h"
#include "core/device_traits.h"
#include "exec/trial_host.h"

namespace redzone::engine {

// Plans for one target on the device that `worker` described. Each target derives its own seed from
// the campaign's `seed`, so that its plans do not depend on the other targets. With `allocator` all
// plans use that one. `at_once`: calls of the target compute at once (TargetEntry::immediate), so
// plans have one stream. Borrows the spec.
std::unique_ptr<campaign::PlanSource> generated_plans(const TargetSpec& spec,
                                                      const DeviceTraits& device,
                                                      const exec::Hello& worker, std::uint64_t seed,
                                                      std::optional<Allocator> allocator = {},
                                                      bool at_once = false);

// Simpler forms of a plan of the target; borrows the spec.
campaign::SimplifyFor simplify_for();

}  // namespace redzone::engine
