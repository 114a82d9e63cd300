#include "campaign/tool_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "campaign/evaluator.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

struct ToolProof {
  SanitizerTool tool;
  const char* what;    // for people
  const char* target;  // of the selftest plugin
  FailKind kind;       // expected failure
};

constexpr const char* kClean = "selftest.clean";

constexpr std::array kProofs{
    ToolProof{SanitizerTool::memcheck, "a planted write", "selftest.write_past_end",
              FailKind::illegal_access},
    ToolProof{SanitizerTool::initcheck, "a planted read of unwritten memory",
              "selftest.unwritten_scratch", FailKind::uninitialized},
    ToolProof{SanitizerTool::racecheck, "a planted race", "selftest.shared_race", FailKind::race},
    ToolProof{SanitizerTool::synccheck, "a planted barrier that half of a warp reaches",
              "selftest.divergent_barrier", FailKind::barrier},
    ToolProof{SanitizerTool::races, "a planted race", "selftest.shared_race", FailKind::race},
    ToolProof{SanitizerTool::init, "a planted read of unwritten shared memory",
              "selftest.unwritten_shared", FailKind::uninitialized},
    ToolProof{SanitizerTool::sync, "a planted mask without the target that uses it",
              "selftest.unnamed_lane", FailKind::barrier},
    ToolProof{SanitizerTool::undefined, "a planted overflow", "selftest.overflow",
              FailKind::undefined},
};

const ToolProof& proof_for(SanitizerTool tool) {
  const auto it = std::find_if(kProofs.begin(), kProofs.end(),
                               [&](const ToolProof& proof) { return proof.tool == tool; });
  RZ_CHECK(it != kProofs.end());
  return *it;
}

Result<Verdict> ask_tool(exec::Executor& executor, const Oracle& oracle, const FindSpec& find_spec,
                         const char* target, std::chrono::milliseconds deadline) {
  const TargetSpec* spec = find_spec(target);
  if (spec == nullptr)
    return harness_error(fmt::format("no plugin has '{}' for this device", target));
  Plan plan;
  plan.target = target;
  plan.mode.launch = Launch::async;
  plan.steps.emplace_back(CallStep{Call{{{"N", 64}}, {}, {}, 1}});
  Evaluator evaluator(executor, *spec, deadline);
  Verdict verdict = evaluator.ask(oracle, plan).verdict;
  if (verdict.outcome == Outcome::harness_error)
    return harness_error(fmt::format("{} cannot be used here: {}", oracle.name(), verdict.reason));
  return verdict;
}

std::string seen(const Verdict& verdict) {
  return verdict.failed() ? verdict.signature.text()
                          : fmt::format("{}{}{}", name_of(verdict.outcome),
                                        verdict.reason.empty() ? "" : ": ", verdict.reason);
}

}  // namespace

Result<void> prove_tool(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, SanitizerTool tool,
                        std::chrono::milliseconds deadline) {
  const ToolProof& proof = proof_for(tool);
  const Oracle& oracle = catalog.sanitizer(tool);
  RZ_TRY_ASSIGN(const auto planted, ask_tool(executor, oracle, find_spec, proof.target, deadline));
  if (!planted.failed() || planted.signature.kind != proof.kind)
    return harness_error(
        fmt::format("{} does not catch {}: {}", oracle.name(), proof.what, seen(planted)));
  RZ_TRY_ASSIGN(const auto clean, ask_tool(executor, oracle, find_spec, kClean, deadline));
  if (clean.outcome != Outcome::pass)
    return harness_error(
        fmt::format("{} does not pass the clean target: {}", oracle.name(), seen(clean)));
  return {};
}

std::string_view planted_for(SanitizerTool tool) {
  return proof_for(tool).what;
}

}  // namespace redzone::campaign
