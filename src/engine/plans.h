// Generation and simplification of a campaign's plans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "campaign/campaign.h"
#include "core/device_traits.h"
#include "exec/trial_host.h"
#include "target/registry.h"

namespace redzone::engine {

// Generates plans for one target on the device that `worker` described. Each target derives its own
// seed from the campaign's `seed`, so its plans do not depend on other targets. With `allocator`
// all plans use that allocator. `entry`: further properties of the target; null: none are known.
// Borrows the spec.
std::unique_ptr<campaign::PlanSource> generated_plans(const TargetSpec& spec,
                                                      const DeviceTraits& device,
                                                      const exec::Hello& worker, std::uint64_t seed,
                                                      std::optional<Allocator> allocator = {},
                                                      const TargetEntry* entry = nullptr);

// Returns the simplifier of plans of a target; it borrows the spec.
campaign::SimplifyFor simplify_for();

}  // namespace redzone::engine
