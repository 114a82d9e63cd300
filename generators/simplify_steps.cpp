// Stages of simplify(): fewer steps, and everything of one kind made plain at once.
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrink/Shrink.h>

#include <algorithm>
#include <bit>

#include "generators/configs.h"
#include "generators/internal/complexity.h"
#include "generators/internal/stages.h"

namespace redzone::generators {
namespace {

Plan with_steps(const Origin& origin, std::vector<Step> steps) {
  return {origin.plan.target, origin.plan.mode, std::move(steps)};
}

rc::Seq<Plan> calls_only(const OriginPtr& origin) {
  std::vector<Step> calls;
  for (const auto& step : origin->plan.steps)
    if (const auto* call = std::get_if<CallStep>(&step)) {
      calls.push_back(*call);
      std::get<CallStep>(calls.back()).graph = 0;
    }
  return rc::seq::just(with_steps(*origin, std::move(calls)));
}

// Drops half of the steps, a quarter, ... one step. Chunks of one size overlap by half, so that two
// steps that must be dropped together (a call and its sync) are in one chunk at least once.
rc::Seq<Plan> without_chunks(const OriginPtr& origin) {
  struct Chunk {
    std::size_t first, size;
  };
  std::vector<Chunk> chunks;
  const std::size_t n = origin->plan.steps.size();
  for (std::size_t size = std::bit_floor(n > 1 ? n - 1 : 0); size > 0; size /= 2)
    for (std::size_t first = 0; first < n; first += std::max<std::size_t>(1, size / 2))
      chunks.push_back({first, std::min(size, n - first)});
  return rc::seq::map(rc::seq::fromContainer(std::move(chunks)), [origin](const Chunk& chunk) {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < origin->plan.steps.size(); ++i)
      if (i < chunk.first || i >= chunk.first + chunk.size) steps.push_back(origin->plan.steps[i]);
    return with_steps(*origin, std::move(steps));
  });
}

rc::Seq<Plan> no_repeats(const OriginPtr& origin) {
  return in_all_calls(origin, [](CallStep& step) {
    step.repeat = 1;
    return true;
  });
}

rc::Seq<Plan> plain_mode(const OriginPtr& origin) {
  Plan plan = origin->plan;
  plan.mode = {.launch = Launch::blocking};
  return rc::seq::just(std::move(plan));
}

// For failures that appear only with this allocator.
rc::Seq<Plan> plain_mode_but_allocator(const OriginPtr& origin) {
  Plan plan = origin->plan;
  const Mode& m = origin->plan.mode;
  plan.mode = {.launch = Launch::blocking, .allocator = m.allocator, .pool = m.pool};
  return rc::seq::just(std::move(plan));
}

rc::Seq<Plan> plain_seeds(const OriginPtr& origin) {
  return rc::seq::mapcat(rc::seq::fromContainer(small_seeds(origin->plan)),
                         [origin](std::uint64_t seed) {
                           return in_all_calls(origin, [seed](CallStep& step) {
                             step.call.seed = seed;
                             return true;
                           });
                         });
}

rc::Seq<Plan> plain_layouts(const OriginPtr& origin) {
  return in_all_calls(origin, [](CallStep& step) {
    step.call.layouts.clear();
    return true;
  });
}

rc::Seq<Plan> plain_knobs(const OriginPtr& origin) {
  const Config config = default_config(origin->space.spec());
  return in_all_calls(origin, [&](CallStep& step) {
    step.call.config = config;
    return true;
  });
}

rc::Seq<Plan> smallest_dims(const OriginPtr& origin) {
  Point p = origin->space.smallest_point();
  if (!origin->space.repair(p, 0)) return {};
  return in_all_calls(origin, [&](CallStep& step) {
    origin->space.store(p, step.call.dims);
    return true;
  });
}

}  // namespace

rc::Seq<Plan> in_one_call(const OriginPtr& origin,
                          std::function<rc::Seq<CallStep>(const CallStep&)> alternatives) {
  auto step_alternatives = [alternatives = std::move(alternatives)](const Step& step) {
    const auto* call = std::get_if<CallStep>(&step);
    return call == nullptr ? rc::Seq<Step>() : rc::seq::cast<Step>(alternatives(*call));
  };
  return rc::seq::map(rc::shrink::eachElement(origin->plan.steps, std::move(step_alternatives)),
                      [origin](std::vector<Step> s) { return with_steps(*origin, std::move(s)); });
}

rc::Seq<Plan> in_all_calls(const OriginPtr& origin, const std::function<bool(CallStep&)>& change) {
  Plan plan = origin->plan;
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step); call != nullptr && !change(*call)) return {};
  return rc::seq::just(std::move(plan));
}

namespace {

// Smaller multiples of the divisors of `value`, the largest divisors first. A failure may need a
// multiple of 48, or of 16 beyond 64; the other numbers of descending_choices() (round numbers and
// numbers with cleared bits) need not contain one.
std::vector<std::int64_t> smaller_multiples(std::int64_t value) {
  constexpr std::int64_t kLargest = 256;
  constexpr std::size_t kMost = 16;
  std::vector<std::int64_t> out;
  for (std::int64_t d = std::min(kLargest, value / 2); d > 5 && out.size() < kMost; --d) {
    if (value % d != 0) continue;
    // For a power of two d, the other choices contain the multiple near one half.
    if (!std::has_single_bit(static_cast<std::uint64_t>(d))) out.push_back(value / d / 2 * d);
    out.push_back(value - d);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> descending_choices(std::int64_t value, std::int64_t floor,
                                             std::int64_t landmark) {
  std::vector<std::int64_t> round = {floor, 0, 1, 2, 3, 4, 5};
  for (std::int64_t power = 8; power < value && power > 0; power *= 2)
    round.insert(round.end(), {power, power + 1});
  if (landmark > 0) round.insert(round.end(), {landmark - 1, landmark, landmark + 1});
  std::erase_if(round, [&](std::int64_t v) { return v < floor || v >= value; });
  std::sort(round.begin(), round.end());
  round.erase(std::unique(round.begin(), round.end()), round.end());

  const std::size_t rounds = round.size();
  const auto bits = static_cast<std::uint64_t>(value);
  for (int k = std::bit_width(bits); k-- > 0;) {
    const std::uint64_t bit = std::uint64_t{1} << k;
    if ((bits & bit) == 0) continue;
    const auto below = static_cast<std::int64_t>(((bits >> k) ^ 1) << k | (bit - 1));
    const bool known = std::binary_search(round.begin(), round.begin() + rounds, below);
    if (below >= floor && !known) round.push_back(below);
  }
  for (const std::int64_t multiple : smaller_multiples(value))
    if (multiple >= floor && std::find(round.begin(), round.end(), multiple) == round.end())
      round.push_back(multiple);
  return round;
}

std::vector<Stage> step_stages() {
  return {calls_only, without_chunks, no_repeats};
}

std::vector<Stage> sweeping_stages() {
  return {plain_mode,   plain_mode_but_allocator, plain_seeds, plain_layouts, plain_knobs,
          smallest_dims};
}

}  // namespace redzone::generators
