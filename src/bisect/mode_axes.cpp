// How the plan runs.
#include <fmt/format.h>

#include "bisect/axis_list.h"
#include "core/plan_text.h"
#include "oracles/axes.h"

namespace redzone::bisect {
namespace {

// All on stream 0, where nothing has to wait.
void on_one_stream(Draft& draft) {
  for (std::size_t i = 0; i < draft.plan.steps.size(); ++i) {
    auto& step = draft.plan.steps[i];
    if (auto* call = std::get_if<CallStep>(&step)) call->stream = 0;
    if (auto* replay = std::get_if<ReplayStep>(&step)) replay->stream = 0;
    if (std::holds_alternative<WaitStep>(step)) draft.dropped[i] = true;
  }
}

}  // namespace

void add_mode_axes(AxisList& list, const AxesOptions& options) {
  const Mode mode = list.plan().mode;
  const std::string by_oracle = axis_of_oracle(options.kind);
  const auto begin = [&](std::string name, std::string value, bool alone = false) {
    if (name == by_oracle) return false;
    list.begin(AxisKind::mode, std::move(name), std::move(value), alone);
    return true;
  };
  if (begin("launch", std::string(name_of(mode.launch))))
    for (const auto v : {Launch::blocking, Launch::async, Launch::gated})
      list.add(std::string(name_of(v)), [v](Draft& d) { d.plan.mode.launch = v; });
  if (begin("allocator", std::string(name_of(mode.allocator))))
    for (const auto v : {Allocator::guard, Allocator::caching, Allocator::pool})
      list.add(std::string(name_of(v)), [v](Draft& d) {
        if (v != d.plan.mode.allocator) d.plan.mode = with_allocator(d.plan.mode, v);
      });
  if (begin("placement", std::string(name_of(mode.placement))))
    for (const auto v : {Placement::tail, Placement::head})
      list.add(std::string(name_of(v)), [v](Draft& d) { d.plan.mode.placement = v; });
  if (begin("poison", fmt::format("0x{:08x}", mode.poison)))
    for (const auto v : {oracles::kNanPoison, oracles::kFinitePoison})
      list.add(fmt::format("0x{:08x}", v), [v](Draft& d) { d.plan.mode.poison = v; });
  // The oracle of `async` looks under many schedules, too.
  if (options.schedules && options.kind != FailKind::async &&
      begin("schedule", fmt::format("{}", mode.schedule_seed)))
    for (const std::uint64_t v : {0, 1, 2, 3, 4, 5})
      list.add(fmt::format("{}", v), [v](Draft& d) { d.plan.mode.schedule_seed = v; });
  if (has_graphs(list.plan()) && begin("graph", "replayed", true))
    list.add("plain calls", [](Draft& d) { d = Draft(with_plain_graphs(d.done())); });
  if (has_streams(list.plan()) && begin("streams", "several")) list.add("one", on_one_stream);
}

}  // namespace redzone::bisect
