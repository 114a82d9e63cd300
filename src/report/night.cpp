#include "report/night.h"

#include <set>

namespace redzone::report {

bool is_alarm(const NightFinding& finding) {
  return is_alarm(finding.outcome, finding.ledger.standing);
}

bool is_alarm(const NightPlan& plan) {
  const bool failed = plan.k > 0 || plan.finding || plan.outcome == ReplayOutcome::otherwise ||
                      is_failure(plan.outcome);
  return failed && !plan.waived;
}

Alarms alarms_of(const Night& night) {
  Alarms alarms;
  std::set<std::int64_t> told;
  for (const auto& f : night.findings) {
    if (!is_alarm(f)) continue;
    ++(f.outcome == ReplayOutcome::seen ? alarms.unconfirmed : alarms.findings);
    told.insert(f.id);
  }
  for (const auto& p : night.corpus)
    if (is_alarm(p) && !(p.finding && told.contains(*p.finding))) ++alarms.plans;
  return alarms;
}

}  // namespace redzone::report
