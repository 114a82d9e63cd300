#include "guard/program_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "guard/stored_finding.h"

namespace redzone::guard {
namespace {

// Why a run without a finding is no proof; "" if it is one.
std::string why_no_pass(const ProgramRun& run) {
  if (run.ended.over_time) return "the program did not end within the time limit";
  if (run.ended.passed_on != 0) return "the run was interrupted";
  if (run.ended.signal != 0)
    return fmt::format("the program was ended by signal {}, and the guard has no finding",
                       run.ended.signal);
  if (!run.is_judged()) return "no process of the program was judged";
  if (const auto missing = run.not_judged(); missing != 0)
    return fmt::format("{} of {} processes to guard were not judged", missing, run.to_guard());
  return "";
}

}  // namespace

ProgramVerdict judge_run(const ProgramRun& run, const Signature& recorded,
                         const std::set<std::string>& waived) {
  std::vector<OracleAnswer> answers;
  for (const auto& distinct : run.findings()) {
    const Signature signature = stored_signature(run, distinct);
    const bool is_recorded = signature == recorded;
    if (!is_recorded && waived.contains(signature.hash())) continue;
    Verdict verdict{Outcome::fail, std::string(kOracle), signature.where, signature, -1, {}};
    answers.insert(is_recorded ? answers.begin() : answers.end(),
                   {std::move(verdict), TrialsRun::some});
  }
  if (answers.empty()) {
    const std::string why = why_no_pass(run);
    if (why.empty())
      answers.push_back({Verdict::pass(std::string(kOracle)), TrialsRun::some});
    else
      answers.push_back(
          {Verdict{Outcome::inconclusive, std::string(kOracle), why, {}, -1, {}}, TrialsRun::none});
  }
  const RankedRun ranked = rank_run(answers, recorded);
  return {ranked.result, answers[ranked.decisive].verdict};
}

ProgramRun without(ProgramRun run, const Signature& signature) {
  for (std::size_t i = 0; i < run.processes.size(); ++i)
    std::erase_if(run.processes[i].findings, [&](const Finding& finding) {
      return stored_signature(run, {finding, 0, 1, i}) == signature;
    });
  return run;
}

}  // namespace redzone::guard
