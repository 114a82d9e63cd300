// Pairs of operations that a plan leaves open although both may use one buffer: the screen sees
// them, and tries no order of them.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "campaign/evaluator.h"
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
  const auto plan = std::make_shared<Plan>(as_run(pending.plan, pending.trials[0]));
  const auto answer = std::make_shared<Answer>();
  const auto is_over = [this, &lane] { return is_over_for(lane); };
  Tasks::Task task;
  task.body = [this, &lane, oracle, plan, answer, is_over](exec::Runner& runner) {
    Evaluator evaluator(runner, *lane.target.spec, options_.deadline, is_over);
    evaluator.set_reuse(options_.triage.reuse_workers ? exec::Reuse::any : exec::Reuse::none);
    try {
      *answer = evaluator.ask(*oracle, *plan);
    } catch (const SpecCallsEnded&) {  // no time is left for it
    }
  };
  // Most pairs never matter, so where workers are scarce they come behind the confirmations.
  const Station stage = options_.screen_leaves_room ? Station::refine : Station::confirm;
  task.rank = [this, &lane, stage, order = ++visits_] {
    return Tasks::Rank{.stage = static_cast<int>(stage), .due = had(lane), .order = order};
  };
  task.ran = [this, &lane](auto jobs, auto results) { charge(lane, cost_of(jobs, results)); };
  task.ended = [this, &lane, plan, answer] {
    if (!answer->verdict.failed()) return;
    TrialSpec as_written;
    as_written.mode = plan->mode;
    suspects_aside_.push_back(
        {lane.index, {std::move(*plan), std::move(answer->verdict), {as_written}, {}, 0}});
  };
  tasks_.add(std::move(task));
}

}  // namespace redzone::campaign
