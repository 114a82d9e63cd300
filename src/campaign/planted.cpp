#include "campaign/planted.h"

#include <fmt/format.h>

#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

constexpr auto kGated = Launch::gated;
constexpr auto kAsync = Launch::async;
constexpr auto kBlocking = Launch::blocking;
constexpr auto kTail = Placement::guard_after;
constexpr auto kHead = Placement::guard_before;

Mode mode(Launch launch, Placement placement) {
  Mode out;
  out.launch = launch;
  out.placement = placement;
  return out;
}

Mode over(Allocator allocator, Launch launch) {
  Mode out = mode(launch, kTail);
  out.allocator = allocator;
  return out;
}

Mode by_threads(Mode mode) {
  mode.callers = Callers::each;
  return mode;
}

Mode at_same_addresses(Mode mode) {
  mode.addresses = Addresses::reused;
  return mode;
}

Mode on_filled_stack(Mode mode) {
  mode.stack = Stack::filled;
  return mode;
}

// True if the allocator reuses freed memory, so that lifetimes matter.
bool uses_again(Allocator allocator) {
  return allocator == Allocator::pool || allocator == Allocator::caching;
}

// Bugs that one trial shows.
void plant_in_one_trial(std::vector<Planted>& all) {
  using enum FailKind;
  const auto plant = [&](Planted planted) { all.push_back(std::move(planted)); };
  plant({"a write past the end",
         "write_past_end",
         "fault",
         illegal_access,
         mode(kGated, kTail),
         {64}});
  plant({"a write before the start",
         "write_before_start",
         "fault",
         illegal_access,
         mode(kAsync, kHead),
         {64}});
  plant({"a write over a canary",
         "write_before_start",
         "redzone",
         redzone,
         mode(kBlocking, kTail),
         {64}});
  plant({"a write to freed memory",
         "write_after_free",
         "redzone",
         use_after_free,
         mode(kAsync, kTail),
         {64}});
  plant({"a wrong value", "wrong_value", "reference", reference, mode(kBlocking, kHead), {64}});
  plant({"scratch for one CTA of two",
         "short_scratch",
         "scratch",
         scratch,
         mode(kBlocking, kTail),
         {64}});
}

// Bugs that show when trials are compared.
void plant_differences(std::vector<Planted>& all) {
  using enum FailKind;
  const auto plant = [&](Planted planted) { all.push_back(std::move(planted)); };
  plant({"a read of unwritten memory",
         "unwritten_scratch",
         "uninitialized",
         uninitialized,
         mode(kAsync, kTail),
         {64}});
  plant({"state kept from an earlier call",
         "stale_state",
         "history",
         history,
         mode(kGated, kTail),
         {64, 128}});
  plant({"memory of the host that is written again too soon",
         "early_rewrite",
         "async",
         async,
         mode(kGated, kTail),
         {64, 64}});
  plant({"what a graph keeps from its capture",
         "counts_calls",
         "graph",
         graph,
         mode(kAsync, kTail),
         {64},
         Steps::captured});
  plant({"a value that is new in every run",
         "counts_runs",
         "repetition",
         nondeterministic,
         mode(kAsync, kTail),
         {64}});
  plant({"what a host thread keeps for itself",
         "thread_set_up",
         "host-thread",
         host_thread,
         by_threads(mode(kAsync, kTail)),
         {64, 64}});
  plant({"what is kept for the address of a tensor",
         "counts_at_address",
         "address",
         address,
         at_same_addresses(mode(kAsync, kTail)),
         {64, 64}});
  plant({"a local variable that nothing has written",
         "uninitialized_local",
         "uninitialized-local",
         uninitialized_local,
         on_filled_stack(mode(kAsync, kTail)),
         {64}});
  plant(
      {"a value made of an address", "address", "placement", placement, mode(kAsync, kTail), {64}});
}

void plant_clean_target(std::vector<Planted>& all) {
  const std::string clean = "the clean target";
  all.push_back({clean, "clean", "screen", {}, mode(kGated, kTail), {64, 128, 64}});
  all.push_back({clean, "clean", "uninitialized", {}, mode(kAsync, kTail), {64, 128}});
  all.push_back({clean, "clean", "history", {}, mode(kGated, kHead), {64, 128}});
}

void plant_over(Allocator allocator, std::vector<Planted>& all) {
  using enum FailKind;
  all.push_back({"a read of unwritten memory",
                 "unwritten_scratch",
                 "uninitialized",
                 uninitialized,
                 over(allocator, kGated),
                 {64}});
  if (uses_again(allocator))
    all.push_back({"memory that is used again",
                   "reused_address",
                   "allocation",
                   allocation,
                   over(allocator, kGated),
                   {64}});
  all.push_back(
      {"the clean target", "clean", "screen", {}, over(allocator, kGated), {64, 128, 64}});
}

}  // namespace

bool faults(const Planted& planted) {
  return planted.kind && ends_trial(*planted.kind);
}

Plan plan_of(const Planted& planted) {
  Plan plan;
  plan.target = fmt::format("selftest.{}", planted.target);
  plan.mode = planted.mode;
  const bool captured = planted.steps == Steps::captured;
  for (const auto n : planted.sizes) {
    CallStep step{Call{{{"N", n}}, {}, {}, 1}};
    step.graph = captured ? 1 : 0;
    plan.steps.emplace_back(std::move(step));
  }
  if (captured) plan.steps.emplace_back(ReplayStep{1, 1, 0});
  return plan;
}

std::vector<Planted> planted_bugs(const std::vector<Allocator>& allocators, bool seeded_schedules) {
  std::vector<Planted> all;
  plant_in_one_trial(all);
  plant_differences(all);
  plant_clean_target(all);
  for (const auto allocator : allocators)
    if (allocator != Allocator::guard) plant_over(allocator, all);
  all.push_back({"two streams without a wait between them",
                 "missing_wait",
                 "order",
                 FailKind::order,
                 mode(kAsync, kTail),
                 {64}});
  if (seeded_schedules)
    all.push_back({"a race between blocks",
                   "last_block",
                   "schedule",
                   FailKind::schedule,
                   mode(kAsync, kTail),
                   {64}});
  return all;
}

std::vector<Planted> planted_without_device() {
  using enum FailKind;
  return {
      {"scratch for one CTA of two",
       "short_scratch",
       "scratch",
       scratch,
       mode(kGated, kTail),
       {64}},
      {"a launch that no device takes",
       "oversized_block",
       "fault",
       fault,
       mode(kAsync, kTail),
       {64}},
      {"the launch of an earlier call",
       "stale_launch",
       "launch-mismatch",
       launch_config,
       mode(kGated, kTail),
       {64, 256}},
      {"the clean target", "clean", "dry-screen", {}, mode(kGated, kTail), {64, 128, 64}},
  };
}

}  // namespace redzone::campaign
