#include "campaign/run_judgement.h"

#include <algorithm>

namespace redzone::campaign {
namespace {

bool ran(const Observation& o) {
  return o.end != End::worker_error && o.end != End::unsupported && o.end != End::out_of_memory;
}

TrialsRun trials_of(const Answer& answer) {
  if (answer.trials.empty()) return TrialsRun::none_wanted;
  return std::any_of(answer.observations.begin(), answer.observations.end(), ran) ? TrialsRun::some
                                                                                  : TrialsRun::none;
}

}  // namespace

RunJudgement judge_run(const Plan& plan, std::span<const Answer> answers,
                       const std::optional<Signature>& recorded) {
  // The verdicts of the oracles, then what the trials showed besides.
  std::vector<OracleAnswer> said;
  std::vector<std::size_t> from;
  for (const auto& answer : answers) {
    from.push_back(said.size());
    said.push_back({answer.verdict, trials_of(answer)});
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].alarm) {
      from.push_back(i);
      said.push_back({answers[i].alarm->verdict, TrialsRun::some});
    }
  const auto as_alarm = [&](std::size_t i) {
    return i < answers.size() ? Alarm{said[i].verdict, plan} : *answers[from[i]].alarm;
  };
  const RankedRun ranked = rank_run(said, recorded);
  RunJudgement out{ranked.result, said[ranked.decisive].verdict, from[ranked.decisive], {}};
  if (ranked.other) out.other = as_alarm(*ranked.other);
  return out;
}

std::vector<const Oracle*> oracles_for(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec) {
  std::vector<const Oracle*> out{&own};
  if (own.expand(plan, spec).empty()) out.push_back(catalog.direct().front().get());
  return out;
}

}  // namespace redzone::campaign
