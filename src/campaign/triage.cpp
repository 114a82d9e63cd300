#include "campaign/triage.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "campaign/attribution.h"
#include "campaign/history.h"
#include "statistics/sequential_test.h"

namespace redzone::campaign {
namespace {

using store::Finding;
using store::State;

Plan with_mode(Plan plan, Launch launch, Placement placement) {
  plan.mode.launch = launch;
  plan.mode.placement = placement;
  return plan;
}

// Each plan under every placement of guarded memory, which names what is accessed out of bounds,
// and in its own allocator where that is another (there a placement changes nothing), plainest
// launch first.
std::vector<Plan> direct_variants(const std::vector<Plan>& plans) {
  std::vector<Plan> variants;
  const auto add = [&](Plan plan) {
    if (std::find(variants.begin(), variants.end(), plan) == variants.end())
      variants.push_back(std::move(plan));
  };
  for (const auto& plan : plans)
    for (auto launch : {Launch::blocking, plan.mode.launch}) {
      Plan guarded = plan;
      guarded.mode = with_allocator(plan.mode, Allocator::guard);
      for (auto placement : {Placement::tail, Placement::head})
        add(with_mode(guarded, launch, placement));
      add(with_mode(plan, launch, plan.mode.placement));
    }
  return variants;
}

// Alone and side by side with others, of a failure that does not show always when it is alone.
constexpr int kLoadRuns = 16;

// What a smaller plan is tested with. What failed in every run is taken to fail in nearly all: then
// one pass is enough, and the measure of the reduced plan says whether that was right.
statistics::Rates rates_of(const store::Reliability& r) {
  constexpr double kMiss = 0.01;
  if (r.k >= r.n) return {1e-4, 0.99, 0.01, kMiss};
  return statistics::rates_for(std::max<std::int64_t>(r.k, 1), r.n, kMiss);
}

std::string fault_text(const Answer& answer) {
  for (const auto& o : answer.observations)
    if (o.fault) return o.fault->code + (o.fault->detail.empty() ? "" : ": " + o.fault->detail);
  return "";
}

State state_of(const store::Reliability& r) {
  if (r.k == 0) return State::unconfirmed;
  return r.k == r.n ? State::confirmed : State::flaky;
}

const Answer* first_failure(const Runs& runs, const Signature& signature) {
  for (const auto& a : runs.answers)
    if (a.verdict.failed() && same_bug(a.verdict.signature, signature)) return &a;
  return nullptr;
}

}  // namespace

Triage::Triage(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
               FindingSink& sink, TriageOptions options)
    : executor_(executor),
      catalog_(catalog),
      simplify_(std::move(simplify)),
      sink_(sink),
      options_(std::move(options)) {}

std::optional<Triage::Shown> Triage::best(Evaluator& evaluator, std::span<const Question> questions,
                                          bool first) {
  const std::size_t at_a_time = first ? 1 : questions.size();
  for (; first && questions.size() > at_a_time; questions = questions.subspan(at_a_time))
    if (auto shown = best(evaluator, questions.first(at_a_time), false)) return shown;
  auto answers = evaluator.ask(questions);
  std::optional<Shown> out;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Verdict& v = answers[i].verdict;
    if (!v.failed()) continue;
    if (out && out->answer.verdict.signature.kind <= v.signature.kind) continue;
    out = Shown{questions[i].oracle, questions[i].plan, std::move(answers[i])};
  }
  return out;
}

// Direct evidence (a fault, a canary) names the bug best, so it is looked for first, under every
// placement, plainest launch first. Only what shows none is compared along single axes.
std::optional<Triage::Shown> Triage::classify(Evaluator& evaluator, const std::vector<Plan>& plans,
                                              bool crashed) {
  const std::vector<Plan> variants = direct_variants(plans);
  std::vector<Question> direct;
  for (const auto& oracle : catalog_.direct())
    for (const auto& p : variants) direct.push_back({oracle.get(), p});
  // Each crash costs a worker, so one is enough where workers are dear.
  if (auto shown = best(evaluator, direct, crashed && options_.reuse_workers)) return shown;
  return compare(evaluator, plans);
}

// What fails in blocking trials has nothing to do with timing, and is named by what it shows there.
// Only what does not is a matter of what is still queued; and only where not even that is seen are
// the relaxed trials compared along the other axes, where a race can look like anything.
std::optional<Triage::Shown> Triage::compare(Evaluator& evaluator, const std::vector<Plan>& plans) {
  std::vector<Question> blocking, launches, relaxed;
  for (const auto& plan : plans) {
    const Plan waited = with_mode(plan, Launch::blocking, plan.mode.placement);
    for (const auto& oracle : catalog_.comparing()) {
      const Question ask{oracle.get(), waited};
      if (std::none_of(blocking.begin(), blocking.end(), [&](const Question& q) {
            return q.oracle == ask.oracle && q.plan == ask.plan;
          }))
        blocking.push_back(ask);
      if (plan.mode.launch == Launch::blocking) continue;
      (oracle->name() == "async" ? launches : relaxed).push_back({oracle.get(), plan});
    }
  }
  for (const auto* questions : {&blocking, &launches, &relaxed})
    if (auto shown = best(evaluator, *questions, false)) return shown;
  return std::nullopt;
}

std::optional<Triage::Shown> Triage::find_cause(Evaluator& evaluator, const Suspect& suspect,
                                                Finding& finding) {
  if (suspect.trials.empty()) {
    Shown shown{&catalog_.device_free(), suspect.plan, {}};
    shown.answer = evaluator.ask(*shown.oracle, shown.plan);
    if (shown.answer.verdict.failed()) return shown;
    return std::nullopt;
  }
  const FailKind seen = suspect.verdict.signature.kind;
  const bool crashed = seen <= FailKind::hang;
  std::vector<Plan> plans;
  // A trial under a tool is another one's native trial: its oracle puts the plan under the tool.
  for (const auto& trial : suspect.trials)
    if (trial.mode.sanitizer == SanitizerTool::none) plans.push_back(as_run(suspect.plan, trial));
  if (auto shown = classify(evaluator, plans, crashed)) return shown;
  Answer again = evaluator.ask(catalog_.screen(), suspect.plan);
  if (again.verdict.failed()) return Shown{&catalog_.screen(), suspect.plan, std::move(again)};
  if (!suspect.log || stopped()) return std::nullopt;
  std::vector<Plan> with;
  for (std::size_t i = 0; i < plans.size(); ++i)
    with.push_back(
        with_history(plans[i], *suspect.log, suspect.log_size, std::span(plans).subspan(0, i)));
  auto shown = classify(evaluator, with, crashed);
  finding.needs_history = shown.has_value();
  return shown;
}

// A race that shows under some schedules only would be lost with every step of the reduction, which
// changes what the scheduler does: then each smaller plan is tried under several of them.
std::size_t Triage::schedules_to_try(Evaluator& evaluator, const Shown& shown) {
  constexpr std::size_t kProbes = 3, kSchedules = 6;
  if (!options_.schedules) return 0;
  std::vector<Question> questions;
  for (std::uint64_t s = 0; s < kProbes; ++s) {
    questions.push_back({shown.oracle, shown.plan});
    questions.back().plan.mode.schedule_seed = s;
  }
  const auto answers = evaluator.ask(questions);
  const bool always = std::all_of(answers.begin(), answers.end(), [&](const Answer& a) {
    return a.verdict.failed() && same_bug(a.verdict.signature, shown.answer.verdict.signature);
  });
  return always ? 0 : kSchedules;
}

std::vector<bool> Triage::still_fails(Evaluator& evaluator, const Oracle& oracle,
                                      const Signature& signature,
                                      const store::Reliability& reliability, std::size_t schedules,
                                      std::span<Plan> plans) {
  const statistics::Rates rates = rates_of(reliability);
  std::vector<statistics::SequentialTest> tests(plans.size(), statistics::SequentialTest(rates));
  std::vector<bool> fails(plans.size(), false);
  struct Asked {
    std::size_t plan;
    bool other_schedule;
  };
  for (bool first = true;; first = false) {
    std::vector<Question> questions;
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (fails[i] || tests[i].decision() != statistics::Decision::open) continue;
      const auto times = std::clamp<std::int64_t>(tests[i].passes_to_go(), 1,
                                                  std::max<std::int64_t>(tests[i].n(), 2));
      questions.insert(questions.end(), static_cast<std::size_t>(times), {&oracle, plans[i]});
      asked.insert(asked.end(), static_cast<std::size_t>(times), {i, false});
      for (std::size_t s = 0; first && s < schedules; ++s) {
        questions.push_back({&oracle, plans[i]});
        questions.back().plan.mode.schedule_seed = s;
        asked.push_back({i, true});
      }
    }
    if (questions.empty() || (!first && stopped())) return fails;
    const auto answers = evaluator.ask(questions);
    for (std::size_t q = 0; q < answers.size(); ++q) {
      const Verdict& v = answers[q].verdict;
      const auto [i, other_schedule] = asked[q];
      const bool same = v.failed() && same_bug(v.signature, signature);
      // What cannot be judged is no failure, and asking again would not end.
      if (!other_schedule) tests[i].add(same);
      if (!same || fails[i]) continue;
      fails[i] = true;
      plans[i].mode.schedule_seed = questions[q].plan.mode.schedule_seed;
    }
  }
}

void Triage::reduce_shown(Evaluator& evaluator, Shown& shown, Finding& finding) {
  const Signature signature = shown.answer.verdict.signature;
  const std::size_t schedules = schedules_to_try(evaluator, shown);
  const auto first_runs = static_cast<std::size_t>(
      statistics::SequentialTest(rates_of(finding.reliability)).passes_to_go());
  const std::size_t asked = std::min<std::size_t>(first_runs, 16) + schedules;
  const StillFails fails = [&](std::span<Plan> plans) {
    return still_fails(evaluator, *shown.oracle, signature, finding.reliability, schedules, plans);
  };
  ReduceBudget budget;
  budget.evaluations = options_.reduce_evaluations;
  budget.until = reduce_until_;
  budget.stop = options_.stop;
  const bool costly = options_.reuse_workers && signature.kind <= FailKind::hang;
  // A batch is not interrupted, so where workers are dear it is as many runs as there are workers.
  const std::size_t runs = options_.reuse_workers ? asked : 1;
  budget.batch = costly ? std::min<std::size_t>(options_.parallel, 3)
                        : std::max<std::size_t>(options_.parallel / runs, 1);
  const auto begun = std::chrono::steady_clock::now();
  const std::int64_t trials = evaluator.trials();
  auto reduced = reduce(shown.plan, simplify_(evaluator.spec()), fails, budget);
  shown.plan = std::move(reduced.plan);
  finding.minimal = reduced.end == ReductionEnd::minimal;
  const bool time_over =
      reduced.end == ReductionEnd::interrupted && options_.interrupted && !options_.interrupted();
  finding.reduction.end = time_over ? ReductionEnd::time : reduced.end;
  finding.reduction.plans += static_cast<std::int64_t>(reduced.evaluations);
  finding.reduction.trials += evaluator.trials() - trials;
  finding.reduction.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

bool Triage::same_in_used_workers(Evaluator& evaluator, const Shown& shown,
                                  const Finding& finding) {
  if (!options_.reuse_workers || finding.needs_history) return false;
  evaluator.set_reuse(true);
  const auto runs = run_repeatedly(evaluator, *shown.oracle, shown.plan, finding.signature,
                                   options_.confirm_runs);
  evaluator.set_reuse(false);
  return state_of(runs.reliability) == finding.state;
}

// A small plan tells more than a large one: calls that hid each other's traces are gone from it.
// What was only a wrong number may now be seen to depend on the calls before.
void Triage::sharpen(Evaluator& evaluator, Shown& shown, Finding& finding) {
  const FailKind kind = shown.answer.verdict.signature.kind;
  if (kind <= FailKind::input_changed || stopped()) return;  // direct evidence says it all
  auto sharper = classify(evaluator, {shown.plan}, false);
  if (!sharper || sharper->answer.verdict.signature.kind >= kind) return;
  shown = std::move(*sharper);
  finding.signature = shown.answer.verdict.signature;
  finding.oracle = std::string(shown.oracle->name());
  reduce_shown(evaluator, shown, finding);
}

Result<void> Triage::settle_plan(Evaluator& evaluator, Shown shown, Finding& finding, bool rename) {
  const Shown unreduced = shown;
  const store::Reliability before = finding.reliability;
  finding.reduction = {};
  bool reuse = same_in_used_workers(evaluator, shown, finding);
  for (;;) {
    evaluator.set_reuse(reuse);
    reduce_shown(evaluator, shown, finding);
    if (rename) sharpen(evaluator, shown, finding);
    if (reuse && calls_of(shown.plan).size() > 1) {
      // A call that only outdid what other plans had left in the worker is not needed in a fresh
      // one.
      evaluator.set_reuse(false);
      reduce_shown(evaluator, shown, finding);
    }
    finding.plan = shown.plan;
    const bool taken_for_sure = finding.reliability.k >= finding.reliability.n;
    if (auto measured = measure(evaluator, *shown.oracle, finding); !measured) return measured;
    // Taken to fail always, and does not: a lucky pass may have ended the reduction.
    if (finding.state == State::flaky && taken_for_sure && !stopped()) continue;
    if (finding.state != State::unconfirmed) return {};
    // It was confirmed before: what the reduced plan no longer shows is not taken back.
    shown = unreduced;
    finding.signature = shown.answer.verdict.signature;
    finding.oracle = std::string(shown.oracle->name());
    finding.plan = shown.plan;
    finding.minimal = false;
    finding.reduction.end = ReductionEnd::taken_back;
    finding.reliability = {before.k, before.n + finding.reliability.n};
    finding.state = state_of(finding.reliability);
    // What was left of other plans may have misled the reduction.
    if (!std::exchange(reuse, false) || stopped()) return {};
  }
}

void Triage::find_culprits(const Answer& failure, Finding& finding) {
  finding.culprits.clear();
  std::size_t shows = 0;  // the trial that shows it
  for (std::size_t t = 0; t < failure.observations.size(); ++t) {
    const auto& fault = failure.observations[t].fault;
    if (!fault) continue;
    shows = t;
    if (!fault->known_by.empty())
      finding.culprits.push_back({fault->known_by,
                                  fault->call,
                                  fault->kernel,
                                  fault->access,
                                  fault->buffer,
                                  fault->side,
                                  {},
                                  fault->detail});
    break;
  }
  if (failure.trials.empty() || stopped()) return;
  for (auto* attributor : options_.attributors)
    for (auto& said : attributor->attribute(finding.plan, failure.trials[shows], finding.signature))
      finding.culprits.push_back(std::move(said));
}

Result<void> Triage::measure(Evaluator& evaluator, const Oracle& oracle, Finding& finding) {
  const bool slow = finding.signature.kind == FailKind::hang;
  evaluator.set_deadline(options_.deadline);
  evaluator.set_reuse(false);
  const auto runs = run_until_known(evaluator, oracle, finding.plan, finding.signature,
                                    slow ? options_.confirm_runs : options_.final_runs,
                                    slow ? options_.final_runs : options_.most_runs);
  if (runs.reliability.n == 0) return {};  // interrupted: what is known already stays
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  const Answer* failure = first_failure(runs, finding.signature);
  if (failure == nullptr) return {};
  finding.signature = failure->verdict.signature;
  finding.reason = failure->verdict.reason;
  finding.fault_detail = fault_text(*failure);
  if (auto stored = sink_.evidence(finding.id, "final", finding.plan, *failure); !stored)
    return stored;
  find_culprits(*failure, finding);
  if (stopped() || options_.attribution_runs == 0) return {};
  if (slow) evaluator.set_deadline(options_.hang_deadline);
  evaluator.set_reuse(options_.reuse_workers && !finding.needs_history);
  finding.attribution = attribute(evaluator, oracle, finding.plan, finding.signature,
                                  slow ? 1 : options_.attribution_runs);
  if (slow || options_.parallel < 2 || stopped()) return {};
  // The trials of a question one after another, or a single question would be load enough.
  evaluator.set_grouped(true);
  auto load = attribute_load(evaluator, oracle, finding.plan, finding.signature, kLoadRuns,
                             options_.attribution_runs, options_.parallel);
  std::move(load.begin(), load.end(), std::back_inserter(finding.attribution));
  evaluator.set_grouped(options_.reuse_workers);
  return {};
}

Result<Triage::Settled> Triage::run(Finding finding, const Suspect& suspect,
                                    const TargetSpec& spec) {
  reduce_until_ = std::chrono::steady_clock::now() + options_.reduce_time;
  // A hang that is none, only slow, is found out by measure(), which waits for the full deadline.
  const bool hang = suspect.verdict.signature.kind == FailKind::hang;
  Evaluator evaluator(executor_, spec, hang ? options_.hang_deadline : options_.deadline);
  evaluator.set_grouped(options_.reuse_workers);
  evaluator.set_reuse(options_.reuse_workers);
  auto shown = find_cause(evaluator, suspect, finding);
  evaluator.set_reuse(false);
  if (!shown && options_.reuse_workers) {
    evaluator.set_grouped(false);
    shown = find_cause(evaluator, suspect, finding);
  }
  if (!shown) {
    // Interrupted before it could be confirmed, it stays a suspect.
    finding.state = stopped() ? State::suspect : State::unconfirmed;
    auto stored = sink_.update(finding);
    if (!stored) return tl::unexpected(stored.error());
    return Settled{finding, stored->is_new};
  }

  finding.signature = shown->answer.verdict.signature;
  const auto runs =
      run_until_known(evaluator, *shown->oracle, shown->plan, finding.signature,
                      options_.confirm_runs, hang ? options_.confirm_runs : options_.most_runs);
  finding.reliability = {runs.reliability.k + 1, runs.reliability.n + 1};
  finding.state = state_of(finding.reliability);
  finding.reason = shown->answer.verdict.reason;
  finding.oracle = std::string(shown->oracle->name());
  finding.plan = shown->plan;
  finding.fault_detail = fault_text(shown->answer);
  const bool settled = sink_.settled(finding.signature);
  auto stored = sink_.update(finding);
  if (!stored) return tl::unexpected(stored.error());
  finding.id = stored->id;
  const bool is_new = stored->is_new;
  if (settled || stopped()) return Settled{finding, is_new};
  if (auto e = sink_.evidence(finding.id, "confirm", finding.plan, shown->answer); !e)
    return tl::unexpected(e.error());

  if (auto done = settle_plan(evaluator, *shown, finding, true); !done)
    return tl::unexpected(done.error());
  stored = sink_.update(finding);
  if (!stored) return tl::unexpected(stored.error());
  const bool merged = std::exchange(finding.id, stored->id) != stored->id;
  return Settled{finding, merged ? stored->is_new : is_new};
}

Result<Finding> Triage::reduce_again(Finding finding, const TargetSpec& spec) {
  reduce_until_ = std::chrono::steady_clock::now() + options_.reduce_time;
  const Oracle* oracle = catalog_.find(finding.oracle);
  if (oracle == nullptr) return harness_error("no oracle '" + finding.oracle + "' in this build");
  Evaluator evaluator(executor_, spec, options_.deadline);
  const auto runs = run_until_known(
      evaluator, *oracle, finding.plan, finding.signature, options_.confirm_runs,
      finding.signature.kind == FailKind::hang ? options_.confirm_runs : options_.most_runs);
  if (runs.reliability.n == 0)
    return harness_error("no run could be judged: " + (runs.answers.empty()
                                                           ? std::string("interrupted")
                                                           : runs.answers.front().verdict.reason));
  const bool rename = finding.state == State::suspect || finding.state == State::unconfirmed;
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  if (const Answer* failure = first_failure(runs, finding.signature)) {
    Shown shown{oracle, finding.plan, *failure};
    if (finding.signature.kind == FailKind::hang) evaluator.set_deadline(options_.hang_deadline);
    if (auto done = settle_plan(evaluator, std::move(shown), finding, rename); !done)
      return tl::unexpected(done.error());
  }
  auto stored = sink_.update(finding);
  if (!stored) return tl::unexpected(stored.error());
  finding.id = stored->id;
  return finding;
}

}  // namespace redzone::campaign
