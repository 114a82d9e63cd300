#include "generators/plan_generator.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "generators/internal/draw.h"
#include "generators/internal/plan_gen.h"
#include "generators/internal/simplify_seq.h"
#include "generators/reach.h"
#include "generators/schedules.h"

namespace redzone::generators {
namespace {

// Draws all bits set (a NaN and a large index), a signalling NaN, a huge finite number, zeros (like
// memory that was never used), or any bits.
std::uint32_t draw_poison(Draw& draw) {
  static constexpr std::uint32_t kPoisons[] = {0xffffffffu, 0xffffffffu, 0x7fa5a5a5u, 0x7f7f7f7fu,
                                               0u};
  return draw.one_in(4) ? static_cast<std::uint32_t>(draw.bits()) : draw.pick(kPoisons);
}

// Mostly the guard allocator, which detects every access out of bounds.
void draw_allocator(Draw& draw, Mode& mode) {
  const int weights[] = {9, 2, 1};
  constexpr Allocator kAllocators[] = {Allocator::guard, Allocator::caching, Allocator::pool};
  mode.allocator = kAllocators[draw.weighted(weights)];
  if (mode.allocator != Allocator::pool) return;
  mode.pool.follow_event_dependencies = !draw.one_in(4);
  mode.pool.allow_opportunistic = !draw.one_in(4);
  mode.pool.allow_internal_dependencies = !draw.one_in(2);
  // With a release threshold, memory stays mapped at the same address between trials.
  if (draw.one_in(2)) mode.pool.release_threshold_bytes = std::uint64_t{64} << 20;
}

// Mostly promised: a tensor with a smaller alignment may lie farther from its guard page.
Alignment draw_alignment(Draw& draw, const TargetSpec& spec) {
  const bool silent = std::any_of(spec.tensors.begin(), spec.tensors.end(),
                                  [](const TensorSpec& t) { return t.align_bytes == 0; });
  if (silent && draw.one_in(6)) return Alignment::element;
  if (!draw.one_in(8)) return Alignment::promised;
  return spec.tensors.size() < 2 || draw.one_in(2) ? Alignment::exact : Alignment::mixed;
}

Stack draw_stack(Draw& draw) {
  if (!draw.one_in(6)) return Stack::as_left;
  return draw.one_in(2) ? Stack::filled : Stack::filled_finite;
}

// A thread takes as long as several short calls, and few plans suffice to find failures that need a
// thread per call. A graph outlives the thread that captured it, so plans with graphs use threads
// more often.
Callers draw_callers(Draw& draw, const Plan& plan) {
  constexpr std::size_t most = 6;
  std::size_t threads = 0;
  std::set<std::int64_t> graphs;
  for (const CallStep* step : calls_of(plan))
    threads += step->graph == 0 || graphs.insert(step->graph).second;
  const bool each = threads <= most && draw.one_in(graphs.empty() ? 6 : 3);
  return each ? Callers::each : Callers::one;
}

// Only a later call reuses memory. If work runs on several streams, calls that reuse memory wait
// for each other, which hides missing synchronization, so fewer such plans reuse it.
Addresses draw_addresses(Draw& draw, const Plan& plan, const TargetSpec& spec) {
  const bool able = calls_of(plan).size() > 1 && !has_streams(plan) && !spec.remembers_addresses;
  const bool reused = able && draw.one_in(spec.side_streams > 0 ? 24 : 6);
  return reused ? Addresses::reused : Addresses::distinct;
}

// Mostly a few launches; one plan in eight may be long.
std::int64_t draw_launches(Draw& draw, std::int64_t most) {
  if (draw.one_in(8)) return draw.log_uniform(1, most);
  return std::min(most, draw.in_range(1, 14));
}

void replace_by_call_at_boundary(Draw& draw, const CallMaker& calls, const Budget& budget,
                                 std::vector<Step>& steps) {
  Cost allowance{budget.work_per_plan, static_cast<double>(budget.bytes_per_plan)};
  if (draw.chance(budget.large_share))
    allowance = {budget.large_work, static_cast<double>(budget.large_bytes)};
  else
    allowance.work /= static_cast<double>(std::int64_t{1} << draw.in_range(0, 6));
  if (auto call = calls.at_boundary(draw, allowance)) {
    steps.clear();
    steps.emplace_back(CallStep{*std::move(call), 1, 0});
  }
}

Plan draw_plan(const rc::Random& random, int size, const CallMaker& calls, const Budget& budget) {
  Draw draw(random);
  Plan plan;
  plan.target = calls.spec().name;
  plan.mode.poison = draw_poison(draw);
  plan.mode.schedule_seed = draw.bits() >> 1;
  const std::int64_t most = std::max<std::int64_t>(
      1, budget.max_calls * std::min(size, rc::kNominalSize) / rc::kNominalSize);
  plan.steps = draw_schedule(draw, calls, budget, draw_launches(draw, most));
  // Drawn last, so that it does not change the rest of the plan of a seed.
  if (budget.allocators) draw_allocator(draw, plan.mode);
  // Each has its own random source, so that no choice changes another.
  rc::Random more(random);
  Draw beside(more.split()), of_alignment(more.split()), of_callers(more.split()),
      of_addresses(more.split()), of_stack(more.split());
  if (beside.chance(budget.boundary_share))
    replace_by_call_at_boundary(beside, calls, budget, plan.steps);
  if (budget.alignments && plan.mode.allocator == Allocator::guard)
    plan.mode.alignment = draw_alignment(of_alignment, calls.spec());
  if (budget.callers) plan.mode.callers = draw_callers(of_callers, plan);
  if (budget.addresses) plan.mode.addresses = draw_addresses(of_addresses, plan, calls.spec());
  if (budget.stacks) plan.mode.stack = draw_stack(of_stack);
  return plan;
}

// Keeps the call maker alive, because the candidates refer to the spec that it borrows.
rc::Seq<rc::Shrinkable<Plan>> shrinks_of(const std::shared_ptr<const CallMaker>& calls,
                                         const Plan& plan) {
  return rc::seq::map(simplify_seq(plan, calls->spec()), [calls](const Plan& simpler) {
    return rc::shrinkable::shrink([simpler] { return simpler; },
                                  [calls](const Plan& p) { return shrinks_of(calls, p); });
  });
}

}  // namespace

rc::Gen<Plan> plan_gen(std::shared_ptr<const CallMaker> calls, const Budget& budget) {
  // Draws the value on demand, so that a plan is never copied when it is returned.
  return [calls = std::move(calls), budget](const rc::Random& random, int size) {
    return rc::shrinkable::shrink([=] { return draw_plan(random, size, *calls, budget); },
                                  [calls](const Plan& plan) { return shrinks_of(calls, plan); });
  };
}

Budget host_budget() {
  Budget budget;
  budget.work_per_plan = 2e6;
  budget.bytes_per_plan = std::int64_t{16} << 20;
  budget.max_calls = 64;
  budget.large_share = 1.0 / 256;
  budget.large_bytes = std::int64_t{32} << 20;
  budget.large_work = 1e7;
  budget.boundary_share = 1.0 / 16;
  budget.big_offsets = true;
  budget.sparse = true;
  budget.streams = true;
  budget.graphs = true;
  budget.burst = 1500;
  budget.allocators = true;
  budget.alignments = true;
  budget.callers = budget.addresses = budget.stacks = true;
  return budget;
}

Budget none_budget() {
  Budget budget;
  budget.work_per_plan = 1e18;
  budget.bytes_per_plan = std::int64_t{1} << 42;
  budget.max_calls = 32;
  budget.boundary_share = 1.0 / 4;
  budget.big_offsets = true;
  budget.sparse = true;
  return budget;
}

Budget gpu_budget(std::int64_t device_memory_bytes) {
  Budget budget;
  budget.work_per_plan = 1e9;
  budget.bytes_per_plan = std::min(std::int64_t{256} << 20, device_memory_bytes / 32);
  budget.max_calls = 256;
  budget.large_share = 1.0 / 32;
  budget.large_bytes = std::min(std::int64_t{10} << 30, device_memory_bytes / 6);
  budget.large_work = 1e11;
  budget.boundary_share = 1.0 / 16;
  budget.big_offsets = true;
  budget.streams = true;
  budget.graphs = true;
  budget.burst = 1500;
  budget.allocators = true;
  budget.alignments = true;
  budget.callers = budget.addresses = budget.stacks = true;
  return budget;
}

class PlanGenerator::Source {
 public:
  Source(const TargetSpec& spec, const Budget& budget, std::uint64_t seed)
      : spec_(spec),
        random_(seed),
        calls_(std::make_shared<CallMaker>(spec_, budget.sparse)),
        gen_(plan_gen(calls_, budget)),
        budget_(budget) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  Plan next() { return gen_(random_.split(), rc::kNominalSize).value(); }
  std::vector<OutOfReach> out_of_reach() const {
    return generators::out_of_reach(*calls_, budget_);
  }

 private:
  TargetSpec spec_;  // borrowed by the call maker
  rc::Random random_;
  std::shared_ptr<const CallMaker> calls_;
  rc::Gen<Plan> gen_;
  Budget budget_;
};

PlanGenerator::PlanGenerator(const TargetSpec& spec, const Budget& budget, std::uint64_t seed)
    : source_(std::make_unique<Source>(spec, budget, seed)) {}
PlanGenerator::PlanGenerator(PlanGenerator&&) noexcept = default;
PlanGenerator& PlanGenerator::operator=(PlanGenerator&&) noexcept = default;
PlanGenerator::~PlanGenerator() = default;

Plan PlanGenerator::next() {
  return source_->next();
}

std::string PlanGenerator::out_of_reach() const {
  std::string out;
  for (const auto& dim : source_->out_of_reach())
    out += fmt::format("{}{} above {} (of {})", out.empty() ? "" : ", ", dim.dim, dim.reached,
                       dim.allowed);
  return out;
}

}  // namespace redzone::generators
