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
          .not_compared = stats.not_compared,
          .spec_error = stats.spec_error,
          .not_judged = stats.not_judged,
          .outputs = stats.outputs};
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
  sum.outputs += more.outputs;
  const auto keep_first = [](std::string& first, const std::string& next) {
    if (first.empty()) first = next;
  };
  keep_first(sum.not_compared, more.not_compared);
  keep_first(sum.not_judged, more.not_judged);
  keep_first(sum.spec_error, more.spec_error);
}

}  // namespace redzone::nightly
