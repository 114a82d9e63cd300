#include "campaign/confirmation.h"

#include "campaign/history.h"
#include "campaign/naming.h"

namespace redzone::campaign {
namespace {

std::optional<Shown> find_cause(const Workshop& shop, Evaluator& evaluator, const Suspect& suspect,
                                Finding& finding) {
  if (suspect.trials.empty()) {
    Shown shown{&shop.catalog.device_free(), suspect.plan, {}};
    shown.answer = evaluator.ask(*shown.oracle, shown.plan);
    if (shown.answer.verdict.failed()) return shown;
    return std::nullopt;
  }
  const FailKind seen = suspect.verdict.signature.kind;
  const bool crashed = ends_trial(seen);
  std::vector<Plan> plans;
  // A trial under a tool repeats another oracle's native trial: the tool's oracle adds the tool.
  for (const auto& trial : suspect.trials)
    if (trial.mode.sanitizer == SanitizerTool::none) plans.push_back(as_run(suspect.plan, trial));
  if (auto shown = classify(shop, evaluator, plans, crashed)) return shown;
  Answer again = evaluator.ask(shop.catalog.screen(), suspect.plan);
  if (again.verdict.failed()) return Shown{&shop.catalog.screen(), suspect.plan, std::move(again)};
  if (!suspect.log || shop.options.stopped()) return std::nullopt;
  std::vector<Plan> with;
  for (std::size_t i = 0; i < plans.size(); ++i)
    with.push_back(
        with_history(plans[i], *suspect.log, suspect.log_size, std::span(plans).subspan(0, i)));
  auto shown = classify(shop, evaluator, with, crashed);
  finding.needs_history = shown.has_value();
  return shown;
}

}  // namespace

Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature) {
  Runs runs = run_repeatedly(evaluator, oracle, plan, signature, shop.options.confirm_runs);
  for (const auto& answer : runs.answers) note_other(c, {&oracle, plan}, answer, signature);
  if (runs.reliability.k > 0 || runs.reliability.n == 0 || signature.kind == FailKind::hang ||
      shop.options.stopped())
    return runs;
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

Result<void> confirm(const Workshop& shop, Case& c, const Suspect& suspect) {
  const TriageOptions& options = shop.options;
  Finding& finding = c.finding;
  // A hang within the short deadline may only be slow: the short one is used to look for the cause,
  // the full one to decide whether the plan hangs.
  const bool hang = suspect.verdict.signature.kind == FailKind::hang;
  Evaluator evaluator = shop.evaluator(hang ? options.hang_deadline : options.deadline);
  c.grouped = options.reuse_workers;
  evaluator.set_grouped(c.grouped);
  evaluator.set_reuse(options.reuse_workers);
  auto shown = find_cause(shop, evaluator, suspect, finding);
  evaluator.set_reuse(false);
  if (!shown && options.reuse_workers) {
    c.grouped = false;
    evaluator.set_grouped(false);
    shown = find_cause(shop, evaluator, suspect, finding);
  }
  if (!shown) {
    // If confirmation was interrupted, the finding stays a suspect.
    finding.state = options.stopped() ? FindingState::suspect : FindingState::unconfirmed;
    RZ_TRY_ASSIGN(auto stored, shop.sink.update(finding));
    c.is_new = stored.is_new;
    return {};
  }

  finding.signature = shown->answer.verdict.signature;
  evaluator.set_deadline(options.deadline);
  const auto runs =
      run_to_confirm(shop, evaluator, c, *shown->oracle, shown->plan, finding.signature);
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  finding.reason = shown->answer.verdict.reason;
  finding.oracle = std::string(shown->oracle->name());
  finding.plan = shown->plan;
  finding.fault_detail = fault_text(shown->answer);
  const bool known = shop.sink.settled(finding.signature);
  RZ_TRY_ASSIGN(auto stored, shop.sink.update(finding));
  finding.id = stored.id;
  c.is_new = stored.is_new;
  drop_if_same(c);
  // A failure that did not recur is not reduced: smaller plans could not be tested without a rate.
  if (known || options.stopped() || !was_found(finding.state)) return {};
  RZ_TRY(shop.sink.evidence(finding.id, "confirm", finding.plan, shown->answer));
  c.shown = std::move(shown);
  return {};
}

}  // namespace redzone::campaign
