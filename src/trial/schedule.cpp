#include "trial/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace redzone::trial {
namespace {

Result<int> checked_stream(std::int64_t stream) {
  if (stream < 0 || stream >= kMaxStreams)
    return harness_error(fmt::format("stream {} is not in 0..{}", stream, kMaxStreams - 1));
  return static_cast<int>(stream);
}

Result<void> add_call(const CallStep& step, std::int64_t on_stream, std::int32_t index,
                      bool own_buffers, int graph, Schedule& out) {
  if (step.repeat < 1 || step.repeat > kMaxRepeat)
    return harness_error(fmt::format("repeat {} is not in 1..{}", step.repeat, kMaxRepeat));
  RZ_TRY_ASSIGN(const auto stream, checked_stream(on_stream));
  RunItem item{.call = &step.call, .index = index, .stream = stream, .graph = graph};
  const std::int64_t items = own_buffers ? step.repeat : 1;
  item.runs = own_buffers ? 1 : step.repeat;
  for (std::int64_t k = 0; k < items; ++k) {
    item.first = k == 0;
    item.last = k == items - 1;
    out.items.push_back(item);
  }
  out.streams = std::max(out.streams, stream + 1);
  return {};
}

// Unrolls the steps of a plan in order.
class Unroller {
 public:
  // `graphs`: if false, calls of graphs run as plain calls, once more at each replay.
  Unroller(bool own_buffers, bool graphs, Schedule& out)
      : own_buffers_(own_buffers), graphs_(graphs), out_(out) {}

  Result<void> operator()(const CallStep& step) {
    if (step.graph < 0 || step.graph > kMaxGraphs)
      return harness_error(fmt::format("graph {} is not in 0..{}", step.graph, kMaxGraphs));
    const int graph = static_cast<int>(step.graph);
    if (graph != open_) {
      close();
      if (graphs_ && graph != 0) open(graph, step);
    }
    flush_waits();
    if (graph != 0) body(graph).push_back({&step, calls_});
    return add_call(step, step.stream, calls_++, own_buffers_, graphs_ ? graph : 0, out_);
  }
  Result<void> operator()(const WaitStep& step) {
    RZ_TRY_ASSIGN(const auto stream, checked_stream(step.stream));
    RZ_TRY_ASSIGN(const auto on, checked_stream(step.on));
    // A wait is part of a graph only if another call of the graph follows.
    waits_.push_back({.kind = RunItem::Kind::wait, .stream = stream, .on = on});
    out_.streams = std::max({out_.streams, stream + 1, on + 1});
    return {};
  }
  Result<void> operator()(const SyncStep&) {
    close();
    out_.items.push_back({.kind = RunItem::Kind::sync});
    return {};
  }
  Result<void> operator()(const ReplayStep& step) {
    close();
    if (step.graph < 1 || step.graph > kMaxGraphs || body(static_cast<int>(step.graph)).empty())
      return harness_error(fmt::format("graph {} is replayed and not captured", step.graph));
    if (step.repeat < 1 || step.repeat > kMaxRepeat)
      return harness_error(fmt::format("repeat {} is not in 1..{}", step.repeat, kMaxRepeat));
    RZ_TRY_ASSIGN(const auto stream, checked_stream(step.stream));
    const int graph = static_cast<int>(step.graph);
    out_.streams = std::max(out_.streams, stream + 1);
    if (graphs_) {
      out_.items.push_back(
          {.kind = RunItem::Kind::replay, .stream = stream, .runs = step.repeat, .graph = graph});
      return {};
    }
    for (const auto& [call, index] : body(graph))
      RZ_TRY(add_call(*call, step.stream, index, own_buffers_, 0, out_));
    return {};
  }

  void end() {
    close();
    out_.calls = calls_;
    if (graphs_)
      join();
    else
      mark_ends();
  }

 private:
  struct Captured {
    const CallStep* step;
    std::int32_t index;
  };

  std::vector<Captured>& body(int graph) { return bodies_[static_cast<std::size_t>(graph)]; }

  void open(int graph, const CallStep& first) {
    open_ = graph;
    const auto stream = checked_stream(first.stream);  // add_call() reports the error
    out_.items.push_back(
        {.kind = RunItem::Kind::capture, .stream = stream ? *stream : 0, .graph = graph});
  }
  void close() {
    if (open_ != 0) out_.items.push_back({.kind = RunItem::Kind::end_capture, .graph = open_});
    open_ = 0;
    flush_waits();
  }
  void flush_waits() {
    out_.items.insert(out_.items.end(), waits_.begin(), waits_.end());
    waits_.clear();
  }
  // Everything from the capture of a graph to its last replay is one segment.
  void join() {
    std::array<std::size_t, kMaxGraphs + 1> begin = {};
    for (std::size_t i = 0; i < out_.items.size(); ++i) {
      const RunItem& item = out_.items[i];
      const auto graph = static_cast<std::size_t>(item.graph);
      if (item.kind == RunItem::Kind::capture) begin[graph] = i;
      if (item.kind == RunItem::Kind::replay)
        for (std::size_t k = begin[graph] + 1; k <= i; ++k) out_.items[k].joined = true;
    }
  }
  // Marks the first and the last item of each call; replays may lie between them.
  void mark_ends() {
    std::vector<RunItem*> last(static_cast<std::size_t>(calls_), nullptr);
    for (auto& item : out_.items) {
      if (item.kind != RunItem::Kind::call) continue;
      RunItem*& before = last[static_cast<std::size_t>(item.index)];
      item.first = before == nullptr;
      if (before != nullptr) before->last = false;
      item.last = true;
      before = &item;
    }
  }

  bool own_buffers_;
  bool graphs_;
  Schedule& out_;
  std::int32_t calls_ = 0;
  int open_ = 0;
  std::vector<RunItem> waits_;
  std::array<std::vector<Captured>, kMaxGraphs + 1> bodies_;
};

}  // namespace

Result<void> make_schedule(const Plan& plan, const TrialSpec& trial, bool own_buffers,
                           Schedule& out) {
  out.items.clear();
  out.streams = 1;
  if (trial.order.empty()) {
    Unroller unroll(own_buffers, !trial.plain_graphs, out);
    for (const auto& step : plan.steps) RZ_TRY(std::visit(unroll, step));
    unroll.end();
    return {};
  }
  const auto calls = calls_of(plan);
  out.calls = static_cast<std::int32_t>(calls.size());
  for (const std::uint32_t index : trial.order) {
    if (index >= calls.size())
      return harness_error(fmt::format("call {} of {} in the order", index, calls.size()));
    out.items.push_back({.call = &calls[index]->call, .index = static_cast<std::int32_t>(index)});
  }
  return {};
}

}  // namespace redzone::trial
