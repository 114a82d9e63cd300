#include "campaign/confirmation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "campaign/history.h"
#include "campaign/naming.h"

namespace redzone::campaign {
namespace {

// Searches for the failure that the screen saw, in as many runs as a rare failure may need. A side
// effect of the failure, such as two runs that differ, can show more often than the failure itself.
std::optional<Shown> see_again(const Workshop& shop, Evaluator& evaluator, const Signature& seen,
                               const std::vector<Plan>& plans) {
  std::vector<Question> questions;
  for (const auto& oracle : shop.catalog.direct())
    for (const auto& plan : plans) questions.push_back({oracle.get(), plan});
  for (int run = 0; run < shop.options.most_runs && !shop.options.stopped(); ++run) {
    auto answers = evaluator.ask(questions);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (same_failure(answers[i], seen))
        return Shown{questions[i].oracle, questions[i].plan, std::move(answers[i])};
  }
  return std::nullopt;
}

struct Cause {
  std::optional<Shown> shown = {};
  // The plan was run again as it was when the failure was seen, and could be judged.
  bool judged_again = false;
};

// The plans of the suspect's trials without a tool: a trial under a tool repeats another oracle's
// native trial, and the tool's oracle adds the tool itself.
std::vector<Plan> native_plans(const Suspect& suspect) {
  std::vector<Plan> plans;
  for (const auto& trial : suspect.trials)
    if (trial.mode.sanitizer == SanitizerTool::none) plans.push_back(as_run(suspect.plan, trial));
  return plans;
}

// Searches for a failure that shows in a new worker only after the calls that its worker had made
// before.
std::optional<Shown> after_earlier_calls(const Workshop& shop, Evaluator& evaluator,
                                         const Suspect& suspect) {
  if (!suspect.log || shop.options.stopped()) return std::nullopt;
  const std::vector<Plan> plans = native_plans(suspect);
  std::vector<Plan> with;
  for (std::size_t i = 0; i < plans.size(); ++i)
    with.push_back(
        with_history(plans[i], *suspect.log, suspect.log_size, std::span(plans).subspan(0, i)));
  return classify(shop, evaluator, with, ends_trial(suspect.verdict.signature.kind));
}

Cause find_cause(const Workshop& shop, Evaluator& evaluator, const Suspect& suspect,
                 Finding& finding) {
  const auto as_seen = [&](const Oracle& oracle) -> Cause {
    Shown shown{&oracle, suspect.plan, evaluator.ask(oracle, suspect.plan)};
    const Outcome outcome = shown.answer.verdict.outcome;
    if (outcome == Outcome::fail) return {.shown = std::move(shown), .judged_again = true};
    return {.judged_again = outcome == Outcome::pass};
  };
  if (suspect.trials.empty()) return as_seen(shop.catalog.device_free());
  const FailKind seen = suspect.verdict.signature.kind;
  const bool crashed = ends_trial(seen);
  const std::vector<Plan> plans = native_plans(suspect);
  if (auto shown = classify(shop, evaluator, plans, crashed)) {
    if (is_direct(seen) && !is_direct(shown->answer.verdict.signature.kind))
      if (auto direct = see_again(shop, evaluator, suspect.verdict.signature, plans))
        shown = std::move(direct);
    if (auto fault = as_fault(shop, evaluator, *shown)) shown = std::move(fault);
    if (auto ordered = as_order(shop, evaluator, *shown)) shown = std::move(ordered);
    return {.shown = std::move(shown), .judged_again = true};
  }
  Cause again = as_seen(shop.catalog.screen());
  if (again.shown) return again;
  again.shown = after_earlier_calls(shop, evaluator, suspect);
  finding.needs_history = again.shown.has_value();
  return again;
}

// Returns whether this machine is to reduce the finding. Waits for the decision of the process that
// divides reductions between machines, while the rest of the campaign goes on.
bool is_reduced_here(const Workshop& shop, const Signature& signature) {
  if (!shop.options.reduces) return true;
  std::optional<bool> here;
  shop.runner.wait_until([&] {
    here = shop.options.reduces(signature);
    return here.has_value() || shop.options.stopped();
  });
  return here.value_or(false);
}

}  // namespace

Runs run_in_new_workers(const Workshop& shop, Evaluator& evaluator, const Oracle& oracle,
                        const Plan& plan, const Signature& signature, int n) {
  const exec::Reuse others = shop.options.in_new_workers();
  const int fresh = others == exec::Reuse::none ? n : std::min(n, 1);
  Runs runs = run_repeatedly(evaluator, oracle, plan, signature, fresh);
  evaluator.set_reuse(others);
  if (fresh < n) runs += run_repeatedly(evaluator, oracle, plan, signature, n - fresh);
  evaluator.set_reuse(exec::Reuse::none);
  return runs;
}

Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature, std::vector<Answer> fresh) {
  const TriageOptions& options = shop.options;
  const int n = options.confirm_runs - static_cast<int>(fresh.size());
  Runs runs = as_runs(plan, std::move(fresh), signature);
  runs += run_in_new_workers(shop, evaluator, oracle, plan, signature, n);
  for (const auto& answer : runs.answers) note_other(c, {&oracle, plan}, answer, signature);
  c.one_queue =
      evaluator.one_queue() && runs.reliability.k > 0 && runs.reliability.k == runs.reliability.n;
  if (runs.reliability.k > 0 || runs.reliability.n == 0 || signature.kind == FailKind::hang ||
      shop.options.stopped())
    return runs;
  evaluator.set_one_queue(false);
  return run_repeatedly(evaluator, oracle, plan, signature, shop.options.most_runs);
}

const Answer* first_failure(const Runs& runs, const Signature& signature) {
  for (const auto& answer : runs.answers)
    if (same_failure(answer, signature)) return &answer;
  return nullptr;
}

std::string fault_text(const Answer& answer) {
  for (const auto& o : answer.observations)
    if (o.fault) return o.fault->code + (o.fault->detail.empty() ? "" : ": " + o.fault->detail);
  return "";
}

namespace {

// Searches for a plan that shows the suspect's failure, and for the failure's name. Begins in used
// workers if the options allow it, because new ones cost more.
class Search {
 public:
  // A plan that exceeds the short deadline may only be slow: the short deadline is used to search
  // for the cause, the full one to decide whether the plan hangs.
  Search(const Workshop& shop, Case& c, const Suspect& suspect)
      : shop_(shop),
        options_(shop.options),
        case_(c),
        suspect_(suspect),
        evaluator_(shop.evaluator(kind_seen() == FailKind::hang ? options_.hang_deadline
                                                                : options_.deadline)),
        in_new_workers_(!options_.reuse_workers) {
    case_.grouped = options_.groups_trials;
    evaluator_.set_grouped(case_.grouped);
    evaluator_.set_reuse(options_.reuse_workers ? exec::Reuse::any : exec::Reuse::none);
    evaluator_.set_one_queue(options_.reuse_workers);
    evaluator_.set_will_lose(options_.costs_workers(kind_seen()) || is_between_canaries(suspect));
  }

  Cause cause() {
    Cause found = find_cause(shop_, evaluator_, suspect_, case_.finding);
    evaluator_.set_reuse(exec::Reuse::none);
    return found.shown || in_new_workers_ ? found : cause_in_new_workers();
  }

  // State that a used worker kept from earlier trials can change the name of a failure, which no
  // new worker then shows: `shown` is replaced by what a new worker shows, if anything. Returns the
  // runs of `shown` in new workers that were made for this, which confirm it as well.
  std::vector<Answer> check_name(Shown& shown) {
    const FailKind kind = shown.answer.verdict.signature.kind;
    // Each further run costs a worker, as did the run that showed the failure, so that run is
    // counted.
    if (options_.costs_workers(kind) && shown.answer.fresh) return {shown.answer};
    // A mere difference always gets a more specific name, and kept state may be its only cause.
    const bool renamed = kind_seen() == FailKind::divergence || kind_seen() != kind;
    if (!renamed || in_new_workers_) return {};
    Runs few = run_in_new_workers(shop_, evaluator_, *shown.oracle, shown.plan,
                                  shown.answer.verdict.signature, options_.confirm_runs);
    if (few.reliability.k > 0 || options_.stopped()) return std::move(few.answers);
    std::optional<Shown> again;
    if (kind_seen() == FailKind::divergence) {
      again = after_earlier_calls(shop_, evaluator_, suspect_);
      case_.finding.needs_history = again.has_value();
    } else {
      again = cause_in_new_workers().shown;
    }
    if (!again) return std::move(few.answers);
    shown = *std::move(again);
    return {};
  }

  // For the runs that confirm the failure.
  Evaluator& evaluator() { return evaluator_; }

 private:
  FailKind kind_seen() const { return suspect_.verdict.signature.kind; }

  Cause cause_in_new_workers() {
    in_new_workers_ = true;
    case_.grouped = false;
    evaluator_.set_grouped(false);
    evaluator_.set_one_queue(false);
    return find_cause(shop_, evaluator_, suspect_, case_.finding);
  }

  const Workshop& shop_;
  const TriageOptions& options_;
  Case& case_;
  const Suspect& suspect_;
  Evaluator evaluator_;
  bool in_new_workers_;
};

// An interrupted confirmation does not show that the failure is gone: the finding stays a suspect.
Result<void> store_as_not_shown(const Workshop& shop, Case& c, bool judged_again) {
  const bool looked = judged_again && !shop.options.stopped();
  c.finding.state = looked ? FindingState::unconfirmed : FindingState::suspect;
  // Run by the oracle that saw the failure; it passed.
  if (looked) c.finding.reliability.n = 1;
  RZ_TRY_ASSIGN(const auto stored, shop.sink.update(c.finding));
  c.is_new = stored.is_new;
  return {};
}

}  // namespace

Result<void> confirm(const Workshop& shop, Case& c, const Suspect& suspect) {
  const TriageOptions& options = shop.options;
  Finding& finding = c.finding;
  Search search(shop, c, suspect);
  auto [shown, judged_again] = search.cause();
  if (!shown) return store_as_not_shown(shop, c, judged_again);

  search.evaluator().set_deadline(options.deadline);
  std::vector<Answer> first = search.check_name(*shown);
  const Runs runs = run_to_confirm(shop, search.evaluator(), c, *shown->oracle, shown->plan,
                                   shown->answer.verdict.signature, std::move(first));
  finding.signature = shown->answer.verdict.signature;
  finding.reliability = runs.reliability;
  finding.state = runs.reliability.k == 0 && options.stopped() ? FindingState::suspect
                                                               : state_of(runs.reliability);
  finding.reason = shown->answer.verdict.reason;
  finding.oracle = std::string(shown->oracle->name());
  finding.plan = shown->plan;
  finding.fault_detail = fault_text(shown->answer);
  const bool known = shop.sink.settled(finding.signature);
  RZ_TRY_ASSIGN(auto stored, shop.sink.update(finding));
  finding.id = stored.id;
  c.is_new = stored.is_new;
  drop_if_same(c);
  // A failure that did not recur is not reduced: without a failure rate, smaller plans cannot be
  // tested.
  if (known || options.stopped() || !was_found(finding.state)) return {};
  RZ_TRY(shop.sink.evidence(finding.id, "confirm", finding.plan, shown->answer));
  if (!is_reduced_here(shop, finding.signature)) return {};
  c.shown = std::move(shown);
  return {};
}

}  // namespace redzone::campaign
