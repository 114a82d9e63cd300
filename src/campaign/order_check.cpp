// Tries both orders of pairs of operations that a plan leaves unordered although both may use one
// buffer. The screen only records such pairs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "campaign/evaluator.h"
#include "campaign/history.h"
#include "campaign/target_state.h"
#include "oracles/order.h"

namespace redzone::campaign {
namespace {

// A pair is tried in each of the first kAtOnce plans that leave its order open, because whether the
// order matters depends on the shape. Most orders never matter, so later a pair is tried each time
// the number of such plans has doubled.
constexpr std::uint64_t kAtOnce = 3;
// Per plan: each pair costs several trials.
constexpr std::size_t kMostPairs = 8;

std::uint64_t tries_due(std::uint64_t seen) {
  if (seen <= kAtOnce) return seen;
  return kAtOnce + static_cast<std::uint64_t>(std::bit_width(seen) - std::bit_width(kAtOnce));
}

std::string kind_and_name(const OrderedOperation& operation) {
  return fmt::format("{} {}", name_of(operation.kind), operation.name);
}

std::tuple<std::string, std::string, std::string> key_of(const OrderCandidate& pair) {
  return {pair.buffer, kind_and_name(pair.first), kind_and_name(pair.second)};
}

}  // namespace

// Pairs that were tried least come first, so that every pair gets its turn.
std::set<Campaign::TargetState::OrderKey> Campaign::TargetState::take_orders(
    const OrderObservation& order) {
  std::set<OrderKey> open;
  for (const auto& pair : order.candidates) open.insert(key_of(pair));
  std::vector<std::pair<std::uint64_t, OrderKey>> due;
  for (const auto& key : open) {
    OrderTries& tries = order_tries[key];
    if (tries.tried < tries_due(++tries.seen)) due.emplace_back(tries.tried, key);
  }
  std::sort(due.begin(), due.end());
  if (due.size() > kMostPairs) due.resize(kMostPairs);
  std::set<OrderKey> taken;
  for (auto& [tried, key] : due) {
    ++order_tries[key].tried;
    taken.insert(std::move(key));
  }
  return taken;
}

void Campaign::try_order(TargetState& target, const Pending& pending,
                         std::span<const Observation> observations) {
  if (catalog_.find(oracles::OrderOracle::kName) == nullptr || observations.empty() ||
      !observations[0].order)
    return;
  auto pairs = target.take_orders(*observations[0].order);
  if (pairs.empty()) return;
  const auto oracle = std::make_shared<oracles::OrderOracle>(
      [pairs = std::move(pairs)](const OrderCandidate& pair) {
        return pairs.contains(key_of(pair));
      });
  const auto plan = std::make_shared<Plan>(as_run(pending.plan, pending.trials[0]));
  const auto answer = std::make_shared<Answer>();
  const auto is_over = [this, &target] { return is_over_for(target); };
  Tasks::Task task;
  task.body = [this, &target, oracle, plan, answer, is_over](exec::Runner& runner) {
    Evaluator evaluator(runner, *target.under_test.spec, options_.deadline, is_over);
    evaluator.set_reuse(options_.triage.reuse_workers ? exec::Reuse::any : exec::Reuse::none);
    try {
      *answer = evaluator.ask(*oracle, *plan);
    } catch (const SpecCallsEnded&) {  // no time is left for the order check
    }
  };
  // Most pairs never matter, so if workers are scarce they are tried after the confirmations.
  const Station stage = options_.screen_leaves_room ? Station::refine : Station::confirm;
  task.rank = [this, &target, stage, order = ++visits_] {
    return Tasks::Rank{.stage = static_cast<int>(stage), .due = had(target), .order = order};
  };
  task.ran = [this, &target](auto jobs, auto results) { charge(target, cost_of(jobs, results)); };
  task.ended = [this, &target, plan, answer] {
    const auto add = [&](Plan failing, Verdict verdict) {
      TrialSpec as_written;
      as_written.mode = failing.mode;
      deferred_suspects_.push_back(
          {target.index, {std::move(failing), std::move(verdict), {as_written}, {}, 0}});
    };
    if (answer->verdict.failed())
      add(std::move(*plan), std::move(answer->verdict));
    else if (answer->alarm)
      add(std::move(answer->alarm->plan), std::move(answer->alarm->verdict));
  };
  tasks_.add(std::move(task));
}

}  // namespace redzone::campaign
