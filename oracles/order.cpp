#include "oracles/order.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/mode_axes.h"
#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

// The trials of one pair: a plain one, because a device may be slow at what it does for the first
// time; then each of two ways, twice.
constexpr std::size_t kTrialsOfPair = 5;

TrialSpec recording(const Plan& plan, const TargetSpec& spec) {
  TrialSpec trial{with_allocator(plan.mode, Allocator::guard), {}, compares_by_reference(spec)};
  trial.records_order = true;
  return trial;
}

std::span<const OrderCandidate> pairs_of(std::span<const Observation> observations) {
  if (observations.empty() || !observations[0].order) return {};
  const std::span<const OrderCandidate> all = observations[0].order->candidates;
  return all.first(std::min(all.size(), OrderOracle::kMostPairs));
}

// Elements of freed memory that were written.
std::uint64_t writes_to_freed(const Observation& o) {
  std::uint64_t all = 0;
  for (const auto& call : o.calls)
    for (const auto& b : call.buffers) all += b.scratch ? b.changed : 0;
  return all;
}

bool was_directed(const Observation& o) {
  return o.end == End::completed && o.order.has_value() && o.order->directed;
}

bool alike(const TargetSpec& spec, const Observation& a, const Observation& b) {
  return !first_difference(spec, a, b) && writes_to_freed(a) == writes_to_freed(b);
}

// What the order of a pair changes.
struct Effect {
  std::int32_t call = -1;  // whose outputs differ; -1: none, but writes to freed memory do
};

// `ways`: the trials of the two orders, in turns. Nothing if they do not differ.
std::optional<Effect> effect_of(const TargetSpec& spec, std::span<const Observation> ways) {
  if (!alike(spec, ways[0], ways[2]) || !alike(spec, ways[1], ways[3])) return std::nullopt;
  if (const auto difference = first_difference(spec, ways[0], ways[1]))
    return Effect{difference->call};
  if (writes_to_freed(ways[0]) != writes_to_freed(ways[1])) return Effect{};
  return std::nullopt;
}

// Whether the pair's calls or its buffer have part in the effect. Else a later operation was held
// up as well, and makes the difference.
bool takes_part(const OrderCandidate& pair, const Effect& effect) {
  return effect.call < 0 || effect.call == pair.first.call || effect.call == pair.second.call ||
         effect.call == pair.buffer_call;
}

// The pair whose order makes the difference: the first one that has part in it.
struct Found {
  const OrderCandidate* pair = nullptr;  // null: no pair does
  Effect effect;

  void consider(const OrderCandidate& other, const Effect& its) {
    if (pair == nullptr || (takes_part(other, its) && !takes_part(*pair, effect)))
      *this = {&other, its};
  }
};

std::string stream_of(const OrderedOperation& operation) {
  return fmt::format("{} {}", operation.side ? "side stream" : "stream", operation.stream);
}

std::string reason_of(const Plan& plan, const OrderCandidate& pair, const Effect& effect) {
  const std::string second = describe_operation(plan, pair.second);
  const std::string buffer =
      fmt::format("'{}' of {}", pair.buffer, describe_call(plan, pair.buffer_call));
  const std::string shown =
      effect.call < 0 ? "writes to freed memory depend"
                      : fmt::format("the outputs of {} depend", describe_call(plan, effect.call));
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
    s.access = name_of(effect.call < 0 ? Access::write : Access::read);
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
    case OperationKind::free:
      return fmt::format("the free in {} on {}", call, stream);
    case OperationKind::host:
      return fmt::format("the host in {}", call);
    case OperationKind::copy:
    case OperationKind::memset:
      return fmt::format("the {} in {} on {}", operation.name, call, stream);
    default:
      return fmt::format("'{}' of {} on {}", operation.name, call, stream);
  }
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
    for (const bool second_first : {false, true, false, true})
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
  if (auto v = cannot_compare(name(), spec, first)) return *v;
  if (first.empty()) return {Outcome::inconclusive, self, "no trial was run", {}, -1};
  const auto pairs = pairs_of(first);
  std::size_t not_forced = 0;
  Found found;
  std::optional<Verdict> not_judged;  // the first pair that was not, and those behind it
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (observations.size() < 1 + (p + 1) * kTrialsOfPair) {
      not_judged = {Outcome::inconclusive, self, "the trials of a pair were not run", {}, -1};
      break;
    }
    const auto trials = observations.subspan(1 + p * kTrialsOfPair, kTrialsOfPair);
    for (const auto& o : trials)
      if (!not_judged) not_judged = cannot_judge(name(), o);
    if (not_judged) break;
    const auto ways = trials.subspan(1);
    if (!std::all_of(ways.begin(), ways.end(), was_directed))
      ++not_forced;
    else if (const auto effect = effect_of(spec, ways))
      found.consider(pairs[p], *effect);
  }
  if (found.pair != nullptr) return failure(plan, *found.pair, found.effect);
  if (not_judged) return *not_judged;
  if (not_forced == 0) return Verdict::pass(self);
  return {Outcome::inconclusive,
          self,
          fmt::format("the order of {} of {} pairs could not be forced", not_forced, pairs.size()),
          {},
          -1};
}

}  // namespace redzone::oracles
