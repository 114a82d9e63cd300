#include "report/night.h"

#include <array>

#include "core/names.h"

namespace redzone::report {
namespace {

constexpr std::array kTonight{
    std::pair{Tonight::found, "found"},     std::pair{Tonight::fails, "still fails"},
    std::pair{Tonight::flaky, "flaky"},     std::pair{Tonight::passes, "passes"},
    std::pair{Tonight::unclear, "unclear"}, std::pair{Tonight::not_applicable, "not applicable"},
    std::pair{Tonight::not_run, "not run"},
};

}  // namespace

bool is_alarm(const NightFinding& finding) {
  const bool failed = finding.tonight == Tonight::found || finding.tonight == Tonight::fails ||
                      finding.tonight == Tonight::flaky;
  const Standing standing = finding.ledger.standing;
  return failed && (standing == Standing::fresh || standing == Standing::regressed);
}

std::string_view name_of(Tonight tonight) {
  return name_in(kTonight, tonight);
}

}  // namespace redzone::report
