#include "trial/plan_graphs.h"

#include <utility>

namespace redzone::trial {

void PlanGraphs::capture(const RunItem& item, std::size_t unit) {
  if (!state_.session.begin_capture(item.stream)) return;
  open_ = &of(item);
  open_->begin = unit;
  origin_ = item.stream;
}

void PlanGraphs::end_capture(std::size_t unit) {
  Graph* graph = std::exchange(open_, nullptr);
  if (graph == nullptr) return;
  graph->end = unit;
  graph->captured = state_.session.end_capture(true);
  if (graph->captured != 0) state_.flush_fills(origin_);
}

void PlanGraphs::collect_fills(const Graph& graph) {
  jobs_.clear();
  for (std::size_t i = graph.begin; i < graph.end; ++i) {
    for (const auto& tensor : units_[i].tensors) {
      const Role role = tensor.role;
      if (role == Role::inout || (role == Role::out && state_.checks))
        jobs_.push_back(without_canaries(tensor.job));
    }
    if (!state_.checks) continue;
    for (const auto& s : units_[i].scratch)
      jobs_.push_back(graph.replayed ? without_canaries(s.job) : s.job);
  }
  if (!state_.checks || graph.begin == graph.end) return;
  const std::int32_t first = units_[graph.begin].item->index;
  const std::int32_t last = units_[graph.end - 1].item->index;
  for (const auto& a : state_.allocations)
    if (a.temporary && a.call >= first && a.call <= last) jobs_.push_back(without_canaries(a.job));
}

void PlanGraphs::replay(const RunItem& item) {
  Graph& graph = of(item);
  Session& session = state_.session;
  RZ_CHECK(graph.captured != 0);
  state_.flush_watch();
  // Replays of one graph are ordered among themselves; the fills between them are not.
  if (graph.stream >= 0 && !session.wait(item.stream, graph.stream)) return;
  graph.stream = item.stream;
  const std::int32_t call = graph.end > graph.begin ? units_[graph.end - 1].item->index : -1;
  session.set_call(call);
  if (state_.box != nullptr) state_.box->call_begun = call;
  bool ran = true;
  for (std::int64_t r = 0; ran && r < item.runs; ++r) {
    // Only the graph's first replay fills canaries; later ones would fill the same bytes.
    if (r == 0 || !graph.replayed) {
      graph.replayed = r > 0 || graph.replayed;
      collect_fills(graph);
    }
    ran = session.fill(item.stream, jobs_) && session.replay(item.stream, graph.captured);
    if (state_.box != nullptr) ++state_.box->progress;
  }
  if (state_.box != nullptr) {
    state_.box->call_ended = call;
    ++state_.box->progress;
  }
  graph.replayed = true;
  session.set_call(-1);
  if (!ran) return;
  for (std::size_t i = graph.begin; i < graph.end; ++i) units_[i].waits = false;
}

}  // namespace redzone::trial
