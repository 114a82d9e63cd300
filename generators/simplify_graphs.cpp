// Stages of simplify(): removed graphs, and fewer replays.
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrink/Shrink.h>

#include <algorithm>
#include <set>

#include "generators/internal/stages.h"

namespace redzone::generators {
namespace {

std::int64_t graph_of(const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->graph;
  const auto* replay = std::get_if<ReplayStep>(&step);
  return replay == nullptr ? 0 : replay->graph;
}

// The graphs of the plan, ascending.
std::set<std::int64_t> graphs_of(const Plan& plan) {
  std::set<std::int64_t> graphs;
  for (const auto& step : plan.steps)
    if (const auto graph = graph_of(step); graph != 0) graphs.insert(graph);
  return graphs;
}

// Runs the calls of the graph at the place of the capture; drops the replays.
Plan plain_at_capture(const Plan& plan, std::int64_t graph) {
  Plan out = plan;
  std::erase_if(out.steps, [&](const Step& s) {
    return std::holds_alternative<ReplayStep>(s) && graph_of(s) == graph;
  });
  for (auto& step : out.steps)
    if (graph_of(step) == graph) std::get<CallStep>(step).graph = 0;
  return out;
}

Plan without_graph(const Plan& plan, std::int64_t graph) {
  Plan out = plan;
  std::erase_if(out.steps, [&](const Step& s) { return graph_of(s) == graph; });
  return out;
}

// Runs the calls of the graph at the place of the last replay; drops the capture and earlier
// replays.
Plan plain_at_replay(const Plan& plan, std::int64_t graph) {
  std::vector<CallStep> body;
  for (const auto& step : plan.steps)
    if (const auto* call = std::get_if<CallStep>(&step); call != nullptr && call->graph == graph)
      body.push_back(*call);
  const auto last = std::find_if(plan.steps.rbegin(), plan.steps.rend(), [&](const Step& s) {
    return std::holds_alternative<ReplayStep>(s) && graph_of(s) == graph;
  });
  Plan out{plan.target, plan.mode, {}};
  for (const auto& step : plan.steps) {
    if (graph_of(step) != graph) out.steps.push_back(step);
    if (last == plan.steps.rend() || &step != &*last) continue;
    for (CallStep call : body) {
      call.graph = 0;
      call.stream = std::get<ReplayStep>(step).stream;
      out.steps.emplace_back(std::move(call));
    }
  }
  return out;
}

rc::Seq<Plan> no_graphs(const OriginPtr& origin) {
  Plan plan = origin->plan;
  for (const auto graph : graphs_of(plan)) plan = plain_at_capture(plan, graph);
  return rc::seq::just(std::move(plan));
}

rc::Seq<Plan> fewer_graphs(const OriginPtr& origin) {
  std::vector<Plan> plans;
  for (const auto graph : graphs_of(origin->plan)) {
    plans.push_back(without_graph(origin->plan, graph));
    plans.push_back(plain_at_capture(origin->plan, graph));
    plans.push_back(plain_at_replay(origin->plan, graph));
  }
  return rc::seq::fromContainer(std::move(plans));
}

// Renumbers graphs from 1.
rc::Seq<Plan> lower_graphs(const OriginPtr& origin) {
  const auto graphs = graphs_of(origin->plan);
  const auto lower = [&](std::int64_t graph) {
    return graph == 0 ? 0 : std::distance(graphs.begin(), graphs.find(graph)) + 1;
  };
  Plan plan = origin->plan;
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step))
      call->graph = lower(call->graph);
    else if (auto* replay = std::get_if<ReplayStep>(&step))
      replay->graph = lower(replay->graph);
  return rc::seq::just(std::move(plan));
}

rc::Seq<Plan> fewer_replays(const OriginPtr& origin) {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < origin->plan.steps.size(); ++i) {
    const auto* replay = std::get_if<ReplayStep>(&origin->plan.steps[i]);
    if (replay == nullptr) continue;
    const auto add = [&](auto change) {
      plans.push_back(origin->plan);
      change(std::get<ReplayStep>(plans.back().steps[i]));
    };
    for (const auto repeat : descending_choices(replay->repeat, 1, 0))
      add([&](ReplayStep& r) { r.repeat = repeat; });
    if (replay->stream != 0) add([](ReplayStep& r) { r.stream = 0; });
  }
  return rc::seq::fromContainer(std::move(plans));
}

}  // namespace

std::vector<Stage> graph_stages() {
  return {no_graphs, fewer_graphs, fewer_replays, lower_graphs};
}

}  // namespace redzone::generators
