// Claims: each call requests the scratch that the metadata of its kernel requires, with the
// required alignment: bytes_per_cta * grid.x * grid.y * grid.z * num_ctas bytes (see
// redzone::ScratchNeed). Uses the launcher's requests, so no kernel has to run, and a caching
// allocator cannot hide the bug. Reports the missing factor: the one that explains all requests
// that are too small. If several factors do (a grid of 1 before a larger one), reports the
// plainest: num_ctas before grid before an earlier call. Can be wrong when the metadata is. Does
// not judge targets that declare no scratch need. Cost: 1 trial, in the plan's own mode.
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

// Bytes that the launcher should have requested, saturated at 2^64 - 1. Returns 0 for a grid or
// num_ctas below 1, which another oracle reports.
std::uint64_t needed_bytes(const ScratchObservation& request);

// Fails for the first request that is too small. The calls of `observation` must have run in the
// written order.
std::optional<Verdict> judge_scratch(std::string_view oracle, const Plan& plan,
                                     const Observation& observation);

}  // namespace redzone::oracles
