#include "campaign/naming.h"

#include <algorithm>

#include "campaign/axis_test.h"
#include "core/mode_axes.h"

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
      for (auto placement : {Placement::guard_after, Placement::guard_before})
        add(with_mode(guarded, launch, placement));
      add(with_mode(plan, launch, plan.mode.placement));
    }
  return variants;
}

// All failures, the most specific first; with `first`, the first failure alone, and what is behind
// it is not asked.
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

// Equal runs of the plan that differ, where some do in a reasonable number of runs.
std::optional<Shown> differing_runs(const Workshop& shop, Evaluator& evaluator, const Plan& plan) {
  constexpr int kTimes = 8;
  const Oracle* repetition = shop.catalog.find("repetition");
  if (repetition == nullptr) return std::nullopt;
  const std::vector<Question> questions(kTimes, {repetition, plan});
  auto shown = failures(evaluator, questions, false);
  return shown.empty() ? std::nullopt : std::optional(std::move(shown.front()));
}

// Which of these failures of comparing oracles names the cause; nothing where it is undecided.
// `compared`: how many were asked. A setting is named where the failure was shown to depend on it.
// Else it may be that equal runs differ, which explains whatever was seen; else what a single trial
// shows, a wrong output.
std::optional<Shown> name(const Workshop& shop, Evaluator& evaluator, std::vector<Shown> failures,
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
  const AxisTest test = test_axes(evaluator, candidates, compared, shop.options.reuse_workers);
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

// Along single axes. What fails in blocking trials has nothing to do with timing, and is named by
// what it shows there. Only what does not is a matter of what is still queued; and only where not
// even that is seen are the relaxed trials compared along the other axes, where a race can look
// like anything.
std::optional<Shown> compare(const Workshop& shop, Evaluator& evaluator,
                             const std::vector<Plan>& plans, bool blocking_only) {
  std::vector<Question> blocking, launches, relaxed;
  for (const auto& plan : plans) {
    const Plan waited = with_mode(plan, Launch::blocking, plan.mode.placement);
    for (const auto& oracle : shop.catalog.comparing()) {
      const Question ask{oracle.get(), waited};
      if (std::none_of(blocking.begin(), blocking.end(), [&](const Question& q) {
            return q.oracle == ask.oracle && q.plan == ask.plan;
          }))
        blocking.push_back(ask);
      if (blocking_only || plan.mode.launch == Launch::blocking) continue;
      (varies_launches(*oracle) ? launches : relaxed).push_back({oracle.get(), plan});
    }
  }
  for (const auto* questions : {&blocking, &launches, &relaxed}) {
    auto shown = failures(evaluator, *questions, false);
    if (shown.empty()) continue;
    if (auto named = name(shop, evaluator, std::move(shown), shop.catalog.comparing().size()))
      return named;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Shown> classify(const Workshop& shop, Evaluator& evaluator,
                              const std::vector<Plan>& plans, bool crashed, bool blocking_only) {
  const std::vector<Plan> variants = direct_variants(plans);
  std::vector<Question> direct;
  for (const auto& oracle : shop.catalog.direct())
    for (const auto& p : variants) direct.push_back({oracle.get(), p});
  // Each crash costs a worker, so one is enough where workers are dear.
  auto shown = failures(evaluator, direct, crashed && shop.options.reuse_workers);
  if (!shown.empty()) return std::move(shown.front());
  return compare(shop, evaluator, plans, blocking_only);
}

}  // namespace redzone::campaign
