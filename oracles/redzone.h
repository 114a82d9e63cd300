// Claims: a call writes only to its outputs and its scratch, and not to memory that it has freed.
// After the plan, checks the canaries around every buffer, between padded rows and in freed memory,
// and the contents of const inputs. Can be wrong: a write beyond the canary window that hits no
// checked memory is missed; a write that hits unmapped memory is reported by the fault oracle. Only
// the allocator `guard` puts canaries around buffers: under another allocator, a run without a
// failure does not show that a recorded write is gone (campaign/run_judgement.h). Cost: 1 trial, in
// the plan's own mode.
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
