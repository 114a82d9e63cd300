#include "campaign/run_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/refused_launch.h"
#include "oracles/checks.h"

namespace redzone::campaign {
namespace {

bool ran(const Observation& o) {
  return o.end != End::worker_error && o.end != End::spec_error && o.end != End::unsupported &&
         o.end != End::out_of_memory;
}

// True if a device refused a launch for which an oracle without a device recorded a failure.
bool is_refusal_of(const Signature& recorded, const Signature& other) {
  return recorded.kind == FailKind::launch_config && other.kind == FailKind::fault &&
         other.where == kRefusedLaunchCode;
}

TrialsRun trials_of(const Answer& answer) {
  if (answer.trials.empty()) return TrialsRun::none_wanted;
  return std::any_of(answer.observations.begin(), answer.observations.end(), ran) ? TrialsRun::some
                                                                                  : TrialsRun::none;
}

// Returns a trial in which a write beside that buffer would have been missed, or null.
const TrialSpec* blind_trial(const Answer& own, const std::string& buffer) {
  for (std::size_t t = 0; t < std::min(own.trials.size(), own.observations.size()); ++t)
    for (const auto& call : own.observations[t].calls)
      for (const auto& b : call.buffers)
        if (b.name == buffer && !b.surrounded) return &own.trials[t];
  return nullptr;
}

// Number of calls of the comparing trial of which only a sample was compared, unlike in other
// trials.
std::int64_t calls_sampled_instead(const Answer& own) {
  std::int64_t count = 0;
  for (std::size_t t = 0; t < std::min(own.trials.size(), own.observations.size()); ++t) {
    if (!own.trials[t].reference) continue;
    const auto& calls = own.observations[t].calls;
    count = std::count_if(calls.begin(), calls.end(), [](const CallObservation& call) {
      return call.comparison == Comparison::sampled_instead;
    });
  }
  return count;
}

// Explains why a pass does not show that the recorded failure is gone; empty if it does show that.
std::string why_blind(const Plan& plan, const Answer& own, const Signature& recorded) {
  const ReferenceCount& count = own.verdict.reference;
  // A finding does not record in which of its calls the reference failed, so a run shows that none
  // fails only if every call was compared. A call that every trial samples is compared in the rows
  // in which it failed.
  const auto parts = calls_sampled_instead(own);
  if (needs_reference(recorded.kind) && count.compared - parts != count.calls)
    return fmt::format("not judged by the reference: {} of {} calls were compared; {}",
                       count.compared - parts, count.calls,
                       oracles::why_not_compared(plan, own.trials, own.observations));
  if (recorded.kind == FailKind::redzone && (recorded.side == "before" || recorded.side == "after"))
    if (const TrialSpec* trial = blind_trial(own, recorded.buffer))
      return fmt::format("not judged: allocator '{}' puts no canaries around '{}'",
                         name_of(trial->mode.allocator), recorded.buffer);
  return "";
}

bool wants_plan_as_written(const Oracle& oracle, const Plan& plan, const TargetSpec& spec) {
  const auto trials = oracle.expand(plan, spec);
  TrialSpec as_written;
  as_written.mode = plan.mode;
  return trials.empty() || (trials.size() == 1 && trials.front() == as_written);
}

bool has_hung(const Answer& answer) {
  return std::any_of(answer.observations.begin(), answer.observations.end(),
                     [](const Observation& o) { return o.end == End::hang; });
}

}  // namespace

Verdict own_verdict(const Plan& plan, const Answer& own, const Signature& recorded) {
  Verdict verdict = own.verdict;
  if (verdict.outcome != Outcome::pass) return verdict;
  if (std::string why = why_blind(plan, own, recorded); !why.empty()) {
    verdict.outcome = Outcome::inconclusive;
    verdict.reason = std::move(why);
  }
  return verdict;
}

RunJudgement judge_run(const Plan& plan, std::span<const Answer> answers,
                       const std::optional<Signature>& recorded) {
  // The verdicts of the oracles, then the failures that single trials showed.
  std::vector<OracleAnswer> said;
  std::vector<std::size_t> from;
  for (const auto& answer : answers) {
    from.push_back(said.size());
    said.push_back({answer.verdict, trials_of(answer)});
  }
  if (recorded) said.front().verdict = own_verdict(plan, answers.front(), *recorded);
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
  for (const auto& answer : answers)
    if (out.verdict.reference.calls == 0) out.verdict.reference = answer.verdict.reference;
  const bool recorded_too = ranked.result == RunResult::recorded;
  const auto is_consequence = [&](const Verdict& other) {
    return recorded && recorded_too && is_refusal_of(*recorded, other.signature);
  };
  if (ranked.other && is_own_alarm(said[*ranked.other].verdict, recorded_too) &&
      !is_consequence(said[*ranked.other].verdict))
    out.other = as_alarm(*ranked.other);
  return out;
}

std::vector<JudgedRun> ask_runs(Evaluator& evaluator, std::span<const Oracle* const> oracles,
                                const Plan& plan, const std::optional<Signature>& recorded,
                                std::int64_t runs) {
  std::vector<std::size_t> first, then;  // oracles
  for (std::size_t o = 0; o < oracles.size(); ++o)
    (o == 0 || wants_plan_as_written(*oracles[o], plan, evaluator.spec()) ? first : then)
        .push_back(o);
  std::vector<std::map<std::size_t, Answer>> said(static_cast<std::size_t>(runs));
  const auto ask = [&](const std::vector<std::size_t>& which, const auto& is_asked) {
    std::vector<Question> questions;
    std::vector<std::pair<std::size_t, std::size_t>> of;  // run, oracle
    for (std::size_t r = 0; r < said.size(); ++r)
      for (const std::size_t o : which)
        if (is_asked(said[r])) {
          questions.push_back({oracles[o], plan});
          of.emplace_back(r, o);
        }
    if (questions.empty()) return;
    auto answers = evaluator.ask(questions);
    for (std::size_t i = 0; i < answers.size(); ++i)
      said[of[i].first].emplace(of[i].second, std::move(answers[i]));
  };
  ask(first, [](const auto&) { return true; });
  ask(then, [](const auto& so_far) {
    return std::none_of(so_far.begin(), so_far.end(),
                        [](const auto& a) { return has_hung(a.second); });
  });
  std::vector<JudgedRun> out;
  for (auto& answers_of_run : said) {
    JudgedRun& run = out.emplace_back();
    for (auto& [oracle, answer] : answers_of_run) run.answers.push_back(std::move(answer));
    run.judgement = judge_run(plan, run.answers, recorded);
  }
  return out;
}

RunJudgement judge_by_tool(const Plan& plan, const Answer& answer,
                           const std::optional<Signature>& recorded) {
  RunJudgement out = judge_run(plan, std::span(&answer, 1), std::nullopt);
  if (!recorded || out.result != RunResult::recorded || fails_as(out.verdict.signature, *recorded))
    return out;
  out.result = RunResult::other;
  out.other = answer.alarm && answer.alarm->verdict.signature == out.verdict.signature
                  ? *answer.alarm
                  : Alarm{out.verdict, plan};
  return out;
}

bool is_own_alarm(const Verdict& other, bool recorded_too) {
  return !recorded_too || is_direct(other.signature.kind);
}

std::vector<const Oracle*> own_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec) {
  std::vector<const Oracle*> out{&own};
  if (own.expand(plan, spec).empty()) out.push_back(catalog.direct().front().get());
  return out;
}

std::vector<const Oracle*> further_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                           const TargetSpec& spec) {
  const Oracle* reference = catalog.find("reference");
  if (reference == nullptr || reference == &own || !spec.has_reference) return {};
  return {reference};
}

std::vector<const Oracle*> oracles_for(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec) {
  auto out = own_oracles(catalog, own, plan, spec);
  const auto further = further_oracles(catalog, own, spec);
  out.insert(out.end(), further.begin(), further.end());
  return out;
}

}  // namespace redzone::campaign
