#include "core/mode_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/contention.h"

namespace redzone {
namespace {

// All ones is NaN in any floating-point type and -1 as an integer; kFinitePoison is finite and
// positive. Memory that was never used holds zeros, and code that works only with zeros fails with
// any other value.
constexpr std::uint32_t kNanPoison = 0xffffffffu, kFinitePoison = 0x3f3f3f3fu, kZeros = 0;

std::string axis_text(NamedEnum auto value) {
  return std::string(name_of(value));
}
std::string axis_text(std::uint32_t poison) {
  return fmt::format("0x{:08x}", poison);
}
std::string axis_text(std::uint64_t seed) {
  return fmt::format("{}", seed);
}

// The plan's own value of one field of the mode.
template <auto Field>
std::string own(const Plan& plan) {
  return axis_text(plan.mode.*Field);
}

template <auto Field>
void take(Mode& mode, const Mode& from) {
  mode.*Field = from.*Field;
}

// The mode with one field reset to its default.
template <auto Field>
std::vector<Mode> as_by_default(const Mode& mode) {
  Mode plain = mode;
  plain.*Field = Mode{}.*Field;
  return {plain};
}

// The modes with one field set to each of `values` that comes before the mode's own.
template <auto Field>
auto earlier(const Mode& mode, std::initializer_list<std::decay_t<decltype(mode.*Field)>> values) {
  std::vector<Mode> out;
  for (const auto v : values)
    if (v < mode.*Field) out.emplace_back(mode).*Field = v;
  return out;
}

template <class T>
std::vector<ModeValue> values_of(T Mode::*field, std::initializer_list<T> values) {
  std::vector<ModeValue> out;
  for (const T v : values)
    out.push_back({axis_text(v), [field, v](Draft& d) { d.plan.mode.*field = v; }});
  return out;
}

ModeAxis launch() {
  return {.name = axis::kLaunch,
          .oracle = "async",
          .kind = FailKind::async,
          .claim = "whether launches are synchronized",
          .of_enqueued_work = true,
          .value = own<&Mode::launch>,
          .values = values_of(&Mode::launch, {Launch::blocking, Launch::async, Launch::gated}),
          .needed = true,
          .vary = [](const Plan&, TrialSpec& t) { t.mode.launch = Launch::blocking; },
          .take = take<&Mode::launch>,
          .plainer =
              [](const Mode& mode) {
                return earlier<&Mode::launch>(mode, {Launch::blocking, Launch::async});
              }};
}

void set_allocator(Mode& mode, Allocator allocator) {
  if (allocator != mode.allocator) mode = with_allocator(mode, allocator);
}

// Simpler modes along the allocator axis, which includes the pool policy.
std::vector<Mode> plainer_memory(const Mode& mode) {
  std::vector<Mode> out;
  for (const auto v : {Allocator::guard, Allocator::plain, Allocator::caching})
    if (v != mode.allocator) out.push_back(with_allocator(mode, v));
  const PoolPolicy plain;
  out.emplace_back(mode).pool.follow_event_dependencies = plain.follow_event_dependencies;
  out.emplace_back(mode).pool.allow_opportunistic = plain.allow_opportunistic;
  out.emplace_back(mode).pool.allow_internal_dependencies = plain.allow_internal_dependencies;
  out.emplace_back(mode).pool.release_threshold_bytes = plain.release_threshold_bytes;
  return out;
}

ModeAxis allocator() {
  ModeAxis axis{.name = "allocator",
                .oracle = "allocation",
                .kind = FailKind::allocation,
                .claim = "what memory its allocator uses again",
                .value = own<&Mode::allocator>,
                .needed = true,
                .vary =
                    [](const Plan& plan, TrialSpec& t) {
                      t.mode = with_allocator(plan.mode, plan.mode.allocator == Allocator::guard
                                                             ? Allocator::caching
                                                             : Allocator::guard);
                    },
                .take =
                    [](Mode& mode, const Mode& from) {
                      mode.allocator = from.allocator;
                      mode.pool = from.pool;
                    },
                .plainer = plainer_memory};
  for (const auto v : {Allocator::guard, Allocator::caching, Allocator::pool})
    axis.values.push_back({axis_text(v), [v](Draft& d) { set_allocator(d.plan.mode, v); }});
  return axis;
}

ModeAxis placement() {
  return {.name = "placement",
          .oracle = "placement",
          .kind = FailKind::placement,
          .claim = "where its buffers lie in memory",
          .value = own<&Mode::placement>,
          .values = values_of(&Mode::placement, {Placement::guard_after, Placement::guard_before}),
          .needed = true,
          .vary =
              [](const Plan& plan, TrialSpec& t) {
                t.mode.placement = plan.mode.placement == Placement::guard_after
                                       ? Placement::guard_before
                                       : Placement::guard_after;
              },
          .take = take<&Mode::placement>,
          .plainer = as_by_default<&Mode::placement>};
}

// No oracle compares along this axis: a kernel may use other code, with other rounding, for tensors
// that are aligned further. Bisection and attribution vary the axis only in plans that set it: a
// plan with the default may pass with the other values for another reason, because they move the
// buffer away from its guard page.
ModeAxis alignment() {
  return {.name = "alignment",
          .has = [](const Plan& plan) { return plan.mode.alignment != Alignment::promised; },
          .value = own<&Mode::alignment>,
          .values = values_of(&Mode::alignment, {Alignment::promised, Alignment::exact,
                                                 Alignment::element, Alignment::mixed}),
          .needed = true,
          .take = take<&Mode::alignment>,
          .plainer =
              [](const Mode& mode) {
                return earlier<&Mode::alignment>(
                    mode, {Alignment::promised, Alignment::exact, Alignment::element});
              }};
}

// Varied only in plans that set it: creating a thread costs more than a short call, so only some
// plans make calls in separate threads.
ModeAxis callers() {
  return {.name = "callers",
          .oracle = "host-thread",
          .kind = FailKind::host_thread,
          .claim = "which host thread makes a call",
          .has = [](const Plan& plan) { return plan.mode.callers != Callers::one; },
          .value = own<&Mode::callers>,
          .values = values_of(&Mode::callers, {Callers::one, Callers::each}),
          .needed = true,
          .vary = [](const Plan&, TrialSpec& t) { t.mode.callers = Callers::one; },
          .screened = true,
          .take = take<&Mode::callers>,
          .plainer = as_by_default<&Mode::callers>};
}

// Varied only in plans that set it: by default, each call has memory that no earlier call used.
ModeAxis addresses() {
  return {.name = "addresses",
          .oracle = "address",
          .kind = FailKind::address,
          .claim = "whether tensors lie where those of earlier calls did",
          .has = [](const Plan& plan) { return plan.mode.addresses != Addresses::distinct; },
          .value = own<&Mode::addresses>,
          .values = values_of(&Mode::addresses, {Addresses::distinct, Addresses::reused}),
          .needed = true,
          .vary = [](const Plan&, TrialSpec& t) { t.mode.addresses = Addresses::distinct; },
          .screened = true,
          .take = take<&Mode::addresses>,
          .plainer = as_by_default<&Mode::addresses>};
}

// Varied only in plans that set it, because the fill costs more than a short call. The first
// variation leaves the stack as it is; the second uses the other fill.
void vary_stack(const Plan& plan, TrialSpec& t) {
  if (plan.mode.stack == Stack::as_left) return;
  const bool other_fill = t.mode.stack == Stack::as_left;
  t.mode.stack = Stack::as_left;
  if (other_fill)
    t.mode.stack = plan.mode.stack == Stack::filled ? Stack::filled_finite : Stack::filled;
}

ModeAxis stack() {
  return {.name = "stack",
          .oracle = "uninitialized-local",
          .kind = FailKind::uninitialized_local,
          .claim = "what the stack of the host holds when the target is called",
          .has = [](const Plan& plan) { return plan.mode.stack != Stack::as_left; },
          .value = own<&Mode::stack>,
          .values = values_of(&Mode::stack, {Stack::as_left, Stack::filled, Stack::filled_finite}),
          .needed = true,
          .vary = vary_stack,
          .compared = 2,
          .screened = true,
          .take = take<&Mode::stack>,
          .plainer =
              [](const Mode& mode) {
                return earlier<&Mode::stack>(mode, {Stack::as_left, Stack::filled});
              }};
}

std::uint32_t next_poison(std::uint32_t poison) {
  if (poison == kFinitePoison) return kZeros;
  return poison == kZeros ? kNanPoison : kFinitePoison;
}

ModeAxis poison() {
  return {.name = axis::kPoison,
          .oracle = "uninitialized",
          .kind = FailKind::uninitialized,
          .claim = "memory that nothing has written",
          .value = own<&Mode::poison>,
          .values = values_of(&Mode::poison, {kNanPoison, kFinitePoison, kZeros}),
          .vary = [](const Plan&, TrialSpec& t) { t.mode.poison = next_poison(t.mode.poison); },
          .compared = 2,
          .screened = true,
          .take = take<&Mode::poison>,
          .plainer = as_by_default<&Mode::poison>};
}

// A different seed; repeated application yields further ones.
std::uint64_t next_schedule(std::uint64_t seed) {
  return (seed + 0x51ed) & 0x7fffffff;
}

ModeAxis schedule() {
  return {.name = axis::kSchedule,
          .oracle = "schedule",
          .kind = FailKind::schedule,
          .claim = "the order in which blocks and threads run",
          .of_enqueued_work = true,
          .value = own<&Mode::schedule_seed>,
          .values = values_of<std::uint64_t>(&Mode::schedule_seed, {0, 1, 2, 3, 4, 5}),
          .attributed = 3,  // seeds have no meaning by themselves; bisection tries more of them
          .vary = [](const Plan&,
                     TrialSpec& t) { t.mode.schedule_seed = next_schedule(t.mode.schedule_seed); },
          .compared = 14,  // many, because a race shows under few schedules only
          .screened = true,
          .take = take<&Mode::schedule_seed>,
          .plainer = as_by_default<&Mode::schedule_seed>};
}

// Launches of a blocking plan run without other work beside them.
bool is_contended(const Plan& plan) {
  return plan.mode.launch != Launch::blocking && has_contention(plan.mode.schedule_seed);
}

// Replaces schedule() on a device whose seeds decide only whether it is kept busy. A failure on an
// idle device does not need contention, so the axis applies only to plans with contention: one in
// 16.
ModeAxis contention() {
  return {.name = axis::kSchedule,
          .oracle = "schedule",
          .kind = FailKind::schedule,
          .claim = "whether other work keeps the device busy",
          .of_enqueued_work = true,
          .has = is_contended,
          .value = own<&Mode::schedule_seed>,
          .values = values_of<std::uint64_t>(&Mode::schedule_seed, {kIdleSeed, kContendedSeed}),
          .vary =
              [](const Plan& plan, TrialSpec& t) {
                if (is_contended(plan)) t.mode.schedule_seed = kIdleSeed;
              },
          .take = take<&Mode::schedule_seed>,
          .plainer = as_by_default<&Mode::schedule_seed>};
}

ModeAxis graph() {
  return {.name = "graph",
          .oracle = "graph",
          .kind = FailKind::graph,
          .claim = "whether calls are captured into a graph and replayed",
          .of_enqueued_work = true,
          .has = has_graphs,
          .value = [](const Plan&) { return std::string("replayed"); },
          .values = {{"replayed", [](Draft&) {}},
                     {"plain calls", [](Draft& d) { d = Draft(with_plain_graphs(d.done())); }}},
          .alone = true,
          .vary = [](const Plan& plan, TrialSpec& t) { t.plain_graphs = has_graphs(plan); }};
}

// Moves all steps to stream 0, where no wait is needed.
void on_one_stream(Draft& draft) {
  for (std::size_t i = 0; i < draft.plan.steps.size(); ++i) {
    auto& step = draft.plan.steps[i];
    if (auto* call = std::get_if<CallStep>(&step)) call->stream = 0;
    if (auto* replay = std::get_if<ReplayStep>(&step)) replay->stream = 0;
    if (std::holds_alternative<WaitStep>(step)) draft.dropped[i] = true;
  }
}

ModeAxis streams() {
  return {.name = "streams",
          .of_enqueued_work = true,
          .has = has_streams,
          .value = [](const Plan&) { return std::string("several"); },
          .values = {{"one", on_one_stream}},
          .attributed = 0};  // the reduction has already tried it
}

}  // namespace

Plan Draft::done() const {
  Plan out = plan;
  out.steps.clear();
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (!dropped[i]) out.steps.push_back(plan.steps[i]);
  return out;
}

const std::vector<ModeAxis>& all_mode_axes() {
  static const std::vector<ModeAxis> all{launch(),   allocator(), placement(), alignment(),
                                         callers(),  addresses(), stack(),     poison(),
                                         schedule(), graph(),     streams()};
  return all;
}

std::vector<ModeAxis> mode_axes_with(SeedDecides decides) {
  std::vector<ModeAxis> axes = all_mode_axes();
  const auto of_seed = std::ranges::find(axes, axis::kSchedule, &ModeAxis::name);
  switch (decides) {
    case SeedDecides::nothing:
      axes.erase(of_seed);
      break;
    case SeedDecides::contention:
      *of_seed = contention();
      break;
    case SeedDecides::interleaving:
      break;
  }
  return axes;
}

std::vector<ModeAxis> mode_axes_at_once(std::vector<ModeAxis> axes) {
  std::erase_if(axes, [](const ModeAxis& a) { return a.of_enqueued_work; });
  return axes;
}

const ModeAxis* find_mode_axis(std::span<const ModeAxis> axes, std::string_view name) {
  const auto it =
      std::find_if(axes.begin(), axes.end(), [&](const ModeAxis& a) { return a.name == name; });
  return it == axes.end() ? nullptr : &*it;
}

const ModeAxis& mode_axis(std::string_view name) {
  const ModeAxis* axis = find_mode_axis(all_mode_axes(), name);
  RZ_CHECK(axis != nullptr);
  return *axis;
}

}  // namespace redzone
