#include "core/repro_worth.h"

#include <tuple>

#include "core/plan_text.h"

namespace redzone {

int rank_of(FindingState state) {
  switch (state) {
    case FindingState::confirmed:
      return 3;
    case FindingState::flaky:
      return 2;
    case FindingState::suspect:
      return 1;
    case FindingState::unconfirmed:
      return 0;
  }
  return 0;
}

bool is_smaller(const Plan& a, const Plan& b) {
  return std::tuple(call_count(a), print_plan(a).size()) <
         std::tuple(call_count(b), print_plan(b).size());
}

ReproWorth worth_of(const Finding& finding) {
  return {.state = rank_of(finding.state),
          .minimal = finding.minimal,
          .fewer_calls = -call_count(finding.plan),
          .shorter_text = -static_cast<std::int64_t>(print_plan(finding.plan).size())};
}

}  // namespace redzone
