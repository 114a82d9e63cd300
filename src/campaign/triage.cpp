#include "campaign/triage.h"

#include <utility>

#include "campaign/confirmation.h"

namespace redzone::campaign {
namespace {

Result<void> finish_case(const Workshop& shop, Case& c, Naming naming) {
  if (!c.shown) return {};
  RZ_TRY(refine(shop, c, shop.options.reduce_time, naming));
  RZ_TRY(explain(shop, c));
  return measure_load(shop, c);
}

Triage::Settled settled(Case c, const Reliability& now = {}) {
  return {std::move(c.finding), c.is_new, std::move(c.other), now};
}

}  // namespace

Triage::Triage(exec::Runner& runner, const oracles::Catalog& catalog, SimplifyFor simplify,
               FindingSink& sink, TriageOptions options)
    : runner_(runner),
      catalog_(catalog),
      simplify_(std::move(simplify)),
      sink_(sink),
      options_(std::move(options)) {}

Result<Triage::Settled> Triage::run(Finding finding, const Suspect& suspect,
                                    const TargetSpec& spec) {
  const Workshop shop = shop_for(spec);
  Case c{std::move(finding)};
  RZ_TRY(confirm(shop, c, suspect));
  RZ_TRY(finish_case(shop, c, Naming::may_sharpen));
  return settled(std::move(c));
}

Result<Triage::Settled> Triage::reduce_again(Finding stored, const TargetSpec& spec) {
  const Oracle* oracle = catalog_.find(stored.oracle);
  if (oracle == nullptr) return harness_error("no oracle '" + stored.oracle + "' in this build");
  const Workshop shop = shop_for(spec);
  Case c{std::move(stored)};
  Finding& finding = c.finding;
  Evaluator evaluator = shop.evaluator(options_.deadline);
  const auto runs = run_to_confirm(shop, evaluator, c, *oracle, finding.plan, finding.signature);
  if (runs.reliability.n == 0)
    return harness_error("no run could be judged: " + (runs.answers.empty()
                                                           ? std::string("interrupted")
                                                           : runs.answers.front().verdict.reason));
  const bool rename =
      finding.state == FindingState::suspect || finding.state == FindingState::unconfirmed;
  finding.reliability = runs.reliability;
  finding.state = state_of(runs.reliability);
  if (const Answer* failure = first_failure(runs, finding.signature)) {
    c.shown = Shown{oracle, finding.plan, *failure};
    RZ_TRY(finish_case(shop, c, rename ? Naming::may_sharpen : Naming::as_it_is));
  } else {
    RZ_TRY_ASSIGN(auto kept, sink_.update(finding));
    finding.id = kept.id;
    c.is_new = kept.is_new;
  }
  drop_if_same(c);
  // The plan still fails as recorded; the other failure is the same write in its other form.
  if (runs.reliability.k > 0 && c.other &&
      same_bug_in_any_form(c.other->verdict.signature, finding.signature))
    c.other.reset();
  return settled(std::move(c), runs.reliability);
}

}  // namespace redzone::campaign
