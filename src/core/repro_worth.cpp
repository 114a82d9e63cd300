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

namespace {

// From this number of runs on, the failure rate counts as measured.
constexpr std::int64_t kMeasured = 10;

bool is_measured(const Finding& finding) {
  return finding.reliability.n >= kMeasured;
}

int shown_by(const Finding& finding) {
  const bool confirmed = finding.state == FindingState::confirmed;
  const bool flaky = finding.state == FindingState::flaky;
  const bool certain = (confirmed && finding.minimal) || (flaky && is_measured(finding));
  return rank_of(finding.state) + (certain ? 1 : 0);
}

}  // namespace

bool is_smaller(const Plan& a, const Plan& b) {
  return std::tuple(call_count(a), print_plan(a).size()) <
         std::tuple(call_count(b), print_plan(b).size());
}

ReproWorth worth_of(const Finding& finding) {
  return {.shown = shown_by(finding),
          .minimal = finding.minimal,
          .state = rank_of(finding.state),
          .fewer_calls = -call_count(finding.plan),
          .shorter_text = -static_cast<std::int64_t>(print_plan(finding.plan).size()),
          .measured = is_measured(finding)};
}

}  // namespace redzone
