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

// Returns a verdict if the trial shows nothing about the target: a harness error for worker_error
// and spec_error, not applicable for unsupported and out of memory.
std::optional<Verdict> cannot_judge(std::string_view oracle, const Observation& observation);

// Judges a fault, a hang or an early exit.
std::optional<Verdict> judge_fault(std::string_view oracle, const Plan& plan,
                                   const Observation& observation);

// True if the observed bytes are those that the calls left in memory: the trial completed, or a
// call was refused (unsupported, out of memory) after other calls had run.
bool shows_writes(const Observation& observation);

// Judges dirty canaries, then writes to freed memory, then changed inputs; reports the first in
// call order. Requires shows_writes().
std::optional<Verdict> judge_canaries(std::string_view oracle, const Plan& plan,
                                      const Observation& observation);

// True if nothing ran that could have failed: no trial enqueued any work, compared any output, or
// had an element in a tensor of role `out`, which unobserved work may have written. Such a plan
// counts as not judged, whatever an oracle reports.
bool launched_nothing(std::span<const Observation> observations);

// Judges outputs by the tolerance of the reference.
std::optional<Verdict> judge_reference(std::string_view oracle, const Plan& plan,
                                       const Observation& observation);

// Number of calls that were compared with the target's reference in `comparing`, the trial that
// requests the comparison (null: that trial was not run). Calls whose outputs have no elements do
// not count. Zeros for a target without a reference.
ReferenceCount compared_calls(const Plan& plan, const TargetSpec& spec,
                              const Observation* comparing);

// Returns, as one clause, why the first call without a comparison in this trial was not compared.
// Requires such a call.
std::string why_not_compared(const Plan& plan, const Observation& observation);
// Overload for the trials of a screen; uses the last trial that requests the reference.
std::string why_not_compared(const Plan& plan, std::span<const TrialSpec> trials,
                             std::span<const Observation> observations);

// Counts the completed calls in these trials of one plan whose outputs were judged by digests or by
// nothing, rather than by the reference. Returns zeros if a trial did not complete. Calls without
// observed buffers are ignored.
OutputCount judged_outputs(const TargetSpec& spec, std::span<const Observation> observations);
// Returns, as one clause, why nothing judged the outputs of some call. Requires such a call.
std::string why_outputs_not_judged(const TargetSpec& spec,
                                   std::span<const Observation> observations);

// A failure that one trial shows by itself, whichever oracle requested the trial.
struct Evidence {
  std::size_t trial = 0;  // index of the trial
  Verdict verdict;        // verdict of the oracle that needs only this trial
};

// Checks faults and hangs first, then canaries, scratch requests, and outputs against the
// reference. An expired deadline under a sanitizer does not count as a hang, because the tool is
// slow. observations[i] belongs to trials[i]; observations after a lost trial may be missing.
std::optional<Evidence> direct_evidence(const Plan& plan, std::span<const TrialSpec> trials,
                                        std::span<const Observation> observations);

// True if two trials of a plan can be compared. They agree if their outputs are the same: bit for
// bit if the target is declared deterministic, otherwise if both or neither are within the
// tolerance of its reference.
//
// False for a nondeterministic target without a reference.
bool can_compare(const TargetSpec& spec);
// True if the trials of a comparing oracle must request the reference.
bool compares_by_reference(const TargetSpec& spec);

// Returns a verdict if trials cannot be compared with each other: can_compare() is false, or a
// trial cannot be judged, did not complete, or lacks the required comparison with the reference.
std::optional<Verdict> cannot_compare(std::string_view oracle, const TargetSpec& spec,
                                      std::span<const Observation> observations);

// The place where two trials, or two digests of the same output, disagree.
struct Difference {
  std::int32_t call = -1;
  std::string tensor;
};

// The first call in which two completed trials of the same plan do not agree.
std::optional<Difference> first_difference(const TargetSpec& spec, const Observation& a,
                                           const Observation& b);

// The first call of one trial whose outputs differ from those of an earlier, identical call; empty
// for a target that is declared nondeterministic.
std::optional<Difference> first_inconsistency(const TargetSpec& spec, const Plan& plan,
                                              const Observation& observation);

// "call 2 (C = 64, T = 128)" for people.
std::string describe_call(const Plan& plan, std::int32_t call);

// Builds the failure of `kind` for this difference: "'y' of call 2 depends on <claim>".
Verdict depends(std::string_view oracle, FailKind kind, const Plan& plan,
                const Difference& difference, std::string_view claim);

// The first and the last trial have the same settings; the trials between them differ in one axis.
// Fails when the first and the last agree and one between them differs; inconclusive when the first
// and the last differ.
Verdict judge_between(std::string_view oracle, FailKind kind, const Plan& plan,
                      const TargetSpec& spec, std::span<const Observation> observations,
                      std::string_view claim);

// Judges equal trials: fails as nondeterministic when one of them differs from the first.
Verdict judge_equal(std::string_view oracle, const Plan& plan, const TargetSpec& spec,
                    std::span<const Observation> observations);

Verdict fail(std::string_view oracle, Signature signature, std::int32_t call, std::string reason);

}  // namespace redzone::oracles
