#include "campaign/triage.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "campaign/attribution.h"
#include "campaign/axis_test.h"
#include "campaign/history.h"
#include "campaign/plan_variants.h"
#include "statistics/sequential_test.h"

namespace redzone::campaign {
namespace {

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

// Of a value of an axis that does not fail each time. Against a finding that failed in 7 of 7 runs,
// 0 of 6 is enough to say that it needs another value (report/needs.h).
constexpr int kAxisRuns = 6;

// What a smaller plan is tested with. What failed in every run is taken to fail in nearly all: then
// one pass is enough, and the measure of the reduced plan says whether that was right.
statistics::Rates rates_of(const Reliability& r) {
  constexpr double kMiss = 0.01;
  if (r.k >= r.n) return {1e-4, 0.99, 0.01, kMiss};
  return statistics::rates_for(std::max<std::int64_t>(r.k, 1), r.n, kMiss);
}

std::string fault_text(const Answer& answer) {
  for (const auto& o : answer.observations)
    if (o.fault) return o.fault->code + (o.fault->detail.empty() ? "" : ": " + o.fault->detail);
  return "";
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

Evaluator Triage::evaluator_for(const TargetSpec& spec, std::chrono::milliseconds deadline) {
  return {executor_, spec, deadline, options_.cut_off};
}

std::vector<Triage::Shown> Triage::failures(Evaluator& evaluator,
                                            std::span<const Question> questions, bool first) {
  std::vector<Shown> out;
  const std::size_t at_a_time = first ? 1 : questions.size();
  while (!questions.empty() && (!first || out.empty())) {
    const auto now = questions.first(at_a_time);
    questions = questions.subspan(at_a_time);
    auto answers = evaluator.ask(now);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i].verdict.failed())
        out.push_back({now[i].oracle, now[i].plan, std::move(answers[i])});
  }
  std::stable_sort(out.begin(), out.end(), [](const Shown& a, const Shown& b) {
    return more_specific(a.answer.verdict.signature.kind, b.answer.verdict.signature.kind);
  });
  return out;
}

// Direct evidence (a fault, a canary) names the bug best, so it is looked for first, under every
// placement, plainest launch first. Only what shows none is compared along single axes.
std::optional<Triage::Shown> Triage::classify(Evaluator& evaluator, const std::vector<Plan>& plans,
                                              bool crashed, bool blocking_only) {
  const std::vector<Plan> variants = direct_variants(plans);
  std::vector<Question> direct;
  for (const auto& oracle : catalog_.direct())
    for (const auto& p : variants) direct.push_back({oracle.get(), p});
  // Each crash costs a worker, so one is enough where workers are dear.
  auto shown = failures(evaluator, direct, crashed && options_.reuse_workers);
  if (!shown.empty()) return std::move(shown.front());
  return compare(evaluator, plans, blocking_only);
}

// What fails in blocking trials has nothing to do with timing, and is named by what it shows there.
// Only what does not is a matter of what is still queued; and only where not even that is seen are
// the relaxed trials compared along the other axes, where a race can look like anything.
std::optional<Triage::Shown> Triage::compare(Evaluator& evaluator, const std::vector<Plan>& plans,
                                             bool blocking_only) {
  std::vector<Question> blocking, launches, relaxed;
  for (const auto& plan : plans) {
    const Plan waited = with_mode(plan, Launch::blocking, plan.mode.placement);
    for (const auto& oracle : catalog_.comparing()) {
      const Question ask{oracle.get(), waited};
      if (std::none_of(blocking.begin(), blocking.end(), [&](const Question& q) {
            return q.oracle == ask.oracle && q.plan == ask.plan;
          }))
        blocking.push_back(ask);
      if (blocking_only || plan.mode.launch == Launch::blocking) continue;
      (oracle->name() == "async" ? launches : relaxed).push_back({oracle.get(), plan});
    }
  }
  for (const auto* questions : {&blocking, &launches, &relaxed}) {
    auto shown = failures(evaluator, *questions, false);
    if (shown.empty()) continue;
    if (auto named = name(evaluator, std::move(shown), catalog_.comparing().size())) return named;
  }
  return std::nullopt;
}

std::optional<Triage::Shown> Triage::differing_runs(Evaluator& evaluator, const Plan& plan) {
  constexpr int kTimes = 8;
  const Oracle* repetition = catalog_.find("repetition");
  if (repetition == nullptr) return std::nullopt;
  const std::vector<Question> questions(kTimes, {repetition, plan});
  auto shown = failures(evaluator, questions, false);
  return shown.empty() ? std::nullopt : std::optional(std::move(shown.front()));
}

// A setting is named where the failure was shown to depend on it. Else it may be that equal runs
// differ, which explains whatever was seen; else what a single trial shows, a wrong output.
std::optional<Triage::Shown> Triage::name(Evaluator& evaluator, std::vector<Shown> failures,
                                          std::size_t compared) {
  std::vector<AxisCandidate> candidates;
  std::vector<std::size_t> index;  // of the candidates in `failures`
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const Shown& f = failures[i];
    if (f.answer.verdict.signature.kind == FailKind::nondeterministic)
      return std::move(failures[i]);
    if (f.oracle->unvaried(f.plan, evaluator.spec()).empty()) continue;
    candidates.push_back({f.oracle, f.plan});
    index.push_back(i);
  }
  const AxisTest test = test_axes(evaluator, candidates, compared, options_.reuse_workers);
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (test.depends[c]) return std::move(failures[index[c]]);
  if (stopped()) return std::nullopt;
  const bool random = test.differs_unvaried || index.size() < failures.size();
  if (random)
    if (auto differing = differing_runs(evaluator, failures.front().plan)) return differing;
  for (auto& f : failures)
    if (f.oracle->unvaried(f.plan, evaluator.spec()).empty()) return std::move(f);
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
  const bool crashed = ends_trial(seen);
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
                                      const Signature& signature, const Reliability& reliability,
                                      const Variants& variants, std::span<Plan> plans) {
  const statistics::Rates rates = rates_of(reliability);
  std::vector<statistics::SequentialTest> tests(plans.size(), statistics::SequentialTest(rates));
  std::vector<bool> fails(plans.size(), false);
  struct Asked {
    std::size_t plan;
    bool variant;
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
      if (!first) continue;
      for (auto& variant : variants(plans[i])) {
        questions.push_back({&oracle, std::move(variant)});
        asked.push_back({i, true});
      }
    }
    if (questions.empty() || (!first && stopped())) return fails;
    const auto answers = evaluator.ask(questions);
    for (std::size_t q = 0; q < answers.size(); ++q) {
      const Verdict& v = answers[q].verdict;
      note_other(questions[q], answers[q], signature);
      const auto [i, variant] = asked[q];
      const bool same = v.failed() && same_bug(v.signature, signature);
      // What cannot be judged is no failure, and asking again would not end.
      if (!variant) tests[i].add(same);
      if (!same || fails[i]) continue;
      fails[i] = true;
      plans[i] = questions[q].plan;
    }
  }
}

// First with the plan's own placement and data; what is then minimal is tried in its other forms,
// which is dear for each candidate and finds the few that the first way has missed.
void Triage::reduce_shown(Evaluator& evaluator, Shown& shown, Finding& finding) {
  const Signature signature = shown.answer.verdict.signature;
  const std::size_t schedules = schedules_to_try(evaluator, shown);
  const auto first_runs = static_cast<std::size_t>(
      statistics::SequentialTest(rates_of(finding.reliability)).passes_to_go());
  const auto begun = std::chrono::steady_clock::now();
  const auto until = begun + reduce_left_;
  const std::int64_t trials = evaluator.trials();
  const bool costly = options_.reuse_workers && ends_trial(signature.kind);
  const auto reduce_with = [&](const Variants& variants) {
    const StillFails fails = [&](std::span<Plan> plans) {
      return still_fails(evaluator, *shown.oracle, signature, finding.reliability, variants, plans);
    };
    ReduceBudget budget;
    const auto tried = static_cast<std::size_t>(finding.reduction.plans);
    budget.evaluations = options_.reduce_evaluations - std::min(options_.reduce_evaluations, tried);
    budget.until = until;
    budget.stop = options_.stop;
    // A batch is not interrupted, so where workers are dear it is as many runs as there are
    // workers.
    const std::size_t asked = std::min<std::size_t>(first_runs, 16) + variants(shown.plan).size();
    const std::size_t runs = options_.reuse_workers ? asked : 1;
    budget.batch = costly ? std::min<std::size_t>(options_.parallel, 3)
                          : std::max<std::size_t>(options_.parallel / runs, 1);
    auto reduced = reduce(shown.plan, simplify_(evaluator.spec()), fails, budget);
    const bool simpler = shown.plan != reduced.plan;
    shown.plan = std::move(reduced.plan);
    finding.reduction.end = reduced.end;
    finding.reduction.plans += static_cast<std::int64_t>(reduced.evaluations);
    return simpler;
  };
  const Variants as_it_is = [&](const Plan& plan) { return other_schedules(plan, schedules); };
  reduce_with(as_it_is);
  while (finding.reduction.end == ReductionEnd::minimal && reduce_with(other_memory_and_data))
    if (finding.reduction.end == ReductionEnd::minimal) reduce_with(as_it_is);
  finding.minimal = finding.reduction.end == ReductionEnd::minimal;
  if (finding.reduction.end == ReductionEnd::interrupted && options_.interrupted &&
      !options_.interrupted())
    finding.reduction.end = ReductionEnd::time;
  const auto took = std::chrono::steady_clock::now() - begun;
  reduce_left_ -=
      std::min(reduce_left_, std::chrono::duration_cast<std::chrono::milliseconds>(took));
  finding.reduction.trials += evaluator.trials() - trials;
  finding.reduction.seconds += std::chrono::duration<double>(took).count();
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
  if (is_direct(kind) || stopped()) return;  // direct evidence says it all
  // A dependence on launches was tested. In relaxed trials such a failure comes and goes, and looks
  // like any other difference: only what blocking trials show is sharper.
  auto sharper = classify(evaluator, {shown.plan}, false, kind == FailKind::async);
  if (!sharper || !more_specific(sharper->answer.verdict.signature.kind, kind)) return;
  shown = std::move(*sharper);
  finding.signature = shown.answer.verdict.signature;
  finding.oracle = std::string(shown.oracle->name());
  reduce_shown(evaluator, shown, finding);
}

Result<void> Triage::settle_plan(Evaluator& evaluator, Shown shown, Finding& finding, bool rename) {
  const Shown unreduced = shown;
  const Reliability before = finding.reliability;
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
    const auto measured = measure(evaluator, *shown.oracle, finding);
    if (!measured) return tl::unexpected(measured.error());
    // Taken to fail always, and does not: a lucky pass may have ended the reduction.
    if (*measured && finding.state == FindingState::flaky && taken_for_sure && !stopped()) continue;
    const bool as_it_was = !*measured && shown.plan == unreduced.plan;
    if (as_it_was || (*measured && finding.state != FindingState::unconfirmed)) return {};
    // It was confirmed before: what the reduced plan no longer shows, or was not run for, is not
    // said of it.
    shown = unreduced;
    finding.signature = shown.answer.verdict.signature;
    finding.oracle = std::string(shown.oracle->name());
    finding.plan = shown.plan;
    finding.minimal = false;
    finding.reduction.end = *measured ? ReductionEnd::taken_back : ReductionEnd::interrupted;
    finding.reliability = before;  // of this plan; those of the reduced one say nothing of it
    finding.state = state_of(before);
    // What was left of other plans may have misled the reduction.
    if (!std::exchange(reuse, false) || stopped()) return {};
  }
}

Runs Triage::run_to_confirm(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                            const Signature& signature) {
  Runs runs = run_repeatedly(evaluator, oracle, plan, signature, options_.confirm_runs);
  for (const auto& answer : runs.answers) note_other({&oracle, plan}, answer, signature);
  if (runs.reliability.k > 0 || runs.reliability.n == 0 || signature.kind == FailKind::hang ||
      stopped())
    return runs;
  return run_repeatedly(evaluator, oracle, plan, signature, options_.most_runs);
}

void Triage::note_other(const Question& question, const Answer& answer,
                        const Signature& looked_for) {
  if (other_) return;
  const auto is_other = [&](const Verdict& v) {
    return v.failed() && is_direct(v.signature.kind) && !same_bug(v.signature, looked_for);
  };
  if (is_other(answer.verdict))
    other_ = Alarm{answer.verdict, question.plan};
  else if (answer.alarm && is_other(answer.alarm->verdict))
    other_ = answer.alarm;
}

std::optional<Alarm> Triage::take_other(const Finding& finding) {
  auto other = std::exchange(other_, std::nullopt);
  // A finding may have been renamed to what was met first as another one.
  if (other && same_bug(other->verdict.signature, finding.signature)) other.reset();
  return other;
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
    for (auto& said : attributor->attribute(finding.plan, failure.trials[shows], finding.signature,
                                            options_.cut_off))
      finding.culprits.push_back(std::move(said));
}

Result<bool> Triage::measure(Evaluator& evaluator, const Oracle& oracle, Finding& finding) {
  const bool slow = finding.signature.kind == FailKind::hang;
  evaluator.set_deadline(options_.deadline);
  evaluator.set_reuse(false);
  const bool always = finding.reliability.k >= finding.reliability.n;
  const auto runs = run_repeatedly(evaluator, oracle, finding.plan, finding.signature,
                                   slow     ? options_.confirm_runs
                                   : always ? options_.final_runs
                                            : options_.most_runs);
  if (runs.reliability.n == 0) return false;
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  const Answer* failure = first_failure(runs, finding.signature);
  if (failure == nullptr) return true;
  finding.signature = failure->verdict.signature;
  finding.reason = failure->verdict.reason;
  finding.fault_detail = fault_text(*failure);
  if (auto stored = sink_.evidence(finding.id, "final", finding.plan, *failure); !stored)
    return tl::unexpected(stored.error());
  find_culprits(*failure, finding);
  if (stopped() || options_.attribution_runs == 0) return true;
  if (slow) evaluator.set_deadline(options_.hang_deadline);
  evaluator.set_reuse(options_.reuse_workers && !finding.needs_history);
  finding.attribution = attribute(evaluator, oracle, finding.plan, finding.signature,
                                  {.first_runs = slow ? 1 : options_.attribution_runs,
                                   .runs = slow ? 2 : kAxisRuns,
                                   .schedules = options_.schedules});
  if (slow || options_.parallel < 2 || stopped()) return true;
  // The trials of a question one after another, or a single question would be load enough.
  evaluator.set_grouped(true);
  auto load = attribute_load(
      evaluator, oracle, finding.plan, finding.signature, kLoadRuns,
      runs.reliability.k < runs.reliability.n ? 0 : options_.attribution_runs, options_.parallel);
  std::move(load.begin(), load.end(), std::back_inserter(finding.attribution));
  evaluator.set_grouped(options_.reuse_workers);
  return true;
}

Result<Triage::Confirmed> Triage::confirm(Finding finding, const Suspect& suspect,
                                          const TargetSpec& spec) {
  other_.reset();
  // A hang that is none, only slow, is found out by measure(), which waits for the full deadline.
  const bool hang = suspect.verdict.signature.kind == FailKind::hang;
  Evaluator evaluator = evaluator_for(spec, hang ? options_.hang_deadline : options_.deadline);
  Confirmed out;
  out.grouped = options_.reuse_workers;
  evaluator.set_grouped(out.grouped);
  evaluator.set_reuse(options_.reuse_workers);
  auto shown = find_cause(evaluator, suspect, finding);
  evaluator.set_reuse(false);
  if (!shown && options_.reuse_workers) {
    out.grouped = false;
    evaluator.set_grouped(false);
    shown = find_cause(evaluator, suspect, finding);
  }
  if (!shown) {
    // Interrupted before it could be confirmed, it stays a suspect.
    finding.state = stopped() ? FindingState::suspect : FindingState::unconfirmed;
    auto stored = sink_.update(finding);
    if (!stored) return tl::unexpected(stored.error());
    out.finding = std::move(finding);
    out.is_new = stored->is_new;
    return out;
  }

  finding.signature = shown->answer.verdict.signature;
  const auto runs = run_to_confirm(evaluator, *shown->oracle, shown->plan, finding.signature);
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  finding.reason = shown->answer.verdict.reason;
  finding.oracle = std::string(shown->oracle->name());
  finding.plan = shown->plan;
  finding.fault_detail = fault_text(shown->answer);
  const bool known = sink_.settled(finding.signature);
  auto stored = sink_.update(finding);
  if (!stored) return tl::unexpected(stored.error());
  finding.id = stored->id;
  out.is_new = stored->is_new;
  out.other = take_other(finding);
  // What did not recur is not reduced: there is no rate to test smaller plans by.
  if (!known && !stopped() && was_found(finding.state)) {
    if (auto e = sink_.evidence(finding.id, "confirm", finding.plan, shown->answer); !e)
      return tl::unexpected(e.error());
    out.shown = std::move(shown);
  }
  out.finding = std::move(finding);
  return out;
}

Result<Triage::Settled> Triage::refine(Confirmed confirmed, const TargetSpec& spec,
                                       std::chrono::milliseconds reduce_time) {
  Finding& finding = confirmed.finding;
  if (!confirmed.shown) return Settled{finding, confirmed.is_new, std::move(confirmed.other), {}};
  reduce_left_ = reduce_time;
  other_ = std::move(confirmed.other);
  const bool hang = finding.signature.kind == FailKind::hang;
  Evaluator evaluator = evaluator_for(spec, hang ? options_.hang_deadline : options_.deadline);
  evaluator.set_grouped(confirmed.grouped);
  if (auto done = settle_plan(evaluator, std::move(*confirmed.shown), finding, true); !done)
    return tl::unexpected(done.error());
  auto stored = sink_.update(finding);
  if (!stored) return tl::unexpected(stored.error());
  const bool merged = std::exchange(finding.id, stored->id) != stored->id;
  auto other = take_other(finding);
  return Settled{
      std::move(finding), merged ? stored->is_new : confirmed.is_new, std::move(other), {}};
}

Result<Triage::Settled> Triage::run(Finding finding, const Suspect& suspect,
                                    const TargetSpec& spec) {
  auto confirmed = confirm(std::move(finding), suspect, spec);
  if (!confirmed) return tl::unexpected(confirmed.error());
  return refine(std::move(*confirmed), spec, options_.reduce_time);
}

Result<Triage::Settled> Triage::reduce_again(Finding finding, const TargetSpec& spec) {
  reduce_left_ = options_.reduce_time;
  other_.reset();
  const Oracle* oracle = catalog_.find(finding.oracle);
  if (oracle == nullptr) return harness_error("no oracle '" + finding.oracle + "' in this build");
  Evaluator evaluator = evaluator_for(spec, options_.deadline);
  const auto runs = run_to_confirm(evaluator, *oracle, finding.plan, finding.signature);
  if (runs.reliability.n == 0)
    return harness_error("no run could be judged: " + (runs.answers.empty()
                                                           ? std::string("interrupted")
                                                           : runs.answers.front().verdict.reason));
  const bool rename =
      finding.state == FindingState::suspect || finding.state == FindingState::unconfirmed;
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
  auto other = take_other(finding);
  return Settled{std::move(finding), stored->is_new, std::move(other), runs.reliability};
}

}  // namespace redzone::campaign
