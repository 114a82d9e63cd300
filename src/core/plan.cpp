#include "core/plan.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/plan_text.h"

namespace redzone {

const Layout& Call::layout(std::string_view tensor) const {
  static const Layout contiguous;
  auto it = layouts.find(tensor);
  return it == layouts.end() ? contiguous : it->second;
}

std::vector<const CallStep*> calls_of(const Plan& plan) {
  std::vector<const CallStep*> calls;
  for (const auto& step : plan.steps)
    if (const auto* call = std::get_if<CallStep>(&step)) calls.push_back(call);
  return calls;
}

std::int64_t call_count(const Plan& plan) {
  std::int64_t n = 0;
  std::array<std::int64_t, kMaxGraphs + 1> body = {};  // calls in each graph
  const auto in_range = [](std::int64_t graph) { return graph >= 1 && graph <= kMaxGraphs; };
  for (const auto& step : plan.steps) {
    if (const auto* call = std::get_if<CallStep>(&step)) {
      n += call->repeat;
      if (in_range(call->graph)) body[static_cast<std::size_t>(call->graph)] += call->repeat;
    } else if (const auto* replay = std::get_if<ReplayStep>(&step)) {
      if (in_range(replay->graph))
        n += replay->repeat * body[static_cast<std::size_t>(replay->graph)];
    }
  }
  return n;
}

bool has_graphs(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    const auto* call = std::get_if<CallStep>(&step);
    return std::holds_alternative<ReplayStep>(step) || (call != nullptr && call->graph != 0);
  });
}

bool has_streams(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    if (const auto* call = std::get_if<CallStep>(&step)) return call->stream != 0;
    if (const auto* replay = std::get_if<ReplayStep>(&step)) return replay->stream != 0;
    return std::holds_alternative<WaitStep>(step);
  });
}

Plan with_plain_graphs(const Plan& plan) {
  Plan out{plan.target, plan.mode, {}};
  std::map<std::int64_t, std::vector<CallStep>> bodies;
  for (const auto& step : plan.steps) {
    if (const auto* replay = std::get_if<ReplayStep>(&step)) {
      for (CallStep call : bodies[replay->graph]) {
        call.stream = replay->stream;
        out.steps.emplace_back(std::move(call));
      }
      continue;
    }
    out.steps.push_back(step);
    auto* call = std::get_if<CallStep>(&out.steps.back());
    if (call == nullptr || call->graph == 0) continue;
    const std::int64_t graph = std::exchange(call->graph, 0);
    bodies[graph].push_back(*call);
  }
  return out;
}

std::string plan_hash(const Plan& plan) {
  const std::string text = text_to_hash(plan);
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace redzone
