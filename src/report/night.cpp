#include "report/night.h"

namespace redzone::report {

bool is_alarm(const NightFinding& finding) {
  const bool failed = finding.tonight == Tonight::found || finding.tonight == Tonight::fails ||
                      finding.tonight == Tonight::flaky;
  const Standing standing = finding.ledger.standing;
  return failed && (standing == Standing::fresh || standing == Standing::regressed);
}

}  // namespace redzone::report
