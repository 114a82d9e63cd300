#include "nightly/target_sum.h"

namespace redzone::nightly {

store::NightTarget counts_of(const campaign::TargetStats& stats) {
  return {.target = stats.target,
          .plans = stats.plans,
          .calls = stats.calls,
          .pass = stats.pass,
          .fail = stats.fail,
          .inconclusive = stats.inconclusive,
          .not_applicable = stats.not_applicable,
          .harness_errors = stats.harness_errors,
          .device_seconds = stats.device_seconds,
          .share = 0,
          .not_fuzzed = "",
          .reference = stats.reference,
          .not_compared = stats.not_compared};
}

void add_counts(store::NightTarget& sum, const store::NightTarget& more) {
  sum.plans += more.plans;
  sum.calls += more.calls;
  sum.pass += more.pass;
  sum.fail += more.fail;
  sum.inconclusive += more.inconclusive;
  sum.not_applicable += more.not_applicable;
  sum.harness_errors += more.harness_errors;
  sum.device_seconds += more.device_seconds;
  sum.reference += more.reference;
  if (sum.not_compared.empty()) sum.not_compared = more.not_compared;
}

}  // namespace redzone::nightly
