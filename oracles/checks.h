// Judgements that several oracles share. Each examines observations and returns a verdict, or
// nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/output_count.h"
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone::oracles {

// A verdict that ends the judgement because the trial shows nothing about the target: worker_error
// and spec_error (harness error), unsupported or out of memory (not applicable).
std::optional<Verdict> cannot_judge(std::string_view oracle, const Observation& observation);

// Fault, hang or early exit.
std::optional<Verdict> judge_fault(std::string_view oracle, const Plan& plan,
                                   const Observation& observation);

// True if the observed bytes are those that the calls left: the trial completed, or it was refused
// (unsupported, out of memory) after some of its work.
bool shows_writes(const Observation& observation);

// Dirty canaries, then writes to freed memory, then changed inputs. The first in call order.
// Requires shows_writes().
std::optional<Verdict> judge_canaries(std::string_view oracle, const Plan& plan,
                                      const Observation& observation);

// Whether nothing was run that could have failed: in none of the trials did a call enqueue
// anything, no output was compared, and none of role `out` has an element, which something unseen
// may have written. Such a plan is not judged, whatever an oracle says; a campaign counts it so.
bool launched_nothing(std::span<const Observation> observations);

// Outputs beyond the tolerance of the reference.
std::optional<Verdict> judge_reference(std::string_view oracle, const Plan& plan,
                                       const Observation& observation);

// Number of calls that were compared with the target's reference in `comparing`, the trial that
// requests the comparison (null: that trial was not run). Calls whose outputs have no elements do
// not count. Zeros for a target without a reference.
ReferenceCount compared_calls(const Plan& plan, const TargetSpec& spec,
                              const Observation* comparing);

// Why the first call without a comparison in this trial was not compared, as one clause. Requires
// such a call.
std::string why_not_compared(const Plan& plan, const Observation& observation);
// The same for the trials of a screen; the last trial that requests the reference counts.
std::string why_not_compared(const Plan& plan, std::span<const TrialSpec> trials,
                             std::span<const Observation> observations);

// What judged the outputs of the completed calls in these trials of one plan, besides the
// reference. Trials that did not complete or observe no buffers are ignored.
OutputCount judged_outputs(const TargetSpec& spec, std::span<const Observation> observations);
// Why nothing judged the outputs of some call, as one clause. Requires such a call.
std::string why_outputs_not_judged(const TargetSpec& spec,
                                   std::span<const Observation> observations);

// A failure that one trial shows by itself, whichever oracle asked for the trial.
struct Evidence {
  std::size_t trial = 0;  // index of the trial
  Verdict verdict;        // by the oracle that needs only this trial
};

// Checks faults and hangs first, then canaries, scratch requests, and outputs against the
// reference. A late end under a sanitizer does not count as a hang, because the tool is slow.
// `trials` and `observations` belong together; observations after a lost trial may be missing.
std::optional<Evidence> direct_evidence(const Plan& plan, std::span<const TrialSpec> trials,
                                        std::span<const Observation> observations);

// Two trials of a plan agree when their outputs are the same: bit for bit if the target is declared
// deterministic, else if both are within the tolerance of its reference or neither is.
//
// False for a nondeterministic target without a reference.
bool can_compare(const TargetSpec& spec);
// Whether the trials of a comparing oracle must request the reference.
bool compares_by_reference(const TargetSpec& spec);

// The verdict when trials cannot be compared with each other: can_compare() is false, or one of
// them cannot be judged, did not complete, or lacks the comparison with the reference that it
// needs.
std::optional<Verdict> cannot_compare(std::string_view oracle, const TargetSpec& spec,
                                      std::span<const Observation> observations);

// Where two trials disagree, or two digests of the same output.
struct Difference {
  std::int32_t call = -1;
  std::string tensor;
};

// The first call in which two completed trials of the same plan do not agree.
std::optional<Difference> first_difference(const TargetSpec& spec, const Observation& a,
                                           const Observation& b);

// The first call of one trial whose outputs differ from those of an earlier, identical call;
// nothing for a target that is declared nondeterministic.
std::optional<Difference> first_inconsistency(const TargetSpec& spec, const Plan& plan,
                                              const Observation& observation);

// "call 2 (C = 64, T = 128)" for people.
std::string describe_call(const Plan& plan, std::int32_t call);

// The failure of `kind` for this difference: "'y' of call 2 depends on <claim>".
Verdict depends(std::string_view oracle, FailKind kind, const Plan& plan,
                const Difference& difference, std::string_view claim);

// The first and the last trial have the same settings; the trials between them differ in one axis.
// Fails when the first and the last agree and one between them differs; inconclusive when the first
// and the last differ.
Verdict judge_between(std::string_view oracle, FailKind kind, const Plan& plan,
                      const TargetSpec& spec, std::span<const Observation> observations,
                      std::string_view claim);

// Equal trials: fails as nondeterministic when one of them differs from the first.
Verdict judge_equal(std::string_view oracle, const Plan& plan, const TargetSpec& spec,
                    std::span<const Observation> observations);

Verdict fail(std::string_view oracle, Signature signature, std::int32_t call, std::string reason);

}  // namespace redzone::oracles
