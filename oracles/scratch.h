// Claims: each call asks for as much scratch as the metadata of its kernel demands, aligned as it
// demands: bytes_per_cta * grid.x * grid.y * grid.z * num_ctas (see redzone::ScratchNeed). Works
// from what the launcher asked for, so no kernel has to run, and a fault that a cache of blocks
// hides is seen all the same. It names the factor that is missing: the one that explains all of the
// requests that are too small. Where several do (a grid of 1 before a larger one), the plainest is
// named: num_ctas before grid before an earlier call.
// Can be wrong: when the metadata is. Says nothing of targets that do not tell their need.
// Cost: 1 trial, in the plan's own mode.
#pragma once

#include <cstdint>
#include <optional>

#include "core/oracle.h"

namespace redzone::oracles {

class ScratchOracle final : public Oracle {
 public:
  std::string_view name() const override { return "scratch"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

// Bytes that the request should have asked for; at most 2^64 - 1, which no allocator has. 0 for a
// grid that no device takes: that is another oracle's.
std::uint64_t needed_bytes(const ScratchObservation& request);

// The first request of `observation`, whose calls ran as written, that is too small.
std::optional<Verdict> judge_scratch(std::string_view oracle, const Plan& plan,
                                     const Observation& observation);

}  // namespace redzone::oracles
