#include "guard/program_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "guard/stored_finding.h"

namespace redzone::guard {
namespace {

// The program of a process that has not left by exit(), because a signal ended it or it still runs;
// "" if there is none. Of the programs that one process runs one after another (exec), it suffices
// that one has left.
std::string program_that_did_not_exit(const ProgramRun& run) {
  std::map<std::uint32_t, bool> ended;
  for (const auto& process : run.processes)
    ended[process.pid] = ended[process.pid] || process.is(Fact::ended);
  for (const auto& process : run.processes)
    if (!ended[process.pid]) return process.command().front();
  return "";
}

bool has_judged(const ProgramRun& run, const std::string& target) {
  return std::any_of(run.processes.begin(), run.processes.end(), [&](const auto& process) {
    return judged(process, run.settings) == Judged::yes &&
           target_of_program(process.command()) == target;
  });
}

// Explains why a run without a finding does not count as a pass; "" if it does.
std::string why_no_pass(const ProgramRun& run, const Signature& recorded, int exit_code) {
  if (run.ended.over_time) return "the program did not end within the time limit";
  if (run.ended.passed_on != 0) return "the run was interrupted";
  if (run.ended.signal != 0)
    return fmt::format("the program was ended by signal {}, and the guard has no finding",
                       run.ended.signal);
  if (run.ended.exit_code != 0 && run.ended.exit_code != exit_code)
    return fmt::format("the program ended with {}, not {}", run.ended.exit_code, exit_code);
  if (run.guards_nothing()) return "no block was guarded with these settings";
  if (!run.is_judged()) return "no process of the program was judged";
  if (const auto missing = run.not_judged(); missing != 0)
    return fmt::format("{} of {} processes to guard were not judged", missing, run.to_guard());
  // Tensors that were separate blocks in the recorded run may be parts of segments.
  if (std::any_of(run.processes.begin(), run.processes.end(), [&](const auto& process) {
        return judged(process, run.settings) == Judged::yes &&
               torch_was_not_replaced(process, run.settings);
      }))
    return "PyTorch has not allocated through the guard's functions";
  if (!has_judged(run, recorded.target))
    return fmt::format("no process of {} was judged", recorded.target);
  if (const auto program = program_that_did_not_exit(run); !program.empty())
    return fmt::format("a process of {} was ended by a signal, or goes on", program);
  return "";
}

}  // namespace

ProgramVerdict judge_run(const ProgramRun& run, const Signature& recorded, int exit_code,
                         const std::set<std::string>& waived) {
  std::vector<OracleAnswer> answers;
  std::string waived_one;
  for (const auto& distinct : run.findings()) {
    const Signature signature = stored_signature(run, distinct);
    const bool is_recorded = signature == recorded;
    if (!is_recorded && waived.contains(signature.hash())) {
      waived_one = signature.where;
      continue;
    }
    Verdict verdict{Outcome::fail, std::string(kOracle), signature.where, signature, -1, {}};
    answers.insert(is_recorded ? answers.begin() : answers.end(),
                   {std::move(verdict), TrialsRun::some});
  }
  if (answers.empty()) {
    const std::string why =
        waived_one.empty()
            ? why_no_pass(run, recorded, exit_code)
            : fmt::format("a finding that is marked may have hidden it: {}", waived_one);
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
