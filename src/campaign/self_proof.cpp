#include "campaign/self_proof.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "campaign/evaluator.h"
#include "campaign/planted.h"
#include "core/log.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using Clock = std::chrono::steady_clock;

struct Asked {
  const Planted* planted = nullptr;
  const TargetSpec* spec = nullptr;
  Question question;
  std::vector<Observation> observations;
  Verdict verdict;
};

Result<Asked> prepare(const Planted& planted, const oracles::Catalog& catalog,
                      const FindSpec& find_spec) {
  Plan plan = plan_of(planted);
  const TargetSpec* spec = find_spec(plan.target);
  if (spec == nullptr)
    return harness_error(
        fmt::format("self-proof failed: no plugin has '{}' for this device", plan.target));
  const Oracle* oracle = catalog.find(planted.oracle);
  RZ_CHECK(oracle != nullptr);
  return Asked{&planted, spec, {oracle, std::move(plan)}, {}, {}};
}

std::optional<std::string> proof_problem(const Asked& asked) {
  const Planted& planted = *asked.planted;
  const Verdict& v = asked.verdict;
  const bool as_wanted =
      planted.kind ? v.failed() && v.signature.kind == *planted.kind : v.outcome == Outcome::pass;
  if (as_wanted) return std::nullopt;
  if (v.outcome == Outcome::harness_error)
    return fmt::format("self-proof failed: {} could not be tried: {}", planted.what, v.reason);
  const std::string got = v.failed() ? v.signature.text() : std::string(name_of(v.outcome));
  return fmt::format("self-proof failed: {}{} was {} by the oracle '{}' ({}, {}, {}): {}{}{}",
                     planted.kind ? "planted: " : "", planted.what,
                     planted.kind ? "NOT caught" : "NOT passed", planted.oracle,
                     name_of(planted.mode.launch), name_of(planted.mode.allocator),
                     name_of(planted.mode.placement), got, v.reason.empty() ? "" : ": ", v.reason);
}

// Jobs for the warm workers; without warm workers these jobs run in fresh ones.
class WarmJobs {
 public:
  WarmJobs(exec::Executor& executor, const SelfProofOptions& options)
      : executor_(executor), options_(options) {}

  void submit(Asked& asked) {
    const auto& [oracle, plan] = asked.question;
    const auto id = static_cast<std::uint64_t>(asked_.size());
    asked_.push_back(&asked);
    executor_.submit({id, plan, oracle->expand(plan, *asked.spec), options_.deadline});
  }
  void collect() {
    while (executor_.in_flight() > 0 && !(options_.stop && options_.stop()))
      if (auto done = executor_.next(std::chrono::milliseconds(50)))
        asked_[done->id]->observations = std::move(done->observations);
  }

 private:
  exec::Executor& executor_;
  const SelfProofOptions& options_;
  std::vector<Asked*> asked_;
};

// Has each oracle judge, after running the follow-up trials that some oracles request.
void judge_all(exec::Executor& executor, std::vector<Asked>& all,
               std::chrono::milliseconds deadline) {
  std::vector<exec::Job> jobs;
  std::vector<Asked*> asked_by;
  for (auto& asked : all) {
    const auto& [oracle, plan] = asked.question;
    auto more = oracle->follow_up(plan, *asked.spec, asked.observations);
    if (more.empty()) continue;
    jobs.push_back({jobs.size(), plan, std::move(more), deadline});
    asked_by.push_back(&asked);
  }
  auto results = executor.run_fresh(jobs);
  for (std::size_t j = 0; j < results.size(); ++j)
    for (auto& seen : results[j].observations) asked_by[j]->observations.push_back(std::move(seen));
  for (auto& asked : all)
    asked.verdict =
        asked.question.oracle->judge(asked.question.plan, *asked.spec, asked.observations);
}

}  // namespace

Result<SelfProof> prove(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, const SelfProofOptions& options) {
  log::info("self-proof begins");
  const auto begun = Clock::now();
  std::vector<Asked> all;
  const auto planted = catalog.is_dry()
                           ? planted_without_device()
                           : planted_bugs(options.allocators, options.seeded_schedules);
  for (const auto& bug : planted) {
    RZ_TRY_ASSIGN(auto asked, prepare(bug, catalog, find_spec));
    all.push_back(std::move(asked));
  }
  WarmJobs warm(executor, options);
  std::vector<exec::Job> fresh;
  std::vector<Asked*> of_fresh;
  for (auto& asked : all) {
    if (!faults(*asked.planted) && executor.max_in_flight() > 0) {
      warm.submit(asked);
      continue;
    }
    const auto& [oracle, plan] = asked.question;
    fresh.push_back({fresh.size(), plan, oracle->expand(plan, *asked.spec), options.deadline});
    of_fresh.push_back(&asked);
  }
  auto results = executor.run_fresh(fresh);
  for (std::size_t i = 0; i < results.size(); ++i)
    of_fresh[i]->observations = std::move(results[i].observations);
  warm.collect();
  if (options.stop && options.stop()) return harness_error("the self-proof was interrupted");
  judge_all(executor, all, options.deadline);

  SelfProof out;
  for (const auto& asked : all) {
    if (auto what = proof_problem(asked)) return harness_error(std::move(*what));
    out.caught += asked.planted->kind ? 1 : 0;
  }
  out.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  log::info("self-proof ends: {} planted bugs were caught in {} ms", out.caught, out.took.count());
  return out;
}

}  // namespace redzone::campaign
