#include "report/night.h"

#include <algorithm>

namespace redzone::report {

bool is_alarm(const NightFinding& finding) {
  const bool failed = finding.tonight == Tonight::found || fails_as_recorded(finding.tonight);
  const Standing standing = finding.ledger.standing;
  return failed && (standing == Standing::fresh || standing == Standing::regressed);
}

std::size_t alarm_count(const Night& night) {
  return static_cast<std::size_t>(
      std::count_if(night.findings.begin(), night.findings.end(), is_alarm));
}

}  // namespace redzone::report
