// Claims: compute-sanitizer's tool has nothing to say of the plan. One oracle a tool, by its name:
// memcheck, racecheck, initcheck, synccheck.
// Can be wrong: the tools see no tensor copies in bulk (TMA); racecheck knows shared memory only,
// and its warnings are no failures. What a trial without the tool would show is not this oracle's:
// an end that is not explained by a record is inconclusive. A trial whose tool did not run, broke
// or fell behind is a harness error, never a pass. Cost: 1 trial under the tool: ten to thousands
// of times a native one.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class SanitizerOracle final : public Oracle {
 public:
  explicit SanitizerOracle(SanitizerTool tool);

  std::string_view name() const override { return name_; }
  // In the plan's own mode, but: gated launches only under memcheck, since the other tools may wait
  // for a launch that is held; under initcheck the plain allocator, whose memory it knows.
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  // What initcheck sees, a read of unwritten memory, is there with every poison.
  std::vector<std::string_view> varies() const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  SanitizerTool tool_;
  std::string_view name_;
};

// The error that names the bug best, or null; warnings do not count.
const SanitizerRecord* worst(const SanitizerReport& report);

// The screen, and the tool's verdict where the screen passes.
class SanitizedScreen final : public Oracle {
 public:
  SanitizedScreen(const Oracle& screen, const Oracle& sanitizer)
      : screen_(screen), sanitizer_(sanitizer) {}  // both outlive it

  std::string_view name() const override { return screen_.name(); }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  const Oracle& screen_;
  const Oracle& sanitizer_;
};

}  // namespace redzone::oracles
