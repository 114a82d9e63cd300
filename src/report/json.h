// What the commands print with --json: one document each, indented by two spaces, keys in the order
// given here, with a newline at the end. Names follow the values in report/values.h and
// store/finding.h; fields may be added, but are never renamed or removed. Text that is not UTF-8 is
// repaired. Numbers beyond 2^53 (seeds) are printed in full.
//
//   targets   {"targets": [TARGET]}
//   TARGET    {"name", "category": "kernel"|"puzzle"|"twin", "doc", "deterministic",
//              "alignment_changes_bits", "remembers_addresses", "has_reference", "devices":
//              [{"device", "runs_here", "why_not", "plugin", "code_hash"}], "dims": [{"name",
//              "min", "max", "multiple_of", "values", "tile", "doc"}], "constraints": [text],
//              "tensors": [{"name", "role", "dtype": text or null when a knob decides, as "role",
//              "layouts": [text], "align_bytes", "counted_by": name of a tensor or null}],
//              "knobs": [{"name", "values", "drawn", "doc"}]}
//   findings  {"findings": [FINDING]}
//   show      FINDING
//   FINDING   {"id", "state", "ledger": {"standing": "new"|"known"|"fixed"|"regressed"|
//              "quarantined", "link", "note", "since"}, "signature": SIGNATURE, "oracle", "reason",
//              "reliability": RELIABLE, "calls", "minimal", "reduction": {"end": "1-minimal"|
//              "budget of plans"|"budget of time"|"interrupted"|"taken back"|
//              "not all judged"|"none", "text", "plans", "trials", "seconds"}, "needs_history",
//              "needs": [text], "program": PROGRAM or null, "plan", "plan_hash", "original_plan":
//              null for a finding of a program, whose "reliability" is COUNTS, "attribution":
//              [{"axis", "value", "failed": COUNTS}], "culprits": [{"source", "call", "kernel",
//              "access", "buffer", "side", "location", "detail"}], "fault_detail", "environment":
//              {"device", "driver", "compute_capability", "toolkit", "nvrtc", "host", "code_hash",
//              "redzone_version", "origin"}, "campaign": id or null, "plans_to_first",
//              "seconds_to_first", "occurrences", "first_seen", "last_seen", "replay"}; of `show`
//              also "logs": [{"name", "added", "text"}] and, if they are asked for, "tensors":
//              [{"call", "tensor", "role", "dtype", "shape", "strides", "offset_elems",
//              "storage_bytes"}]
//   PROGRAM   {"argv", "folder", "environment": [{"name", "value"}], "settings", "block",
//              "block_bytes", "site", "where", "allocated", "freed": [frames], "unset": [names],
//              "exit_code", "files": [{"path", "bytes", "hash"}]}
//   SIGNATURE {"text", "hash", "kind", "target", "where", "buffer", "side", "access"}
//   RELIABLE  {"k", "n", "low", "high"}: k failures in n runs, a number fixed in advance, and the
//             exact 95% interval
//   COUNTS    {"k", "n"}: k failures in n runs
//   run       {"campaign": {"id", "seed", "device", "command", "started", "ended", "seconds",
//              "plans", "plans_per_s", "calls", "calls_per_s", "trials", "workers_lost"},
//              "verdicts": {"pass", "fail", "inconclusive", "not_applicable", "harness_error"},
//              "suspects", "new_findings", "known_findings", "judged_by": [names of oracles],
//              "not_judged_by", "unjudged": [{"target", "verdict", "reason", "plans",
//              "spec_error": true for a mistake of the target's author}],
//              "reference": {"compared_calls", "sampled_calls", "calls", "targets": [{"target",
//              "compared_calls", "sampled_calls", "calls", "not_compared"}]}, for targets with a
//              reference, "targets": [{"target", "outputs": OUTPUTS, "out_of_reach": dims limited
//              by the budget of the device, "between_canaries": plans without guard pages,
//              "refused_calls": left out of their plans, "why_refused": of the first,
//              "hung_calls": left out, because such calls have hung,
//              "own_memory": OWN_MEMORY, "warnings": [{"tool", "what", "plans"}],
//              "plans_with_other_warnings"}],
//              "slow_functions": [functions of specs that took more than half of the time],
//              "self_proof": {"planted_bugs_caught", "ms"}, "findings": [FINDING]}
//   OWN_MEMORY {"blocks", "bytes", "left_out_blocks", "left_out_bytes", "other_blocks",
//              "other_bytes", "unpoisoned_blocks", "unguarded_trials"}: see core/own_memory.h
//   OUTPUTS   {"by_digests", "by_nothing", "why"}: calls not compared with the reference
//   replay    {"subject", "expected": SIGNATURE or null, "reliability": RELIABLE, "other_finding":
//              id or null, "runs": [{"end", "outcome", "oracle", "reason", "signature": SIGNATURE
//              or null, "call", "result", "as_recorded", "reference": {"compared_calls",
//              "sampled_calls", "calls"}, "wall_us", "sanitizer": SANITIZER or null}]}
//   SANITIZER {"tool", "records": [{"kind", "warning", "space", "access", "size_bytes", "kernel",
//              "call", "buffer", "side", "distance_bytes", "address", "thread", "block",
//              "location", "other", "text", "count"}], "dropped", "problem"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "core/plan_tensors.h"
#include "report/values.h"

namespace redzone::report {

std::string targets_json(std::span<const TargetInfo> targets);
std::string findings_json(std::span<const Finding> findings, std::string_view db = "");
// `artifacts`: those of the finding; the logs among them become "logs". `tensors`: those of the
// finding's plan; null omits "tensors".
std::string finding_json(const Finding& finding, std::string_view db = "",
                         std::span<const Artifact> artifacts = {},
                         const std::vector<PlanTensor>* tensors = nullptr);
std::string campaign_json(const CampaignRecord& campaign, std::span<const Finding> found,
                          const SelfProof& proof, std::string_view db = "",
                          const Scope& scope = {});
std::string replay_json(const ReplayResult& result);

}  // namespace redzone::report
