#include "campaign/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "campaign/history.h"
#include "core/contention.h"
#include "core/log.h"
#include "core/wire.h"
#include "oracles/checks.h"

namespace redzone::campaign {
namespace {

void judge_answer(const Question& question, const TargetSpec& spec, Answer& answer) {
  answer.verdict = question.oracle->judge(question.plan, spec, answer.observations);
  if (answer.verdict.failed()) return;
  const auto evidence = oracles::direct_evidence(question.plan, answer.trials, answer.observations);
  if (!evidence) return;
  Plan plan = as_run(question.plan, answer.trials[evidence->trial]);
  plan.mode.sanitizer = SanitizerTool::none;
  answer.alarm = Alarm{evidence->verdict, std::move(plan)};
}

bool runs_a_tool(std::span<const TrialSpec> trials) {
  return std::any_of(trials.begin(), trials.end(), [](const TrialSpec& trial) {
    return trial.mode.sanitizer != SanitizerTool::none;
  });
}

// After a trial that did not complete, no comparing oracle can judge. If trials share a worker
// because workers are costly, the remaining trials of the job are therefore not run.
void note_not_run(const exec::Job& job, exec::JobResult& result) {
  if (!job.end_at_loss || result.observations.empty()) return;
  Observation none;
  none.message = "not run, because a trial before it cost the worker";
  result.observations.resize(job.trials.size(), none);
}

void log_answer(const Question& question, const Answer& answer) {
  const Verdict& v = answer.verdict;
  log::debug("question: {} about {} steps of {}, {} trials: {}{}{}", question.oracle->name(),
             question.plan.steps.size(), question.plan.target, answer.trials.size(),
             v.failed() ? v.signature.text() : name_of(v.outcome), v.reason.empty() ? "" : ": ",
             v.reason);
}

}  // namespace

std::vector<Answer> Evaluator::ask(std::span<const Question> questions) {
  std::vector<exec::Job> jobs;
  std::map<std::string, std::size_t> job_of;          // trial and its repetition -> job
  std::map<std::string, int> repetitions;             // oracle and plan -> earlier occurrences
  using Place = std::pair<std::size_t, std::size_t>;  // job, trial in it
  std::vector<std::vector<Place>> places(questions.size());
  std::vector<Answer> answers(questions.size());
  const auto place = [&](std::vector<Place>& taken, std::string key, const Plan& plan,
                         std::span<const TrialSpec> trials) {
    // An oracle that requires the same trial twice needs two runs of it.
    const auto is_taken = [&](std::size_t job) {
      return std::any_of(taken.begin(), taken.end(),
                         [&](const Place& p) { return p.first == job; });
    };
    auto it = job_of.find(key);
    while (it != job_of.end() && is_taken(it->second)) it = job_of.find(key += '+');
    if (it == job_of.end()) {
      it = job_of.emplace(std::move(key), jobs.size()).first;
      jobs.push_back(job_of_trials(jobs.size(), plan, {trials.begin(), trials.end()}));
    }
    for (std::size_t t = 0; t < trials.size(); ++t) taken.emplace_back(it->second, t);
  };
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const auto& [oracle, plan] = questions[q];
    const std::string plan_bytes = wire::encode(plan);
    const int repetition = repetitions[std::string(oracle->name()) + plan_bytes]++;
    answers[q].trials = oracle->expand(plan, spec_);
    for (auto& trial : answers[q].trials) trial.wide_canaries = wide_canaries_;
    const std::span<const TrialSpec> trials = answers[q].trials;
    const bool together = grouped_ || oracle->shares_worker();
    const std::size_t step = together ? std::max<std::size_t>(trials.size(), 1) : 1;
    for (std::size_t t = 0; t < trials.size(); t += step) {
      std::string key = fmt::format("{}/", repetition) + plan_bytes;
      for (const auto& trial : trials.subspan(t, step)) key += wire::encode(trial);
      place(places[q], std::move(key), plan, trials.subspan(t, step));
    }
  }
  const auto results = run(jobs);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    answers[q].fresh = !places[q].empty();
    for (const auto& [job, trial] : places[q]) {
      answers[q].observations.push_back(results[job].observations[trial]);
      answers[q].fresh = answers[q].fresh && results[job].log_size == 0;
    }
  }
  follow_up(questions, answers);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    judge_answer(questions[q], spec_, answers[q]);
    if (log::shows(log::Level::debug)) log_answer(questions[q], answers[q]);
  }
  return answers;
}

exec::Job Evaluator::job_of_trials(std::size_t id, const Plan& plan,
                                   std::vector<TrialSpec> trials) const {
  // A stream that is held needs a hardware queue of its own, and so does other work beside a trial.
  const bool holds = std::any_of(trials.begin(), trials.end(), [](const TrialSpec& trial) {
    return trial.direction.has_value();
  });
  const bool contended =
      seeds_decide_contention_ && std::ranges::any_of(trials, [](const TrialSpec& trial) {
        return has_contention(trial.mode.schedule_seed);
      });
  exec::Job job{.id = id,
                .plan = plan,
                .trials = {},
                .deadline = deadline_,
                .reuse = reuse_,
                .will_lose = will_lose_ && !wide_canaries_,
                .behind = in_one_worker_ && id > 0,
                // Trials that force one of two orders look for a fault in either, so a fault must
                // not end them.
                .end_at_loss = grouped_ && !runs_a_tool(trials) && !holds,
                .one_queue = one_queue_ && !has_streams(plan) && !holds && !contended,
                .side_by_side = alone_};
  job.trials = std::move(trials);
  return job;
}

std::vector<exec::JobResult> Evaluator::run(const std::vector<exec::Job>& jobs) {
  for (const auto& job : jobs) trials_ += static_cast<std::int64_t>(job.trials.size());
  const auto begun = std::chrono::steady_clock::now();
  auto results = runner_.run_fresh(jobs, {[this] { return stopped(); }, alone_});
  asking_ += std::chrono::steady_clock::now() - begun;
  RZ_CHECK(results.size() == jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    note_not_run(jobs[j], results[j]);
    RZ_CHECK(results[j].observations.size() == jobs[j].trials.size());
  }
  return results;
}

void Evaluator::follow_up(std::span<const Question> questions, std::vector<Answer>& answers) {
  std::vector<exec::Job> jobs;
  std::vector<std::size_t> asked_by;  // question of each job
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const auto& [oracle, plan] = questions[q];
    auto trials = oracle->follow_up(plan, spec_, answers[q].observations);
    if (trials.empty()) continue;
    for (auto& trial : trials) trial.wide_canaries = wide_canaries_;
    jobs.push_back(job_of_trials(jobs.size(), plan, std::move(trials)));
    asked_by.push_back(q);
  }
  if (jobs.empty()) return;
  auto results = run(jobs);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Answer& answer = answers[asked_by[j]];
    answer.fresh = answer.fresh && results[j].log_size == 0;
    for (auto& trial : jobs[j].trials) answer.trials.push_back(std::move(trial));
    for (auto& seen : results[j].observations) answer.observations.push_back(std::move(seen));
  }
}

Answer Evaluator::ask(const Oracle& oracle, const Plan& plan) {
  const Question question{&oracle, plan};
  return std::move(ask(std::span(&question, 1)).front());
}

}  // namespace redzone::campaign
