#include "oracles/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/mode_axes.h"
#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

// The trials of one pair: a plain one, because a device may be slow at operations that it performs
// for the first time; then each of the two orders, twice, in a sequence that no effect of every
// second trial of a process can match.
constexpr std::array kSecondFirst{false, true, true, false};
constexpr std::size_t kTrialsOfPair = 1 + kSecondFirst.size();
// If the first trial faults, most others do, too, and each costs a worker.
constexpr std::size_t kMostPairsOfFault = 3;

// The trial that records the order. It uses the natural schedule, because a seeded schedule draws a
// value per operation in sequence, so it would differ between two orders.
TrialSpec recording(const Plan& plan, const TargetSpec& spec) {
  TrialSpec trial{with_allocator(plan.mode, Allocator::guard), {}, compares_by_reference(spec)};
  trial.mode.schedule_seed = 0;
  trial.records_order = true;
  return trial;
}

// Number of elements of freed memory that were written.
std::uint64_t writes_to_freed(const Observation& o) {
  std::uint64_t all = 0;
  for (const auto& call : o.calls)
    for (const auto& b : call.buffers) all += b.scratch ? b.changed : 0;
  return all;
}

bool has_completed(const Observation& o) {
  return o.end == End::completed;
}

bool was_directed(const Observation& o) {
  return has_completed(o) && o.order.has_value() && o.order->directed;
}

bool has_fault(const Observation& o) {
  return o.end == End::fault;
}

bool alike(const TargetSpec& spec, const Observation& a, const Observation& b) {
  return !first_difference(spec, a, b) && writes_to_freed(a) == writes_to_freed(b);
}

// The effect of the order of a pair.
struct Effect {
  // The call whose outputs differ, or that faults; -1 if unknown, or if only writes to freed memory
  // differ.
  std::int32_t call = -1;
  std::string fault = {};  // code of the fault, if one order faults
};

// The result of the trials of the two orders, which run in the sequence of kSecondFirst.
struct Shown {
  bool forced = false;  // both orders were forced, as far as is known: a fault does not show that
  std::optional<Effect> effect = {};
};

Shown shown_by(const TargetSpec& spec, std::span<const Observation> ways) {
  const auto first = [&](std::size_t way) -> const Observation& { return ways[way]; };
  const auto again = [&](std::size_t way) -> const Observation& { return ways[3 - way]; };
  const auto both = [&](std::size_t way, auto has) { return has(first(way)) && has(again(way)); };
  const bool directed[] = {both(0, was_directed), both(1, was_directed)};
  for (const std::size_t way : {0, 1}) {
    const std::size_t other = 1 - way;
    const std::optional<Fault>& fault = first(way).fault;
    // A fault costs the worker, and in a new one the other order may not be forced again.
    if (both(way, has_fault) && fault && again(way).fault &&
        fault->code == again(way).fault->code && both(other, has_completed) &&
        (was_directed(first(other)) || was_directed(again(other))))
      return {true, Effect{fault->call, fault->code}};
  }
  if (!directed[0] || !directed[1]) return {};
  if (!alike(spec, first(0), again(0)) || !alike(spec, first(1), again(1))) return {true};
  if (const auto difference = first_difference(spec, ways[0], ways[1]))
    return {true, Effect{difference->call}};
  if (writes_to_freed(ways[0]) != writes_to_freed(ways[1])) return {true, Effect{}};
  return {true};
}

// True if one of the two operations is the fill of the tensors, the end of the calls or an
// allocation. A pair of the target's own operations says more: a single missing wait may cause
// both.
bool tells_less(const OrderCandidate& pair) {
  const auto is = [](const OrderedOperation& o) {
    return o.kind == OperationKind::fill || o.kind == OperationKind::check ||
           o.kind == OperationKind::allocation;
  };
  return is(pair.first) || is(pair.second);
}

std::string stream_of(const OrderedOperation& operation) {
  return fmt::format("{} {}", operation.side ? "side stream" : "stream", operation.stream);
}

// What depends on the order, including the verb.
std::string shown_text(const Plan& plan, const Effect& effect) {
  if (!effect.fault.empty())
    return fmt::format("whether '{}' ends {} depends", effect.fault,
                       describe_call(plan, effect.call));
  if (effect.call < 0) return "writes to freed memory depend";
  return fmt::format("the outputs of {} depend", describe_call(plan, effect.call));
}

std::string reason_of(const Plan& plan, const OrderCandidate& pair, const Effect& effect) {
  const std::string second = describe_operation(plan, pair.second);
  const std::string buffer =
      fmt::format("'{}' of {}", pair.buffer, describe_call(plan, pair.buffer_call));
  const std::string shown = shown_text(plan, effect);
  if (pair.problem == OrderProblem::freed_use)
    return fmt::format("use after free: {} uses {}, which {} frees on {}; {} on the bytes there",
                       second, buffer, describe_call(plan, pair.first.call), stream_of(pair.first),
                       shown);
  return fmt::format("nothing orders {} and {}, which use {}; {} on which is first",
                     describe_operation(plan, pair.first), second, buffer, shown);
}

Verdict failure(const Plan& plan, const OrderCandidate& pair, const Effect& effect) {
  Signature s;
  s.target = plan.target;
  s.buffer = pair.buffer;
  if (pair.problem == OrderProblem::freed_use) {
    s.kind = FailKind::use_after_free;
    s.side = name_of(Side::inside);
    const bool writes = effect.call < 0 && effect.fault.empty();
    s.access = name_of(writes ? Access::write : Access::read);
    s.where = pair.second.name;
  } else {
    s.kind = FailKind::order;
    s.where = fmt::format("{}, {}", pair.first.name, pair.second.name);
  }
  return fail(OrderOracle::kName, s, effect.call < 0 ? pair.second.call : effect.call,
              reason_of(plan, pair, effect));
}

}  // namespace

std::string describe_operation(const Plan& plan, const OrderedOperation& operation) {
  const std::string stream = stream_of(operation);
  if (operation.kind == OperationKind::fill) return "the fill of the tensors on " + stream;
  if (operation.kind == OperationKind::check) return "the end of the calls on " + stream;
  const std::string call = describe_call(plan, operation.call);
  switch (operation.kind) {
    case OperationKind::host:
      return fmt::format("the host in {}", call);
    case OperationKind::free:
    case OperationKind::allocation:
    case OperationKind::copy:
    case OperationKind::memset:
      return fmt::format("the {} in {} on {}", name_of(operation.kind), call, stream);
    default:
      return fmt::format("'{}' of {} on {}", operation.name, call, stream);
  }
}

std::vector<OrderCandidate> OrderOracle::pairs_of(std::span<const Observation> observations) const {
  if (observations.empty() || !observations[0].order) return {};
  std::vector<OrderCandidate> pairs = observations[0].order->candidates;
  if (picks_) std::erase_if(pairs, [&](const OrderCandidate& pair) { return !picks_(pair); });
  if (has_fault(observations[0]) && pairs.size() > kMostPairsOfFault)
    pairs.resize(kMostPairsOfFault);
  return pairs;
}

std::vector<TrialSpec> OrderOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  return {recording(plan, spec)};
}

std::vector<TrialSpec> OrderOracle::follow_up(const Plan& plan, const TargetSpec& spec,
                                              std::span<const Observation> observations) const {
  std::vector<TrialSpec> trials;
  const TrialSpec plain = recording(plan, spec);
  for (const auto& pair : pairs_of(observations)) {
    trials.push_back(plain);
    for (const bool second_first : kSecondFirst)
      trials.emplace_back(plain).direction =
          Direction{pair.first.number, pair.second.number, second_first};
  }
  return trials;
}

std::vector<std::string_view> OrderOracle::varies() const {
  return {axis::kLaunch, axis::kSchedule};
}

Verdict OrderOracle::judge(const Plan& plan, const TargetSpec& spec,
                           std::span<const Observation> observations) const {
  const std::string self(name());
  const auto first = observations.first(std::min<std::size_t>(observations.size(), 1));
  const auto pairs = pairs_of(first);
  // A fault of the first trial may be the effect of one of the two orders of a pair.
  const bool faults = !first.empty() && has_fault(first[0]) && !pairs.empty();
  if (auto v = cannot_compare(name(), spec, faults ? first.first(0) : first)) return *v;
  if (first.empty()) return {Outcome::inconclusive, self, "no trial was run", {}, -1};
  std::size_t not_forced = 0;
  std::optional<Verdict> less_telling;  // the first failure of a pair for which tells_less()
  std::optional<Verdict> not_judged;    // verdict for the first pair that could not be judged
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (observations.size() < 1 + (p + 1) * kTrialsOfPair) {
      not_judged = {Outcome::inconclusive, self, "the trials of a pair were not run", {}, -1};
      break;
    }
    const auto trials = observations.subspan(1 + p * kTrialsOfPair, kTrialsOfPair);
    for (const auto& o : trials)
      if (!not_judged) not_judged = cannot_judge(name(), o);
    if (not_judged) break;
    const Shown shown = shown_by(spec, trials.subspan(1));
    if (!shown.forced) ++not_forced;
    if (!shown.effect) continue;
    Verdict failed = failure(plan, pairs[p], *shown.effect);
    if (!tells_less(pairs[p])) return failed;
    if (!less_telling) less_telling = std::move(failed);
  }
  if (less_telling) return *less_telling;
  if (not_judged) return *not_judged;
  if (not_forced == 0) return Verdict::pass(self);
  return {Outcome::inconclusive,
          self,
          fmt::format("the order of {} of {} pairs could not be forced, or faults either way",
                      not_forced, pairs.size()),
          {},
          -1};
}

}  // namespace redzone::oracles
