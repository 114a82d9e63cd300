// Claims: a call writes only to its outputs and its scratch, and to nothing that it has freed.
// After the plan canaries around every buffer, between padded rows and in freed memory, and the
// contents of const inputs, are checked. Can be wrong: a write beyond the canary window that hits
// nothing checked is missed; one that hits unmapped memory is reported by the fault oracle. Only
// the allocator `guard` puts canaries around buffers: under another one a run without a failure
// does not show that a recorded write is gone (campaign/run_judgement.h). Cost: 1 trial, in the
// plan's own mode.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class RedzoneOracle final : public Oracle {
 public:
  std::string_view name() const override { return "redzone"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
