// Judgements that several oracles share. Each looks at observations and says what it sees, or
// nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/output_count.h"
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone::oracles {

// A verdict that ends the judgement because the trial says nothing of the target: worker_error
// and spec_error (harness error), unsupported or out of memory (not applicable).
std::optional<Verdict> cannot_judge(std::string_view oracle, const Observation& observation);

// Fault, hang or early exit.
std::optional<Verdict> judge_fault(std::string_view oracle, const Plan& plan,
                                   const Observation& observation);

// Dirty canaries, then writes to freed memory, then changed inputs. The first in call order.
std::optional<Verdict> judge_canaries(std::string_view oracle, const Plan& plan,
                                      const Observation& observation);

// Outputs beyond the tolerance of the reference.
std::optional<Verdict> judge_reference(std::string_view oracle, const Plan& plan,
                                       const Observation& observation);

// How many calls of the plan were compared with the target's reference in the trial that asks for
// it; null: that trial was not run. Calls without an element of an output do not count: there is
// nothing to compare. Zeros of a target without a reference.
ReferenceCount compared_calls(const Plan& plan, const TargetSpec& spec,
                              const Observation* comparing);

// Why the first call that was not compared in this trial was not. One clause; needs such a call.
std::string why_not_compared(const Plan& plan, const Observation& observation);
// The same of the trials of a screen, of which the last that asks for the reference counts.
std::string why_not_compared(const Plan& plan, std::span<const TrialSpec> trials,
                             std::span<const Observation> observations);

// What judged the outputs of the calls that ran to their end in these trials of one plan, beside
// the reference. Trials that did not complete, or watch no buffers, say nothing.
OutputCount judged_outputs(const TargetSpec& spec, std::span<const Observation> observations);
// Why nothing judged those of a call, where that is so: one clause.
std::string why_outputs_not_judged(const TargetSpec& spec,
                                   std::span<const Observation> observations);

// A failure that one trial shows by itself, whichever oracle asked for the trial.
struct Evidence {
  std::size_t trial = 0;  // index of the trial
  Verdict verdict;        // of the oracle that shows it with a single trial of the plan as run
};

// Faults and hangs first, then canaries, requests for scratch, and outputs that were compared with
// the reference. A trial under a sanitizer that ends late is no hang: the tool is slow.
// `trials` and `observations` belong together; observations behind a lost trial may be missing.
std::optional<Evidence> direct_evidence(const Plan& plan, std::span<const TrialSpec> trials,
                                        std::span<const Observation> observations);

// Two trials of a plan agree where they have the same outputs: to the bit for a target that is
// declared deterministic, and else as far as its reference tells: both are within its tolerance, or
// neither is.
//
// False for a nondeterministic target without a reference.
bool can_compare(const TargetSpec& spec);
// What the trials of an oracle that compares must ask for.
bool compares_by_reference(const TargetSpec& spec);

// Why trials cannot be compared with each other: nothing tells them apart, or one of them says
// nothing, did not complete, or was not compared with the reference that is needed for it.
std::optional<Verdict> cannot_compare(std::string_view oracle, const TargetSpec& spec,
                                      std::span<const Observation> observations);

// Where two trials do not agree, or two digests of what must be the same output.
struct Difference {
  std::int32_t call = -1;
  std::string tensor;
};

// The first call in which two completed trials of the same plan do not agree.
std::optional<Difference> first_difference(const TargetSpec& spec, const Observation& a,
                                           const Observation& b);

// The first call of one trial whose outputs differ from those of an earlier, identical call; none
// where the target is declared nondeterministic.
std::optional<Difference> first_inconsistency(const TargetSpec& spec, const Plan& plan,
                                              const Observation& observation);

// "call 2 (C = 64, T = 128)" for people.
std::string describe_call(const Plan& plan, std::int32_t call);

// The failure of `kind` that this difference is: "'y' of call 2 depends on <claim>".
Verdict depends(std::string_view oracle, FailKind kind, const Plan& plan,
                const Difference& difference, std::string_view claim);

// The first and the last trial are alike; those between them differ from these in one axis. Fails
// when the two agree and one between them does not; inconclusive when the two differ.
Verdict judge_between(std::string_view oracle, FailKind kind, const Plan& plan,
                      const TargetSpec& spec, std::span<const Observation> observations,
                      std::string_view claim);

// Equal trials: fails as nondeterministic when one of them differs from the first.
Verdict judge_equal(std::string_view oracle, const Plan& plan, const TargetSpec& spec,
                    std::span<const Observation> observations);

Verdict fail(std::string_view oracle, Signature signature, std::int32_t call, std::string reason);

}  // namespace redzone::oracles
