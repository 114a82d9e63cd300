#include "campaign/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/wire.h"

namespace redzone::campaign {

std::vector<Answer> Evaluator::ask(std::span<const Question> questions) {
  std::vector<exec::Job> jobs;
  std::map<std::string, std::size_t> job_of;  // plan, trial and repetition -> job
  std::map<std::string, int> repetitions;     // oracle and plan -> times asked before
  std::vector<std::vector<std::size_t>> needed(questions.size());
  std::vector<Answer> answers(questions.size());
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const auto& [oracle, plan] = questions[q];
    const std::string plan_bytes = wire::encode(plan);
    const int repetition = repetitions[std::string(oracle->name()) + plan_bytes]++;
    answers[q].trials = oracle->expand(plan, spec_);
    for (const auto& trial : answers[q].trials) {
      // An oracle that wants one trial twice wants two runs of it.
      int twin = 0;
      std::string key;
      do {
        key = fmt::format("{}/{}/", repetition, twin++) + wire::encode(trial) + plan_bytes;
      } while (job_of.contains(key) &&
               std::find(needed[q].begin(), needed[q].end(), job_of.at(key)) != needed[q].end());
      const auto [it, is_new] = job_of.emplace(key, jobs.size());
      if (is_new) jobs.push_back({jobs.size(), plan, {trial}, deadline_, reuse_});
      needed[q].push_back(it->second);
    }
  }
  const auto results = executor_.run_fresh(jobs);
  RZ_CHECK(results.size() == jobs.size());
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (auto job : needed[q]) {
      RZ_CHECK(results[job].observations.size() == 1);
      answers[q].observations.push_back(results[job].observations.front());
    }
    answers[q].verdict =
        questions[q].oracle->judge(questions[q].plan, spec_, answers[q].observations);
  }
  return answers;
}

Answer Evaluator::ask(const Oracle& oracle, const Plan& plan) {
  const Question question{&oracle, plan};
  return std::move(ask(std::span(&question, 1)).front());
}

bool same_bug(const Signature& a, const Signature& b) {
  const auto compatible = [](const std::string& x, const std::string& y) {
    return x == y || x.empty() || y.empty();
  };
  return a.kind == b.kind && a.target == b.target && compatible(a.where, b.where) &&
         compatible(a.buffer, b.buffer) && compatible(a.side, b.side) &&
         compatible(a.access, b.access);
}

}  // namespace redzone::campaign
