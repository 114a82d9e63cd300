#include "bisect/prober.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bisect/decision.h"

namespace redzone::bisect {

std::string why_it_cannot_be_bisected(const Probe& base) {
  const Counts& counts = base.counts;
  if (counts.other > 0)
    return fmt::format("It fails otherwise now ({} of {} runs): {}", counts.other, counts.judged(),
                       counts.said);
  return fmt::format("It does not fail now ({} of {} runs)", counts.same, counts.judged());
}

std::string background_of(std::span<const Probe> probes) {
  std::set<std::string> said;
  std::size_t otherwise = 0;
  for (const auto& probe : probes) {
    if (probe.answer == Answer::undecided || probe.counts.passed > 0) return "";
    if (probe.answer != Answer::differs) continue;
    said.insert(probe.counts.only_other());
    ++otherwise;
  }
  return otherwise >= 2 && said.size() == 1 ? *said.begin() : "";
}

std::string background_text(const std::string& signature) {
  if (signature.empty()) return "";
  return fmt::format(
      "; no value passes: what ends this failure fails as '{}', which is another bug, or this one "
      "shown otherwise",
      signature);
}

std::string_view ends_with(bool background) {
  return background ? "fails otherwise with" : "passes with";
}

Prober::Prober(Runner& runner, ProbeBudget budget, Memory memory, Record record)
    : runner_(runner),
      budget_(std::move(budget)),
      memory_(std::move(memory)),
      record_(std::move(record)) {}

bool Prober::ended() const {
  return !problem_ || runs_ >= budget_.runs || std::chrono::steady_clock::now() >= budget_.until ||
         (budget_.stop && budget_.stop());
}

Answer Prober::answer_of(const Counts& counts) const {
  const Answer answer = bisect::answer_of(counts, rates_);
  const bool ends_it =
      answer == Answer::differs && !background_.empty() && counts.only_other() == background_;
  return ends_it ? Answer::passes : answer;
}

std::int64_t Prober::wanted(const Counts& counts) const {
  return wanted_runs(counts, rates_, budget_.runs_of_a_plan);
}

// Measures how long the runs take and adjusts how many are made at a time, so that the time budget
// is not exceeded by much: a run that hangs takes as long as thousands of others.
std::vector<Counts> Prober::make_runs(std::span<const Request> requests) {
  using namespace std::chrono_literals;
  const auto begin = std::chrono::steady_clock::now();
  auto counts = runner_.run(requests);
  const auto took = std::chrono::steady_clock::now() - begin;
  if (took < 500ms)
    at_a_time_ = std::min(2 * at_a_time_, budget_.runs);
  else if (took > 2s)
    at_a_time_ = std::max<std::int64_t>(at_a_time_ / 4, 1);
  return counts;
}

void Prober::run(std::span<const Open> plans) {
  std::vector<Request> requests;
  std::int64_t room = std::min(budget_.runs - runs_, at_a_time_);
  for (const auto& open : plans) {
    const std::int64_t times = std::min(wanted(memory_[open.hash]), room);
    if (times < 1) break;
    room -= times;
    requests.push_back({*open.plan, times});
  }
  const auto counts = make_runs(requests);
  RZ_CHECK(counts.size() == requests.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    runs_ += requests[i].times;
    memory_[plans[i].hash].add(counts[i]);
    // Do not record runs that an interruption cut off.
    if (budget_.stop && budget_.stop() && counts[i].judged() == 0) continue;
    if (record_ && problem_) problem_ = record_(requests[i].plan, counts[i]);
  }
}

std::vector<Probe> Prober::ask(std::span<const Plan> plans) {
  std::vector<std::string> hashes;
  for (const auto& plan : plans) hashes.push_back(plan_hash(plan));
  while (!ended()) {
    std::vector<Open> open;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (wanted(memory_[hashes[i]]) > 0 && seen.insert(hashes[i]).second)
        open.push_back({&plans[i], hashes[i]});
    if (open.empty()) break;
    run(open);
  }
  std::vector<Probe> out;
  out.reserve(hashes.size());
  for (const auto& hash : hashes) out.push_back({answer_of(memory_[hash]), memory_[hash]});
  return out;
}

Probe Prober::ask(const Plan& plan) {
  return ask(std::span(&plan, 1)).front();
}

Probe Prober::known(const Plan& plan) const {
  const auto it = memory_.find(plan_hash(plan));
  if (it == memory_.end()) return {};
  return {answer_of(it->second), it->second};
}

Probe Prober::calibrate(const Plan& plan, double miss) {
  const std::string hash = plan_hash(plan);
  const auto& counts = memory_[hash];
  while (!ended()) {
    const std::int64_t times = std::min(
        {calibration_runs(counts, budget_.runs_of_a_plan), budget_.runs - runs_, at_a_time_});
    if (times < 1) break;
    const Request request{plan, times};
    const auto more = make_runs(std::span(&request, 1));
    runs_ += times;
    memory_[hash].add(more.front());
    if (record_ && problem_) problem_ = record_(plan, more.front());
  }
  if (counts.same > 0) rates_ = statistics::rates_for(counts.same, counts.judged(), miss);
  return {base_answer(counts), counts};
}

}  // namespace redzone::bisect
