#include "campaign/naming.h"

#include <algorithm>

#include "campaign/axis_test.h"
#include "campaign/plan_variants.h"
#include "core/mode_axes.h"
#include "oracles/checks.h"
#include "oracles/order.h"
#include "oracles/reference.h"

namespace redzone::campaign {
namespace {

Plan with_mode(Plan plan, Launch launch, Placement placement) {
  plan.mode.launch = launch;
  plan.mode.placement = placement;
  return plan;
}

// Returns each plan under every placement of guarded memory, which shows the buffer that is
// accessed out of bounds, and in the plan's own allocator if that is a different one (placement has
// no effect there). The simplest launch mode comes first.
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
      for (auto placement : {Placement::guard_after, Placement::guard_before})
        add(with_mode(guarded, launch, placement));
      add(with_mode(plan, launch, plan.mode.placement));
    }
  return variants;
}

// Returns all failures, the most specific first. With `first`, stops after the first failure; later
// questions are not run.
std::vector<Shown> failures(Evaluator& evaluator, std::span<const Question> questions, bool first) {
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

// Searches for identical runs of the plan that differ, within a fixed number of runs.
std::optional<Shown> differing_runs(const Workshop& shop, Evaluator& evaluator, const Plan& plan) {
  constexpr int kTimes = 8;
  const Oracle* repetition = shop.catalog.find("repetition");
  if (repetition == nullptr) return std::nullopt;
  const std::vector<Question> questions(kTimes, {repetition, plan});
  auto shown = failures(evaluator, questions, false);
  return shown.empty() ? std::nullopt : std::optional(std::move(shown.front()));
}

// Chooses the failure of a comparing oracle that names the cause; empty if undecided. `compared`:
// number of oracles that judged. A failure shown to depend on the order of two operations, or on
// freed memory, comes first. Next comes a setting that the failure was shown to depend on, then a
// difference between identical runs, which explains all other differences, then a wrong output,
// which a single trial shows.
std::optional<Shown> name_failures(const Workshop& shop, Evaluator& evaluator,
                                   std::vector<Shown> failures, std::size_t compared) {
  std::vector<AxisCandidate> candidates;
  std::vector<std::size_t> index;  // index in `failures` of each candidate
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const Shown& f = failures[i];
    const FailKind kind = f.answer.verdict.signature.kind;
    if (kind == FailKind::nondeterministic || kind == FailKind::order || is_direct(kind))
      return std::move(failures[i]);
    if (f.oracle->unvaried(f.plan, evaluator.spec()).empty()) continue;
    candidates.push_back({f.oracle, f.plan});
    index.push_back(i);
  }
  const AxisTest test = test_axes(evaluator, candidates, compared, shop.options.groups_trials);
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (test.depends[c]) return std::move(failures[index[c]]);
  if (shop.options.stopped()) return std::nullopt;
  const bool random = test.differs_unvaried || index.size() < failures.size();
  if (random)
    if (auto differing = differing_runs(shop, evaluator, failures.front().plan)) return differing;
  for (auto& f : failures)
    if (f.oracle->unvaried(f.plan, evaluator.spec()).empty()) return std::move(f);
  return std::nullopt;
}

bool varies_launches(const Oracle& oracle) {
  const auto axes = oracle.varies();
  return !axes.empty() && axes.front() == axis::kLaunch;
}

// Compares along single axes. A failure in blocking trials does not depend on timing, and is named
// by what it shows there. Otherwise it may depend on queued work, so launch modes are compared
// next. Only if that shows nothing either are the relaxed trials compared along the other axes,
// since a race can look like anything.
std::optional<Shown> compare(const Workshop& shop, Evaluator& evaluator,
                             const std::vector<const Oracle*>& oracles,
                             const std::vector<Plan>& plans, bool blocking_only) {
  std::vector<Question> blocking, launches, relaxed;
  for (const auto& plan : plans) {
    const Plan waited = with_mode(plan, Launch::blocking, plan.mode.placement);
    for (const Oracle* oracle : oracles) {
      const Question ask{oracle, waited};
      if (std::none_of(blocking.begin(), blocking.end(), [&](const Question& q) {
            return q.oracle == ask.oracle && q.plan == ask.plan;
          }))
        blocking.push_back(ask);
      if (blocking_only || plan.mode.launch == Launch::blocking) continue;
      (varies_launches(*oracle) ? launches : relaxed).push_back({oracle, plan});
    }
  }
  for (const auto* questions : {&blocking, &launches, &relaxed}) {
    auto shown = failures(evaluator, *questions, false);
    if (shown.empty()) continue;
    if (auto named = name_failures(shop, evaluator, std::move(shown), oracles.size())) return named;
  }
  return std::nullopt;
}

std::vector<const Oracle*> comparing(const oracles::Catalog& catalog) {
  std::vector<const Oracle*> out;
  for (const auto& oracle : catalog.comparing()) out.push_back(oracle.get());
  return out;
}

// A host variable that was never written holds what earlier calls left on the stack, so its effect
// looks like that of any setting that changes what ran before, or like chance. Returns the failure
// of the oracle that fills the stack if the outputs depend on the stack's contents. If another
// comparison fails while the stack holds the same contents in all trials, that failure has another
// cause and is returned instead.
std::optional<Shown> as_unwritten_local(const Workshop& shop, Evaluator& evaluator,
                                        const std::vector<Plan>& plans, bool blocking_only) {
  const Oracle* oracle = shop.catalog.find(mode_axis("stack").oracle);
  if (oracle == nullptr || plans.empty()) return std::nullopt;
  std::vector<Plan> filled = plans;
  for (Plan& plan : filled)
    if (plan.mode.stack == Stack::as_left) plan.mode.stack = Stack::filled;
  const Plan waited = with_mode(filled.front(), Launch::blocking, filled.front().mode.placement);
  const AxisCandidate candidates[] = {{oracle, waited}};
  Shown shown{oracle, waited, evaluator.ask(*oracle, waited)};
  if (!shown.answer.verdict.failed() || differs_unvaried(evaluator, candidates[0]))
    return std::nullopt;
  std::vector<const Oracle*> others = comparing(shop.catalog);
  if (!test_axes(evaluator, candidates, others.size(), shop.options.groups_trials).depends[0])
    return std::nullopt;
  std::erase_if(others, [&](const Oracle* other) {
    return other == oracle || other->name() == oracles::ReferenceOracle::kName;
  });
  if (auto other = compare(shop, evaluator, others, filled, blocking_only)) return other;
  return shown;
}

}  // namespace

std::optional<Shown> classify(const Workshop& shop, Evaluator& evaluator,
                              const std::vector<Plan>& plans, bool crashed, bool blocking_only) {
  const std::vector<Plan> variants = direct_variants(plans);
  std::vector<Question> direct;
  for (const auto& oracle : shop.catalog.direct())
    for (const auto& p : variants) direct.push_back({oracle.get(), p});
  // Each crash costs a worker, so one crash is enough if workers start slowly.
  auto shown = failures(evaluator, direct, crashed && shop.options.reuse_workers);
  if (!shown.empty()) return std::move(shown.front());
  if (auto local = as_unwritten_local(shop, evaluator, plans, blocking_only)) return local;
  return compare(shop, evaluator, comparing(shop.catalog), plans, blocking_only);
}

std::optional<Shown> as_fault(const Workshop& shop, Evaluator& evaluator, const Shown& canary) {
  const Signature& seen = canary.answer.verdict.signature;
  const Oracle* fault = shop.catalog.find("fault");
  const bool before = seen.side == name_of(Side::before), after = seen.side == name_of(Side::after);
  if (seen.kind != FailKind::redzone || !(before || after) || fault == nullptr ||
      !shop.options.faults_name_buffers)
    return std::nullopt;
  const auto placement = before ? Placement::guard_before : Placement::guard_after;
  for (auto& plan : at_guard_pages(canary.plan, evaluator.spec(), placement)) {
    if (shop.options.stopped()) break;
    Shown shown{fault, std::move(plan), {}};
    shown.answer = evaluator.ask(*fault, shown.plan);
    const Verdict& verdict = shown.answer.verdict;
    if (verdict.failed() && is_fault_of(verdict.signature, seen)) return shown;
  }
  return std::nullopt;
}

std::optional<Shown> as_order(const Workshop& shop, Evaluator& evaluator, const Shown& seen) {
  const Signature& signature = seen.answer.verdict.signature;
  const Oracle* order = shop.catalog.find(oracles::OrderOracle::kName);
  const bool used = signature.kind == FailKind::use_after_free;
  // With launches that the host waits for, no order remains open that could decide about a fault.
  const bool faulted = ends_trial(signature.kind) && signature.kind != FailKind::hang &&
                       seen.plan.mode.launch != Launch::blocking;
  const bool waited = signature.kind == FailKind::async;
  if (order == nullptr || !(used || faulted || waited) || shop.options.stopped())
    return std::nullopt;
  const auto explains = [&](const Answer& answer) {
    const Signature& its = answer.verdict.signature;
    if (!answer.verdict.failed() || its.kind != FailKind::order) return false;
    if (waited) return answer.verdict.call == seen.answer.verdict.call;
    if (used) return its.buffer == signature.buffer;
    const auto shown = oracles::direct_evidence(seen.plan, answer.trials, answer.observations);
    return shown && shown->verdict.signature.kind == signature.kind;
  };
  Answer answer = evaluator.ask(*order, seen.plan);
  if (!explains(answer)) return std::nullopt;
  // A random fault may by chance occur in both trials of one order and in none of the other, so the
  // question is repeated.
  if (faulted) {
    const Answer again = evaluator.ask(*order, seen.plan);
    if (!explains(again) || again.verdict.signature != answer.verdict.signature)
      return std::nullopt;
  }
  return Shown{order, seen.plan, std::move(answer)};
}

}  // namespace redzone::campaign
