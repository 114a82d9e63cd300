// Generation and simplification of a campaign's plans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "campaign/campaign.h"
#include "core/device_traits.h"
#include "exec/trial_host.h"

namespace redzone::engine {

// For one target on the device that `worker` told of. `seed` is the campaign's: each target draws
// its own from it, so that a target's plans do not depend on which others run beside it. With
// `allocator` all of them use that one. Borrows the spec.
std::unique_ptr<campaign::PlanSource> generated_plans(const TargetSpec& spec,
                                                      const DeviceTraits& device,
                                                      const exec::Hello& worker, std::uint64_t seed,
                                                      std::optional<Allocator> allocator = {});

// Simpler forms of a plan of the target; borrows the spec.
campaign::SimplifyFor simplify_for();

}  // namespace redzone::engine
