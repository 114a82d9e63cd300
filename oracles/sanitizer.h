// Claims: a tool of compute-sanitizer, or a check of the device, reports no error for the plan.
// There is one oracle per tool or check, with its name: memcheck, racecheck, initcheck, synccheck;
// races, init, sync, undefined. Can be wrong: the tools do not check bulk tensor copies (TMA);
// racecheck covers shared memory only, and its warnings do not count as failures; races
// (device/host/race_check.h) recognizes only the order of barriers, warp operations, and fences
// with atomics. An abnormal end that no record of the tool explains is inconclusive: other oracles
// judge it without the tool. A trial whose tool did not run, failed or could not keep up is a
// harness error, never a pass. Cost: 1 trial under the tool, which takes ten to thousands of times
// as long as a native one.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class SanitizerOracle final : public Oracle {
 public:
  explicit SanitizerOracle(SanitizerTool tool);

  std::string_view name() const override { return name_; }
  // Runs in the plan's own mode, with two exceptions: only memcheck keeps gated (blocked) launches,
  // since the other tools may wait for a blocked launch; initcheck gets the plain allocator, whose
  // memory it tracks.
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  // Initcheck reports a read of unwritten memory under every poison.
  std::vector<std::string_view> varies() const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  SanitizerTool tool_;
  std::string_view name_;
};

// The error that names the bug best, or null if there is none; warnings do not count.
const SanitizerRecord* worst(const SanitizerReport& report);

// The screen, followed by the tool's verdict if the screen passes.
class SanitizedScreen final : public Oracle {
 public:
  SanitizedScreen(const Oracle& screen, const Oracle& sanitizer)
      : screen_(screen), sanitizer_(sanitizer) {}  // both outlive this object

  std::string_view name() const override { return screen_.name(); }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  const Oracle& screen_;
  const Oracle& sanitizer_;
};

}  // namespace redzone::oracles
