// Pairs of operations that a plan leaves open although both may use one buffer: the screen sees
// them, and tries no order of them.
#include <fmt/format.h>

#include "campaign/history.h"
#include "campaign/lane.h"
#include "oracles/order.h"

namespace redzone::campaign {
namespace {

// Plans of one target in which a pair of the same names is tried: whether it matters depends on the
// shape, but most pairs never do.
constexpr int kMostTries = 3;

std::string kind_and_name(const OrderedOperation& operation) {
  return fmt::format("{} {}", name_of(operation.kind), operation.name);
}

}  // namespace

bool Campaign::Lane::tries_order(const OrderObservation& order) {
  bool tries = false;
  for (const auto& pair : order.candidates)
    if (int& tried =
            order_tries[{pair.buffer, kind_and_name(pair.first), kind_and_name(pair.second)}];
        tried < kMostTries) {
      ++tried;
      tries = true;
    }
  return tries;
}

void Campaign::try_order(Lane& lane, const Pending& pending,
                         std::span<const Observation> observations) {
  const Oracle* const oracle = catalog_.find(oracles::OrderOracle::kName);
  if (oracle == nullptr || observations.empty() || !observations[0].order ||
      !lane.tries_order(*observations[0].order))
    return;
  const bool reuse = options_.triage.reuse_workers;
  ask_beside(lane, *oracle, as_run(pending.plan, pending.trials[0]),
             reuse ? exec::Reuse::any : exec::Reuse::none,
             [this, &lane](auto cost) { charge(lane, cost); });
}

}  // namespace redzone::campaign
