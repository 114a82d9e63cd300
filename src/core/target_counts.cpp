#include "core/target_counts.h"

namespace redzone {

TargetCounts& TargetCounts::operator+=(const TargetCounts& more) {
  plans += more.plans;
  calls += more.calls;
  pass += more.pass;
  fail += more.fail;
  inconclusive += more.inconclusive;
  not_applicable += more.not_applicable;
  harness_errors += more.harness_errors;
  device_seconds += more.device_seconds;
  reference += more.reference;
  outputs += more.outputs;
  const auto keep_first = [](std::string& first, const std::string& next) {
    if (first.empty()) first = next;
  };
  keep_first(not_compared, more.not_compared);
  keep_first(not_judged, more.not_judged);
  keep_first(spec_error, more.spec_error);
  return *this;
}

}  // namespace redzone
