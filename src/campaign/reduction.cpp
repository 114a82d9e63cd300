#include "campaign/reduction.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "campaign/confirmation.h"
#include "campaign/head_start.h"
#include "campaign/naming.h"
#include "campaign/plan_variants.h"
#include "campaign/run_judgement.h"
#include "statistics/sequential_test.h"

namespace redzone::campaign {
namespace {

// Failure rates assumed for smaller plans. A plan that failed in every run is assumed to fail in
// nearly all: then one pass is enough, and the measurement of the reduced plan verifies the
// assumption.
statistics::Rates rates_of(const Reliability& r) {
  constexpr double kMiss = 0.01;
  if (r.k >= r.n) return {1e-4, 0.99, 0.01, kMiss};
  return statistics::rates_for(std::max<std::int64_t>(r.k, 1), r.n, kMiss);
}

// Maximum number of trials of simpler plans that one fresh process runs, one after the other:
// together they take about as long as a process takes to start, and other findings wait for the
// process meanwhile.
constexpr std::size_t kTrialsOfAProcess = 64;

// Maximum number of calls for which each plan with fewer calls gets its own worker: a plan with
// more calls has many such plans.
constexpr std::size_t kCallsTriedAlone = 3;

// Makes `fails` judge the plans in the order of their complexity, the simplest first.
StillFails simplest_first(const Simplify& simplify, StillFails fails) {
  return [simpler = simplify.simpler, fails = std::move(fails)](std::span<Plan> plans) {
    std::vector<std::size_t> order(plans.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return simpler(plans[a], plans[b]); });
    std::vector<Plan> ordered;
    ordered.reserve(plans.size());
    for (const std::size_t i : order) ordered.push_back(std::move(plans[i]));
    const auto judged = fails(ordered);
    std::vector<Tried> results(plans.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      results[order[i]] = judged[i];
      plans[order[i]] = std::move(ordered[i]);
    }
    return results;
  };
}

// Restricts `simplify` to candidates that make fewer calls than the plan.
Simplify with_fewer_calls(Simplify simplify) {
  simplify.candidates = [all = std::move(simplify.candidates)](const Plan& plan) -> PlanStream {
    return [next = all(plan), calls = call_count(plan)] {
      auto candidate = next();
      while (candidate && call_count(*candidate) >= calls) candidate = next();
      return candidate;
    };
  };
  return simplify;
}

// The outcome of one run of a plan that is simpler than one that fails with `signature`. If the
// oracle does not apply, the plan cannot fail with that signature. The reference is an exception:
// it applies to every call with outputs, but reports "not applicable" if it compared none of them.
Tried tried(const Plan& plan, const Answer& answer, const Signature& signature) {
  if (same_failure(answer, signature)) return Tried::fails;
  const Outcome outcome = answer.verdict.outcome;
  const bool refused = std::any_of(answer.observations.begin(), answer.observations.end(),
                                   [](const Observation& o) { return o.end == End::unsupported; });
  const bool can_apply = needs_reference(signature.kind) && answer.verdict.reference.calls > 0;
  const bool cannot_fail_so = refused || (outcome == Outcome::not_applicable && !can_apply) ||
                              (outcome == Outcome::pass && answer.trials.empty());
  if (cannot_fail_so) return Tried::passes;
  const RunResult result = judge_run(plan, std::span(&answer, 1), signature).result;
  const bool judged = result != RunResult::harness_error && result != RunResult::not_judged;
  return judged ? Tried::passes : Tried::not_judged;
}

}  // namespace

Reduction::Reduction(const Workshop& shop, Case& c, Evaluator& evaluator,
                     std::chrono::milliseconds time)
    : shop_(shop), case_(c), finding_(c.finding), evaluator_(evaluator), left_(time) {
  if (shop.options.trial_time) trial_time_before_ = shop.options.trial_time();
}

std::size_t Reduction::schedules(const Plan& plan) const {
  const ModeAxis* axis = find_mode_axis(shop_.catalog.axes(), axis::kSchedule);
  const bool has = axis != nullptr && (axis->has == nullptr || axis->has(plan));
  return has ? axis->values.size() : 0;
}

// Each step of the reduction changes what the scheduler does, so a race that shows only under some
// schedules would be lost: in that case each smaller plan is tried under several schedules.
std::size_t Reduction::schedules_to_try(const Shown& shown) {
  constexpr std::size_t kMostProbes = 3;
  const std::size_t probes = std::min(schedules(shown.plan), kMostProbes);
  std::vector<Question> questions;
  for (std::uint64_t s = 0; s < probes; ++s) {
    questions.push_back({shown.oracle, shown.plan});
    questions.back().plan.mode.schedule_seed = s;
  }
  const auto answers = evaluator_.ask(questions);
  const bool always = std::all_of(answers.begin(), answers.end(), [&](const Answer& a) {
    return same_failure(a, shown.answer.verdict.signature);
  });
  return always ? 0 : schedules(shown.plan);
}

std::vector<Tried> Reduction::still_fails(const Oracle& oracle, const Signature& signature,
                                          const Variants& variants, std::span<Plan> plans) {
  const statistics::Rates rates = rates_of(finding_.reliability);
  std::vector<statistics::SequentialTest> tests(plans.size(), statistics::SequentialTest(rates));
  std::vector<Tried> results(plans.size(), Tried::passes);
  const auto is_open = [&](std::size_t i) {
    return results[i] == Tried::passes && tests[i].decision() == statistics::Decision::open;
  };
  struct Asked {
    std::size_t plan;
    bool variant;
  };
  std::vector<std::pair<Plan, Answer>> failing;
  const auto done = [&] {
    if (!failing.empty()) failing_ = std::move(failing);
    return results;
  };
  for (bool first = true;; first = false) {
    std::vector<Question> questions;
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!is_open(i)) continue;
      const auto times = std::clamp<std::int64_t>(tests[i].passes_to_go(), 1,
                                                  std::max<std::int64_t>(tests[i].n(), 2));
      questions.insert(questions.end(), static_cast<std::size_t>(times), {&oracle, plans[i]});
      asked.insert(asked.end(), static_cast<std::size_t>(times), {i, false});
      if (!first) continue;
      for (auto& variant : variants(plans[i])) {
        questions.push_back({&oracle, std::move(variant)});
        asked.push_back({i, true});
      }
    }
    const bool over = shop_.options.stopped() || used() >= until_;
    if (questions.empty()) return done();
    if (!first && over) {
      for (std::size_t i = 0; i < plans.size(); ++i)
        if (is_open(i)) results[i] = Tried::not_judged;
      return done();
    }
    auto answers = evaluator_.ask(questions);
    for (std::size_t q = 0; q < answers.size(); ++q) {
      if (noting_others_) note_other(case_, questions[q], answers[q], signature);
      const auto [i, variant] = asked[q];
      const Tried run = tried(questions[q].plan, answers[q], signature);
      if (!variant && run != Tried::not_judged) tests[i].add(run == Tried::fails);
      // A run that could not be judged is not repeated, because that might never end.
      if (run == Tried::passes || results[i] == Tried::fails) continue;
      results[i] = run;
      if (run != Tried::fails) continue;
      plans[i] = questions[q].plan;
      failing.emplace_back(plans[i], std::move(answers[q]));
    }
  }
}

bool Reduction::reduce_with(Shown& shown, const Simplify& simplify, const Variants& variants) {
  const TriageOptions& options = shop_.options;
  const Signature signature = shown.answer.verdict.signature;
  const StillFails fails = [&](std::span<Plan> plans) {
    return still_fails(*shown.oracle, signature, variants, plans);
  };
  ReduceBudget budget;
  const auto tried = static_cast<std::size_t>(finding_.reduction.plans);
  budget.evaluations = options.reduce_evaluations - std::min(options.reduce_evaluations, tried);
  budget.time_is_up = [this] { return used() >= until_; };
  budget.stop = options.stop;
  budget.spec_calls = options.spec_calls;
  // A batch is not interrupted, so if workers start slowly it has only as many runs as run
  // together.
  const auto first_runs = static_cast<std::size_t>(
      statistics::SequentialTest(rates_of(finding_.reliability)).passes_to_go());
  const std::size_t asked = std::min<std::size_t>(first_runs, 16) + variants(shown.plan).size();
  const std::size_t runs = options.reuse_workers ? asked : 1;
  const bool chained = evaluator_.in_one_worker();
  const std::size_t trials = asked * shown.oracle->expand(shown.plan, evaluator_.spec()).size();
  const std::size_t in_chain = kTrialsOfAProcess / std::max<std::size_t>(trials, 1);
  budget.batch = chained ? std::max<std::size_t>(in_chain, 1)
                 : shop_.options.costs_workers(signature.kind)
                     ? std::min<std::size_t>(options.batch, 3)
                     : std::max<std::size_t>(options.batch / runs, 1);
  auto reduced = campaign::reduce(shown.plan, simplify,
                                  chained ? simplest_first(simplify, fails) : fails, budget);
  const bool simpler = shown.plan != reduced.plan;
  shown.plan = std::move(reduced.plan);
  const auto failed = std::find_if(failing_.begin(), failing_.end(),
                                   [&](const auto& seen) { return seen.first == shown.plan; });
  if (simpler && failed != failing_.end()) shown.answer = failed->second;
  finding_.reduction.end = reduced.end;
  finding_.reduction.plans += static_cast<std::int64_t>(reduced.evaluations);
  return simpler;
}

std::chrono::steady_clock::duration Reduction::used() const {
  const auto all = std::chrono::steady_clock::now() - begun_;
  if (!shop_.options.trial_time) return all;
  return all - evaluator_.asking() + shop_.options.trial_time() - trial_time_before_;
}

void Reduction::timed(const std::function<void()>& reduction) {
  const TriageOptions& options = shop_.options;
  const auto begun = used();
  until_ = begun + left_;
  // Running trials may finish, because their results are useful, but within one deadline.
  if (!options.trial_time)
    evaluator_.set_until(std::chrono::steady_clock::now() + left_ + options.deadline);
  const std::int64_t trials = evaluator_.trials();
  reduction();
  finding_.minimal = finding_.reduction.end == ReductionEnd::minimal;
  if (finding_.reduction.end == ReductionEnd::interrupted && options.interrupted &&
      !options.interrupted())
    finding_.reduction.end = ReductionEnd::time;
  const auto took = used() - begun;
  left_ -= std::min(left_, took);
  evaluator_.set_until(std::chrono::steady_clock::time_point::max());
  finding_.reduction.trials += evaluator_.trials() - trials;
  finding_.reduction.seconds += std::chrono::duration<double>(took).count();
}

std::vector<Plan> Reduction::plans_to_try_first(const Plan& plan, std::vector<Plan> known) const {
  const auto& smallest_seen = shop_.options.smallest_seen;
  auto seen = smallest_seen ? smallest_seen() : std::nullopt;
  if (!seen) return known;
  seen->mode = plan.mode;  // the mode in which the failure was named
  known.insert(known.begin(), *std::move(seen));
  return known;
}

// First reduces with the plan's own placement and data. The minimal plan is then tried in its other
// forms, which is expensive per candidate and finds the few smaller plans that the first pass
// missed. These forms include other schedules: a large plan may fail under each, and a smaller one,
// which has fewer chances to fail, only under some.
void Reduction::reduce(Shown& shown) {
  timed([&] {
    schedules_ = schedules_to_try(shown);
    const auto known = around_fault(shown);
    const Simplify simplify = with_first(
        shop_.simplify(evaluator_.spec()),
        [this, &known](const Plan& plan) { return plans_to_try_first(plan, known); },
        evaluator_.spec());
    const Variants as_it_is = [&](const Plan& plan) { return other_schedules(plan, schedules_); };
    const Variants in_other_forms = [&](const Plan& plan) {
      std::vector<Plan> forms = other_memory_and_data(plan);
      if (schedules_ > 0) return forms;  // as_it_is has varied the schedules
      for (auto& form : other_schedules(plan, schedules(plan)))
        if (form != plan) forms.push_back(std::move(form));
      return forms;
    };
    reduce_with(shown, simplify, as_it_is);
    while (finding_.reduction.end == ReductionEnd::minimal &&
           reduce_with(shown, simplify, in_other_forms))
      if (finding_.reduction.end == ReductionEnd::minimal) {
        schedules_ = schedules_to_try(shown);
        reduce_with(shown, simplify, as_it_is);
      }
  });
}

bool Reduction::reduce_once(Shown& shown, const Simplify& simplify) {
  bool simpler = false;
  timed([&] {
    simpler = reduce_with(shown, simplify,
                          [&](const Plan& plan) { return other_schedules(plan, schedules_); });
  });
  return simpler;
}

void Reduction::reduce_in_new_workers(Shown& shown) {
  evaluator_.set_reuse(shop_.options.in_new_workers());
  reduce_further(shown);
  evaluator_.set_reuse(exec::Reuse::none);
}

void Reduction::reduce_further(Shown& shown) {
  const Simplify simplify = shop_.simplify(evaluator_.spec());
  bool simpler = false;
  for (bool improved = true; improved && finding_.minimal; simpler = simpler || improved) {
    improved = may_try_calls_alone(shown) && reduce_once(shown, with_fewer_calls(simplify));
    evaluator_.set_in_one_worker(true);
    if (finding_.minimal) improved = reduce_once(shown, simplify) || improved;
    evaluator_.set_in_one_worker(false);
  }
  if (!simpler || !finding_.minimal) return;
  evaluator_.set_in_one_worker(true);
  reduce(shown);
  evaluator_.set_in_one_worker(false);
}

bool Reduction::may_try_calls_alone(const Shown& shown) const {
  const std::size_t calls = calls_of(shown.plan).size();
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  return calls > 1 && calls <= kCallsTriedAlone && always;
}

bool Reduction::reduce_between_canaries(Shown& shown) {
  const Signature signature = shown.answer.verdict.signature;
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  if (!shop_.options.costs_workers(signature.kind) || !shop_.options.canaries_help || !always ||
      finding_.needs_history)
    return false;
  evaluator_.set_reuse(exec::Reuse::any);
  evaluator_.set_wide_canaries(true);
  noting_others_ = false;  // another failure of this kind is the finding's own
  auto between = classify(shop_, evaluator_, {shown.plan}, false);
  const bool shows = between && !ends_trial(between->answer.verdict.signature.kind);
  if (shows) reduce(*between);
  evaluator_.set_wide_canaries(false);
  noting_others_ = true;
  finding_.minimal = false;
  bool again = false;
  if (shows && between->plan != shown.plan) {
    Answer answer = evaluator_.ask(*shown.oracle, between->plan);
    again = same_failure(answer, signature);
    if (again) shown = {shown.oracle, std::move(between->plan), std::move(answer)};
  }
  evaluator_.set_reuse(exec::Reuse::none);
  return again;
}

}  // namespace redzone::campaign
