#include "core/plan_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "core/target_name.h"

namespace redzone {
namespace {

Layout read_layout(TableReader f) {
  Layout layout;
  layout.row_padding_elems = f.integer("row_padding", 0);
  layout.transposed = f.flag("transposed", false);
  layout.offset_elems = f.integer("offset", 0);
  if (f.has("unit_stride")) layout.unit_stride = f.integer("unit_stride");
  layout.hnd = f.flag(f.has(kFirstHnd) ? kFirstHnd : "hnd", false);
  layout.slice_elems = f.integer("slice", 0);
  layout.broadcast_dim = f.integer("broadcast", -1);
  layout.reversed_dim = f.integer("reversed", -1);
  f.done();
  return layout;
}

// Reads the fields that calls and replays share.
template <class S>
void read_schedule(TableReader& f, S& step) {
  step.repeat = f.integer_in("repeat", 1, kMaxRepeat, 1);
  step.stream = f.integer_in("stream", 0, kMaxStreams - 1, 0);
}

CallStep read_call(TableReader& f) {
  CallStep step;
  if (f.has("dims")) {
    TableReader dims = f.table("dims");
    for (const auto& name : dims.names()) step.call.dims.emplace(name, dims.integer(name));
  }
  if (f.has("config")) {
    TableReader config = f.table("config");
    for (const auto& name : config.names()) step.call.config.emplace(name, config.value(name));
  }
  if (f.has("layout")) {
    TableReader layouts = f.table("layout");
    for (const auto& name : layouts.names())
      if (const Layout layout = read_layout(layouts.table(name)); !layout.contiguous())
        step.call.layouts.emplace(name, layout);
  }
  step.call.seed = f.not_negative("seed", 1);
  read_schedule(f, step);
  step.graph = f.integer_in("graph", 0, kMaxGraphs, 0);
  return step;
}

WaitStep read_wait(TableReader& f) {
  WaitStep step;
  step.stream = f.integer_in("stream", 0, kMaxStreams - 1);
  step.on = f.integer_in("on", 0, kMaxStreams - 1);
  return step;
}

ReplayStep read_replay(TableReader& f) {
  ReplayStep step;
  step.graph = f.integer_in("graph", 1, kMaxGraphs);
  read_schedule(f, step);
  return step;
}

Step read_step(TableReader& f) {
  const std::string kind = f.string("do");
  Step step;
  if (kind == "call")
    step = read_call(f);
  else if (kind == "sync")
    step = SyncStep{};
  else if (kind == "wait")
    step = read_wait(f);
  else if (kind == "replay")
    step = read_replay(f);
  else
    throw f.error("do", fmt::format("unknown step '{}': call, sync, wait or replay", kind));
  f.done();
  return step;
}

PoolPolicy read_pool(TableReader f) {
  PoolPolicy pool;
  pool.follow_event_dependencies = f.flag("follow_event_dependencies", true);
  pool.allow_opportunistic = f.flag("allow_opportunistic", true);
  pool.allow_internal_dependencies = f.flag("allow_internal_dependencies", true);
  pool.release_threshold_bytes = f.not_negative("release_threshold_bytes", 0);
  f.done();
  return pool;
}

std::uint32_t read_poison(TableReader& f) {
  const std::string text = f.string("poison");
  std::uint32_t poison = 0;
  const bool hex = text.size() > 2 && text.size() <= 10 && text.starts_with("0x");
  const char* end = text.data() + text.size();
  if (!hex || std::from_chars(text.data() + 2, end, poison, 16).ptr != end)
    throw f.error("poison", fmt::format("'{}' must be 0x and up to 8 hex digits", text));
  return poison;
}

Mode read_mode(TableReader f) {
  Mode mode;
  mode.launch = f.named<Launch>("launch");
  mode.allocator = f.named<Allocator>("allocator");
  mode.placement = f.named<Placement>("placement");
  mode.poison = read_poison(f);
  mode.schedule_seed = f.not_negative("schedule_seed", 0);
  if (f.has("sanitizer")) mode.sanitizer = f.named<SanitizerTool>("sanitizer");
  if (f.has("alignment")) mode.alignment = f.named<Alignment>("alignment");
  if (f.has("callers")) mode.callers = f.named<Callers>("callers");
  if (f.has("addresses")) mode.addresses = f.named<Addresses>("addresses");
  if (f.has("stack")) mode.stack = f.named<Stack>("stack");
  if (f.has("pool") && mode.allocator != Allocator::pool)
    throw f.error("pool", "'pool' needs the allocator to be \"pool\"");
  if (f.has("pool")) mode.pool = read_pool(f.table("pool"));
  f.done();
  return mode;
}

}  // namespace

Plan read_plan(TableReader& root) {
  if (const auto version = root.integer("redzone_plan"); version != kPlanVersion)
    throw root.error("redzone_plan", fmt::format("plan version {}, this build reads version {}",
                                                 version, kPlanVersion));
  Plan plan;
  plan.target = root.string("target");
  if (!is_target_name(plan.target))
    throw root.error("target", fmt::format("'{}' must be of [a-z0-9_.]+", plan.target));
  if (root.has("mode")) plan.mode = read_mode(root.table("mode"));
  auto steps = root.tables("step");
  if (steps.empty()) throw root.error("step", "no [[step]]: a plan needs at least one");
  if (steps.size() > kMaxSteps)
    throw root.error("step", fmt::format("{} steps, at most {}", steps.size(), kMaxSteps));
  for (TableReader& f : steps) plan.steps.push_back(read_step(f));
  return plan;
}

}  // namespace redzone
