// Reduces a confirmed finding, sharpens its name and measures it.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "campaign/confirmation.h"
#include "campaign/naming.h"
#include "campaign/plan_variants.h"
#include "campaign/run_judgement.h"
#include "statistics/sequential_test.h"

namespace redzone::campaign {
namespace {

// Failure rates by which smaller plans are tested. A plan that failed in every run is assumed to
// fail in nearly all: then one pass is enough, and the measurement of the reduced plan verifies
// that.
statistics::Rates rates_of(const Reliability& r) {
  constexpr double kMiss = 0.01;
  if (r.k >= r.n) return {1e-4, 0.99, 0.01, kMiss};
  return statistics::rates_for(std::max<std::int64_t>(r.k, 1), r.n, kMiss);
}

// Trials of simpler plans that one fresh process runs, one after the other: together they take
// about as long as the process to start, and other findings wait for it meanwhile.
constexpr std::size_t kTrialsOfAProcess = 64;

// A plan of more calls has many plans with fewer, and one that fails seldom is run many times.
constexpr std::size_t kCallsTriedAlone = 3;

// Has `fails` judge the plans in the order of their complexity, the simplest first.
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

// The candidates that make fewer calls than the plan.
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

class Refinement {
 public:
  Refinement(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time)
      : shop_(shop),
        case_(c),
        finding_(c.finding),
        evaluator_(shop.evaluator(c.finding.signature.kind == FailKind::hang
                                      ? shop.options.hang_deadline
                                      : shop.options.deadline)),
        reduce_left_(reduce_time) {
    evaluator_.set_grouped(c.grouped);
    evaluator_.set_one_queue(c.one_queue);
    if (shop.options.trial_time) trial_time_before_ = shop.options.trial_time();
  }

  // Reduces and measures the failing plan, in used workers as long as a fresh one agrees in the
  // end. `rename`: the signature may change to a more specific kind that the reduced plan shows.
  Result<void> run(bool rename);

 private:
  // Variants of a plan to try besides the plan itself.
  using Variants = std::function<std::vector<Plan>(const Plan& plan)>;

  // True if used workers show the failure as fresh ones do.
  bool same_in_used_workers(const Shown& shown);
  // Where a fault costs a worker that starts slowly: reduces the plan in used workers with wide
  // canaries, between which most accesses out of bounds cost nothing, by whatever failure shows
  // there. The result counts only if it still fails as the finding does, between guard pages; then
  // true.
  bool reduce_between_canaries(Shown& shown);
  // Number of schedules under which each smaller plan is tried, besides its own.
  std::size_t schedules_to_try(const Shown& shown);
  bool reduce_with(Shown& shown, const Simplify& simplify, const Variants& variants);
  // What this refinement has used so far; see TriageOptions::trial_time.
  std::chrono::steady_clock::duration used() const;
  // Runs a reduction within the time that is left, and adds what it took to the finding.
  void timed(const std::function<void()>& reduction);
  void reduce_shown(Shown& shown);
  // Asks fresh processes about the plans that are simpler than a minimal one: what other plans left
  // in used workers may have hidden that one of them fails. Each plan with fewer calls has a
  // process of its own, because often a call is needed only to overcome what was left, if they are
  // few and the failure shows in every run; many others
  // share one, the simplest first, so that each follows none but simpler plans.
  void reduce_in_fresh_processes(Shown& shown);
  bool may_try_calls_alone(const Shown& shown) const;
  // True if the plan became simpler.
  bool reduce_once(Shown& shown, const Simplify& simplify);
  // For each plan whether it fails with `signature`, by as many runs as are needed to accept a
  // pass, given how reliably the finding fails. A plan that fails only in a variant is replaced by
  // that variant. Plans that are undecided when the time for reducing is over are not judged.
  std::vector<Tried> still_fails(const Oracle& oracle, const Signature& signature,
                                 const Variants& variants, std::span<Plan> plans);
  // Switches to the most specific oracle that fails on the reduced plan.
  void sharpen(Shown& shown);
  // Measures how often finding.plan fails, at the full deadline. False: no run could be judged, and
  // nothing has changed. `reuse`: used workers show what fresh ones do, so only some of the runs
  // use fresh workers, to verify that.
  Result<bool> measure(Shown& shown, bool reuse);

  // Whether each failure of this kind costs a worker that starts slowly.
  bool costs_workers(FailKind kind) const {
    return shop_.options.reuse_workers && ends_trial(kind) && kind != FailKind::hang;
  }

  const Workshop& shop_;
  Case& case_;
  Finding& finding_;
  Evaluator evaluator_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::microseconds trial_time_before_{0};  // TriageOptions::trial_time when it began
  std::size_t schedules_ = 0;                       // schedules_to_try() of the last reduce_shown()
  bool noting_others_ = true;                       // other failures that are met become suspects
  std::chrono::steady_clock::duration reduce_left_;
  std::chrono::steady_clock::duration reduce_until_{
      0};  // used() at the end of the current reduction
};

// Each step of the reduction changes what the scheduler does, so a race that shows only under some
// schedules would be lost: then each smaller plan is tried under several schedules.
std::size_t Refinement::schedules_to_try(const Shown& shown) {
  constexpr std::size_t kProbes = 3, kSchedules = 6;
  if (find_mode_axis(shop_.catalog.axes(), axis::kSchedule) == nullptr) return 0;
  std::vector<Question> questions;
  for (std::uint64_t s = 0; s < kProbes; ++s) {
    questions.push_back({shown.oracle, shown.plan});
    questions.back().plan.mode.schedule_seed = s;
  }
  const auto answers = evaluator_.ask(questions);
  const bool always = std::all_of(answers.begin(), answers.end(), [&](const Answer& a) {
    return same_failure(a, shown.answer.verdict.signature);
  });
  return always ? 0 : kSchedules;
}

// The outcome of one run of a plan that is simpler than one that fails with `signature`. If the
// oracle does not apply, the plan cannot fail this way. The reference is an exception: it applies
// to every call with outputs, but reports "not applicable" if it compared none of them.
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

std::vector<Tried> Refinement::still_fails(const Oracle& oracle, const Signature& signature,
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
    const bool over = shop_.options.stopped() || used() >= reduce_until_;
    if (questions.empty()) return results;
    if (!first && over) {
      for (std::size_t i = 0; i < plans.size(); ++i)
        if (is_open(i)) results[i] = Tried::not_judged;
      return results;
    }
    const auto answers = evaluator_.ask(questions);
    for (std::size_t q = 0; q < answers.size(); ++q) {
      if (noting_others_) note_other(case_, questions[q], answers[q], signature);
      const auto [i, variant] = asked[q];
      const Tried run = tried(questions[q].plan, answers[q], signature);
      if (!variant && run != Tried::not_judged) tests[i].add(run == Tried::fails);
      // A run that could not be judged is not repeated, because that might not end.
      if (run == Tried::passes || results[i] == Tried::fails) continue;
      results[i] = run;
      if (run == Tried::fails) plans[i] = questions[q].plan;
    }
  }
}

// Reduces the plan by the candidates of `simplify`, each of which is also tried in its variants;
// true if that made it simpler. For use within timed().
bool Refinement::reduce_with(Shown& shown, const Simplify& simplify, const Variants& variants) {
  const TriageOptions& options = shop_.options;
  const Signature signature = shown.answer.verdict.signature;
  const StillFails fails = [&](std::span<Plan> plans) {
    return still_fails(*shown.oracle, signature, variants, plans);
  };
  ReduceBudget budget;
  const auto tried = static_cast<std::size_t>(finding_.reduction.plans);
  budget.evaluations = options.reduce_evaluations - std::min(options.reduce_evaluations, tried);
  budget.time_is_up = [this] { return used() >= reduce_until_; };
  budget.stop = options.stop;
  budget.spec_calls = options.spec_calls;
  // A batch is not interrupted, so if workers start slowly it has as many runs as are run together.
  const auto first_runs = static_cast<std::size_t>(
      statistics::SequentialTest(rates_of(finding_.reliability)).passes_to_go());
  const std::size_t asked = std::min<std::size_t>(first_runs, 16) + variants(shown.plan).size();
  const std::size_t runs = options.reuse_workers ? asked : 1;
  const bool chained = evaluator_.in_one_worker();
  const std::size_t trials = asked * shown.oracle->expand(shown.plan, evaluator_.spec()).size();
  const std::size_t in_chain = kTrialsOfAProcess / std::max<std::size_t>(trials, 1);
  budget.batch = chained                         ? std::max<std::size_t>(in_chain, 1)
                 : costs_workers(signature.kind) ? std::min<std::size_t>(options.batch, 3)
                                                 : std::max<std::size_t>(options.batch / runs, 1);
  auto reduced =
      reduce(shown.plan, simplify, chained ? simplest_first(simplify, fails) : fails, budget);
  const bool simpler = shown.plan != reduced.plan;
  shown.plan = std::move(reduced.plan);
  finding_.reduction.end = reduced.end;
  finding_.reduction.plans += static_cast<std::int64_t>(reduced.evaluations);
  return simpler;
}

std::chrono::steady_clock::duration Refinement::used() const {
  const auto all = std::chrono::steady_clock::now() - begun_;
  if (!shop_.options.trial_time) return all;
  return all - evaluator_.asking() + shop_.options.trial_time() - trial_time_before_;
}

void Refinement::timed(const std::function<void()>& reduction) {
  const TriageOptions& options = shop_.options;
  const auto begun = used();
  reduce_until_ = begun + reduce_left_;
  // Running trials may finish, because their results are useful, but within one deadline.
  if (!options.trial_time)
    evaluator_.set_until(std::chrono::steady_clock::now() + reduce_left_ + options.deadline);
  const std::int64_t trials = evaluator_.trials();
  reduction();
  finding_.minimal = finding_.reduction.end == ReductionEnd::minimal;
  if (finding_.reduction.end == ReductionEnd::interrupted && options.interrupted &&
      !options.interrupted())
    finding_.reduction.end = ReductionEnd::time;
  const auto took = used() - begun;
  reduce_left_ -= std::min(reduce_left_, took);
  evaluator_.set_until(std::chrono::steady_clock::time_point::max());
  finding_.reduction.trials += evaluator_.trials() - trials;
  finding_.reduction.seconds += std::chrono::duration<double>(took).count();
}

// First with the plan's own placement and data; the minimal plan is then tried in its other forms,
// which is expensive per candidate and finds the few that the first pass missed.
void Refinement::reduce_shown(Shown& shown) {
  timed([&] {
    schedules_ = schedules_to_try(shown);
    const Simplify simplify = shop_.simplify(evaluator_.spec());
    const Variants as_it_is = [&](const Plan& plan) { return other_schedules(plan, schedules_); };
    reduce_with(shown, simplify, as_it_is);
    while (finding_.reduction.end == ReductionEnd::minimal &&
           reduce_with(shown, simplify, other_memory_and_data))
      if (finding_.reduction.end == ReductionEnd::minimal) reduce_with(shown, simplify, as_it_is);
  });
}

bool Refinement::reduce_once(Shown& shown, const Simplify& simplify) {
  bool simpler = false;
  timed([&] {
    simpler = reduce_with(shown, simplify,
                          [&](const Plan& plan) { return other_schedules(plan, schedules_); });
  });
  return simpler;
}

void Refinement::reduce_in_fresh_processes(Shown& shown) {
  const Simplify simplify = shop_.simplify(evaluator_.spec());
  evaluator_.set_reuse(false);
  bool simpler = false;
  for (bool improved = true; improved && finding_.minimal; simpler = simpler || improved) {
    improved = may_try_calls_alone(shown) && reduce_once(shown, with_fewer_calls(simplify));
    evaluator_.set_in_one_worker(true);
    if (finding_.minimal) improved = reduce_once(shown, simplify) || improved;
    evaluator_.set_in_one_worker(false);
  }
  if (!simpler || !finding_.minimal) return;
  evaluator_.set_in_one_worker(true);
  reduce_shown(shown);
  evaluator_.set_in_one_worker(false);
}

bool Refinement::may_try_calls_alone(const Shown& shown) const {
  const std::size_t calls = calls_of(shown.plan).size();
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  return calls > 1 && calls <= kCallsTriedAlone && always;
}

bool Refinement::same_in_used_workers(const Shown& shown) {
  if (!shop_.options.reuse_workers || finding_.needs_history) return false;
  evaluator_.set_reuse(true);
  const auto runs = run_repeatedly(evaluator_, *shown.oracle, shown.plan, finding_.signature,
                                   shop_.options.confirm_runs);
  evaluator_.set_reuse(false);
  return state_of(runs.reliability) == finding_.state;
}

bool Refinement::reduce_between_canaries(Shown& shown) {
  const Signature signature = shown.answer.verdict.signature;
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  if (!costs_workers(signature.kind) || !always || finding_.needs_history) return false;
  evaluator_.set_reuse(true);
  evaluator_.set_wide_canaries(true);
  noting_others_ = false;  // another failure of this kind is the finding's own
  auto between = classify(shop_, evaluator_, {shown.plan}, false);
  const bool shows = between && !ends_trial(between->answer.verdict.signature.kind);
  if (shows) reduce_shown(*between);
  evaluator_.set_wide_canaries(false);
  noting_others_ = true;
  finding_.minimal = false;
  bool again = false;
  if (shows && between->plan != shown.plan) {
    Answer answer = evaluator_.ask(*shown.oracle, between->plan);
    again = same_failure(answer, signature);
    if (again) shown = {shown.oracle, std::move(between->plan), std::move(answer)};
  }
  evaluator_.set_reuse(false);
  return again;
}

// A small plan shows more than a large one, because it lacks calls that hid each other's effects.
// What was only a wrong number may now prove to depend on earlier calls.
void Refinement::sharpen(Shown& shown) {
  const FailKind kind = shown.answer.verdict.signature.kind;
  if (is_direct(kind) || shop_.options.stopped()) return;  // direct evidence says it all
  // The dependence on launches was tested. In relaxed trials such a failure is intermittent and
  // looks like any other difference: only failures in blocking trials are more specific.
  auto sharper = classify(shop_, evaluator_, {shown.plan}, false, kind == FailKind::async);
  if (!sharper || !more_specific(sharper->answer.verdict.signature.kind, kind)) return;
  shown = std::move(*sharper);
  finding_.signature = shown.answer.verdict.signature;
  finding_.oracle = std::string(shown.oracle->name());
  reduce_shown(shown);
}

Result<bool> Refinement::measure(Shown& shown, bool reuse) {
  const TriageOptions& options = shop_.options;
  evaluator_.set_deadline(options.deadline);
  evaluator_.set_reuse(false);
  // A replay of the finding has several queues.
  evaluator_.set_one_queue(false);
  const bool slow = finding_.signature.kind == FailKind::hang;
  const bool always = finding_.reliability.k >= finding_.reliability.n;
  const bool few = slow || options.stopped();
  const bool each_costs_a_worker = options.reuse_workers && !reuse;
  const int often = costs_workers(finding_.signature.kind) || each_costs_a_worker
                        ? std::min(options.final_runs, options.confirm_runs + 1)
                        : options.final_runs;
  const int times = few ? options.confirm_runs : always ? often : options.most_runs;
  const int fresh = reuse ? std::min(options.confirm_runs, times) : times;
  Runs runs = run_repeatedly(evaluator_, *shown.oracle, finding_.plan, finding_.signature, fresh);
  if (runs.reliability.k > 0 && fresh < times) {
    evaluator_.set_reuse(true);
    runs +=
        run_repeatedly(evaluator_, *shown.oracle, finding_.plan, finding_.signature, times - fresh);
    evaluator_.set_reuse(false);
  }
  if (slow) evaluator_.set_deadline(options.hang_deadline);
  evaluator_.set_one_queue(case_.one_queue);
  if (runs.reliability.n == 0) return false;
  finding_.reliability = runs.reliability;
  finding_.state = state_of(runs.reliability);
  const Answer* failure = first_failure(runs, finding_.signature);
  if (failure == nullptr) return true;
  finding_.signature = failure->verdict.signature;
  finding_.reason = failure->verdict.reason;
  finding_.fault_detail = fault_text(*failure);
  shown.answer = *failure;
  RZ_TRY(shop_.sink.evidence(finding_.id, "final", finding_.plan, *failure));
  return true;
}

Result<void> Refinement::run(bool rename) {
  Shown& shown = *case_.shown;
  const Shown unreduced = shown;
  Reliability before = finding_.reliability;
  finding_.reduction = {};
  bool reuse = reduce_between_canaries(shown) || same_in_used_workers(shown);
  for (;;) {
    evaluator_.set_reuse(reuse);
    reduce_shown(shown);
    if (rename) sharpen(shown);
    if (reuse && finding_.minimal) reduce_in_fresh_processes(shown);
    finding_.plan = shown.plan;
    const bool taken_for_sure = finding_.reliability.k >= finding_.reliability.n;
    RZ_TRY_ASSIGN(const auto measured, measure(shown, reuse));
    // Assumed to fail always, but it does not: a lucky pass may have ended the reduction.
    const bool stopped = shop_.options.stopped();
    if (measured && finding_.state == FindingState::flaky && taken_for_sure && !stopped) continue;
    const bool as_it_was = !measured && shown.plan == unreduced.plan;
    if (as_it_was || (measured && finding_.state != FindingState::unconfirmed)) return {};
    // The finding was confirmed before. The reduced plan no longer fails, or was not run, so the
    // finding keeps the unreduced one. If that is what was measured, its runs count.
    const bool same_question =
        shown.plan == unreduced.plan && finding_.signature == unreduced.answer.verdict.signature;
    if (measured && same_question) before.n += finding_.reliability.n;
    shown = unreduced;
    finding_.signature = shown.answer.verdict.signature;
    finding_.oracle = std::string(shown.oracle->name());
    finding_.plan = shown.plan;
    finding_.minimal = false;
    finding_.reduction.end = measured ? ReductionEnd::taken_back : ReductionEnd::interrupted;
    finding_.reliability = before;  // of this plan; the counts of another one do not apply
    finding_.state = state_of(before);
    // State left by other plans may have misled the reduction.
    if (!std::exchange(reuse, false) || stopped) return {};
  }
}

}  // namespace

Result<void> refine(const Workshop& shop, Case& c, std::chrono::milliseconds reduce_time,
                    Naming naming) {
  RZ_TRY(Refinement(shop, c, reduce_time).run(naming == Naming::may_sharpen));
  RZ_TRY_ASSIGN(auto stored, shop.sink.update(c.finding));
  // Merged into another finding: it is as new as that one.
  if (std::exchange(c.finding.id, stored.id) != stored.id) c.is_new = stored.is_new;
  drop_if_same(c);
  return {};
}

}  // namespace redzone::campaign
