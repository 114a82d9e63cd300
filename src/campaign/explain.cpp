// Explains a measured finding: tool reports, relevant settings, the load of the machine.
#include <algorithm>
#include <iterator>
#include <utility>

#include "campaign/attribution.h"
#include "campaign/stations.h"
#include "core/near_fault.h"

namespace redzone::campaign {
namespace {

// Number of runs alone, and in parallel with others, for a failure that does not show in every run
// alone.
constexpr int kLoadRuns = 16;

// Number of runs of a value with which the failure does not show in every run. Against a finding
// that failed in 7 of 7 runs, 0 of 6 is enough to show that the failure needs another value
// (report/needs.h).
constexpr int kAxisRuns = 6;

bool is_slow(const Case& c) {
  return c.finding.signature.kind == FailKind::hang;
}

// True if the case can be explained: its plan was seen to fail.
bool has_more_to_tell(const Workshop& shop, const Case& c) {
  return c.shown && was_found(c.finding.state) && !shop.options.stopped();
}

Evaluator evaluator_for(const Workshop& shop, const Case& c) {
  Evaluator evaluator =
      shop.evaluator(is_slow(c) ? shop.options.hang_deadline : shop.options.deadline);
  evaluator.set_grouped(c.grouped);
  evaluator.set_will_lose(shop.options.costs_workers(c.finding.signature.kind));
  const bool reuse = shop.options.reuse_workers && !c.finding.needs_history;
  evaluator.set_reuse(reuse ? exec::Reuse::any : exec::Reuse::none);
  return evaluator;
}

// The fault attributions of the device and the tools.
std::vector<Attribution> fault_attributions(const Workshop& shop, const Finding& finding,
                                            const Answer& failure) {
  std::vector<Attribution> found;
  std::size_t shows = 0;  // index of the trial that shows the failure
  for (std::size_t t = 0; t < failure.observations.size(); ++t) {
    const auto& fault = failure.observations[t].fault;
    if (!fault) continue;
    shows = t;
    if (!fault->known_by.empty()) {
      found.push_back(
          {fault->known_by, fault->call, fault->kernel, fault->access, {}, {}, {}, fault->detail});
      if (is_near(*fault)) {
        found.back().buffer = fault->buffer;
        found.back().side = fault->side;
      }
    }
    break;
  }
  if (failure.trials.empty()) return found;
  for (auto* attributor : shop.options.attributors) {
    if (shop.options.stopped()) break;
    for (auto& said : attributor->attribute(shop.runner, finding.plan, failure.trials[shows],
                                            finding.signature, shop.options.cut_off))
      found.push_back(std::move(said));
  }
  return found;
}

Result<void> store(const Workshop& shop, const Finding& finding) {
  RZ_TRY(shop.sink.update(finding));
  return {};
}

}  // namespace

Result<void> explain(const Workshop& shop, Case& c) {
  const TriageOptions& options = shop.options;
  if (!has_more_to_tell(shop, c)) return {};
  Finding& finding = c.finding;
  finding.fault_attributions = fault_attributions(shop, finding, c.shown->answer);
  if (!options.stopped() && options.attribution_runs > 0) {
    Evaluator evaluator = evaluator_for(shop, c);
    finding.attribution =
        attribute(evaluator, shop.catalog, *c.shown->oracle, finding.plan, finding.signature,
                  {.first_runs = is_slow(c) ? 1 : options.attribution_runs,
                   .runs = is_slow(c) ? 2 : kAxisRuns});
  }
  return store(shop, finding);
}

Result<void> measure_load(const Workshop& shop, Case& c) {
  const TriageOptions& options = shop.options;
  if (!has_more_to_tell(shop, c) || options.attribution_runs == 0) return {};
  if (is_slow(c) || options.parallel < 2) return {};
  Finding& finding = c.finding;
  Evaluator evaluator = evaluator_for(shop, c);
  evaluator.set_alone(true);
  // The trials of a question run one after another; in parallel, a single question would itself be
  // a load.
  evaluator.set_grouped(true);
  const bool flaky = finding.reliability.k < finding.reliability.n;
  auto load = attribute_load(evaluator, *c.shown->oracle, finding.plan, finding.signature,
                             kLoadRuns, flaky ? 0 : options.attribution_runs, options.parallel);
  // If a failure that otherwise always shows does not show in any of these runs, they are not
  // stored, because they cannot show it: state that a process keeps from its first call hides the
  // failure when the trials of a question share a process.
  const bool shows = std::any_of(load.begin(), load.end(),
                                 [](const AttributionRow& row) { return row.failed.k > 0; });
  if (load.empty() || (!flaky && !shows)) return {};
  std::move(load.begin(), load.end(), std::back_inserter(finding.attribution));
  return store(shop, finding);
}

}  // namespace redzone::campaign
