#include "generators/schedules.h"

#include <algorithm>

#include "core/repeats.h"
#include "generators/calls.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

constexpr std::int64_t kShortBurst = 8;
constexpr std::int64_t kLongBurst = 64;
constexpr std::size_t kMaxScheduleSteps = 512;
constexpr int kMaxRefusals = 4;
constexpr std::uint64_t kPlansPerStreams = 6;
constexpr std::uint64_t kPlansPerGraph = 8;
constexpr std::uint64_t kPlansPerBurst = 64;
// A call's allowance is at least this multiple of CallMaker::least(), to leave a choice of shapes.
constexpr double kChoice = 4;

class Schedule {
 public:
  Schedule(Draw& draw, const CallMaker& calls, const Budget& budget, std::int64_t launches)
      : draw_(draw),
        calls_(calls),
        launches_left_(launches),
        most_left_(budget.max_calls),
        left_{budget.work_per_plan, static_cast<double>(budget.bytes_per_plan)} {
    // Few plans use the whole budget: halve it between 0 and 8 times, mostly many times.
    const auto halvings = std::max(draw.in_range(0, 8), draw.in_range(0, 8));
    const double part = 1.0 / static_cast<double>(launches << halvings);
    allowance_ = {left_.work * part, left_.bytes * part};
    // With a smaller allowance, only empty calls would fit.
    const double even = left_.work / static_cast<double>(launches);
    allowance_.work = std::max(allowance_.work, std::min(kChoice * calls.least().work, even));
    // Sync never, after each call, or by chance.
    enum { kNone, kEach, kSome };
    const int weights[] = {6, 1, 3};
    const auto kind = draw.weighted(weights);
    sync_every_ = kind == kNone ? 0 : kind == kEach ? 1 : 3;
  }

  // Adds the one call that may be larger than the rest. Its work and bytes do not count against the
  // budget; its launch does.
  void large(const Cost& allowance) {
    current_ = calls_.large(draw_, allowance);
    steps_.emplace_back(CallStep{current_, 1, 0});
    --launches_left_;
    --most_left_;
  }

  void run() {
    // A plan has a first call even if it costs more than the budget.
    if (steps_.empty()) {
      current_ = fresh();
      take(calls_.cost(current_), 1);
      steps_.emplace_back(CallStep{current_, 1, 0});
    }
    while (open()) motif();
    end_with_work();
  }

  // Adds one call repeated `most` times, or up to a third fewer, and allows a few other calls after
  // it. Returns false, without effect, if no call is cheap enough.
  bool burst(std::int64_t most) {
    const auto repeat = draw_.in_range(most - most / 3, most);
    const double times = static_cast<double>(repeat);
    Call call = calls_.fresh(draw_, {left_.work / 4 / times, allowance_.bytes});
    const Cost cost = calls_.cost(call);
    if (cost.work * times > left_.work / 4 || cost.bytes > left_.bytes / 4) return false;
    current_ = std::move(call);
    left_.work -= cost.work * times;
    left_.bytes -= cost.bytes;  // the repeats share their buffers
    launches_left_ = std::min(launches_left_, draw_.in_range(0, 3));
    steps_.emplace_back(CallStep{current_, repeat, 0});
    return true;
  }

  // Adds one or two graphs, numbered from 1. One to three calls run, are then captured, perhaps
  // replayed at once, and replayed again between calls of other shapes.
  void graphs() {
    if (steps_.empty()) current_ = fresh();
    const std::int64_t count = draw_.one_in(4) ? 2 : 1;
    for (std::int64_t graph = 1; graph <= count; ++graph) capture(graph);
    for (auto rounds = draw_.in_range(1, 3); rounds > 0 && !bodies_.empty(); --rounds) {
      for (auto n = draw_.in_range(1, 2); n > 0; --n) push(varied(current_));
      replay(bodies_[draw_.index(bodies_.size())]);
    }
    for (auto& body : bodies_)
      if (body.owes_replay) replay(body);
  }

  std::vector<Step> take_steps() { return std::move(steps_); }

 private:
  enum Motif { kFresh, kAgain, kDim, kKnob, kGrow, kShrink, kBack, kBurst, kWalk, kData, kLayout };

  bool open() const {
    return launches_left_ > 0 && refused_ < kMaxRefusals && steps_.size() < kMaxScheduleSteps;
  }
  Call fresh() { return calls_.fresh(draw_, allowance_); }
  Call varied(const Call& from) {
    return draw_.one_in(3) ? calls_.with_knob_switched(draw_, from, allowance_)
                           : calls_.with_dim_switched(draw_, from, allowance_);
  }

  void motif() {
    const int weights[] = {15, 12, 20, 8, 9, 9, 10, 6, 5, 4, 5};
    switch (static_cast<Motif>(draw_.weighted(weights))) {
      case kFresh:
        return push(fresh());
      case kAgain:
        return push(current_);
      case kDim:
        return push(calls_.with_dim_switched(draw_, current_, allowance_));
      case kKnob:
        return push(calls_.with_knob_switched(draw_, current_, allowance_));
      case kGrow:
        return monotone(&CallMaker::grown);
      case kShrink:
        return monotone(&CallMaker::shrunk);
      case kBack: {
        const Call a = current_;
        push(varied(a));
        return push(a);
      }
      case kBurst: {
        const auto repeat = draw_.log_uniform(2, draw_.one_in(3) ? kLongBurst : kShortBurst);
        return push(draw_.one_in(2) ? current_ : varied(current_), repeat);
      }
      case kWalk:
        for (auto n = draw_.in_range(2, 6); n > 0 && open(); --n) push(varied(current_));
        return;
      case kData:
        return push(calls_.with_other_data(draw_, current_));
      case kLayout:
        return push(calls_.with_other_layouts(draw_, current_, allowance_));
    }
  }

  // Adds one to three calls whose value of one dim keeps growing (or shrinking).
  void monotone(Call (CallMaker::*change)(Draw&, const Call&, std::size_t, const Cost&) const) {
    const std::size_t dim = calls_.draw_free_dim(draw_);
    if (dim == calls_.spec().dims.size()) return push(current_);
    for (auto n = draw_.in_range(1, 3); n > 0 && open(); --n)
      push((calls_.*change)(draw_, current_, dim, allowance_));
  }

  // Adds a call that does work if the plan has none: a plan whose calls all launch nothing finds
  // nothing, and if several dims may be 0, there would be many such plans.
  void end_with_work() {
    const bool works = std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      const auto* call = std::get_if<CallStep>(&step);
      return call != nullptr && calls_.does_work(call->call);
    });
    if (works) return;
    Call call = calls_.working(draw_, allowance_);
    const Cost cost = calls_.cost(call);
    CallStep step{std::move(call), 1, 0};
    if (take(cost, 1) == 1) {
      steps_.emplace_back(std::move(step));
      return;
    }
    // No launch is left in the budget: replace the last call.
    auto* const last = std::get_if<CallStep>(&steps_.back());
    const bool fits = cost.work <= left_.work && cost.bytes <= left_.bytes;
    if (last != nullptr && last->graph == 0 && fits) *last = std::move(step);
  }

  // The calls captured into one graph.
  struct Body {
    std::int64_t graph;
    std::int64_t calls;
    Cost cost;
    bool owes_replay;  // the capture has paid for the first replay, which is still missing
  };

  // Runs the calls uncaptured first, as a program warms up before a capture: otherwise the target's
  // setup at the first call of a shape would be captured instead of executed. Does nothing if the
  // budget does not cover the warm-up, the capture and one replay.
  void capture(std::int64_t graph) {
    std::vector<Call> calls;
    Cost cost;
    for (auto n = draw_.in_range(1, 3); n > 0; --n) {
      calls.push_back(calls.empty() ? current_ : varied(calls.back()));
      const Cost one = calls_.cost(calls.back());
      cost.work += one.work;
      cost.bytes += one.bytes;
    }
    const auto size = static_cast<std::int64_t>(calls.size());
    if (!pay_body(cost, size, 3)) return;
    bodies_.push_back({graph, size, cost, true});
    current_ = calls.back();
    for (const auto& call : calls) steps_.emplace_back(CallStep{call, 1, 0});
    for (auto& call : calls) steps_.emplace_back(CallStep{std::move(call), 1, 0, graph});
    if (draw_.one_in(2)) replay(bodies_.back());
  }

  void replay(Body& body) {
    if (!body.owes_replay && !pay_body(body.cost, body.calls, 1)) return;
    body.owes_replay = false;
    steps_.emplace_back(ReplayStep{body.graph});
  }

  bool pay_body(const Cost& cost, std::int64_t calls, std::int64_t times) {
    if (calls * times > most_left_ || take(cost, times) < times) return false;
    launches_left_ -= times * (calls - 1);
    most_left_ -= times * (calls - 1);
    return true;
  }

  void push(Call call, std::int64_t repeat = 1) {
    if (!open()) return;
    const Cost cost = calls_.cost(call);
    repeat = take(cost, repeat);
    if (repeat == 0) {
      ++refused_;
      return;
    }
    if (sync_every_ != 0 && draw_.one_in(sync_every_)) steps_.emplace_back(SyncStep{});
    current_ = std::move(call);
    steps_.emplace_back(CallStep{current_, repeat, 0});
  }

  // Pays for as many launches as the budget has left, at most `wanted`; returns their number.
  std::int64_t take(const Cost& cost, std::int64_t wanted) {
    std::int64_t n = std::min(wanted, most_left_);
    if (cost.work > 0) n = std::min(n, affordable(left_.work / cost.work));
    if (cost.bytes > 0) n = std::min(n, affordable(left_.bytes / cost.bytes));
    launches_left_ -= n;
    most_left_ -= n;
    left_.work -= cost.work * static_cast<double>(n);
    left_.bytes -= cost.bytes * static_cast<double>(n);
    return n;
  }
  static std::int64_t affordable(double times) {
    return static_cast<std::int64_t>(std::clamp(times, 0.0, 1e9));
  }

  Draw& draw_;
  const CallMaker& calls_;
  std::int64_t launches_left_;  // may become negative after a repeated call
  std::int64_t most_left_;      // never negative
  Cost left_;
  Cost allowance_;  // for one launch
  std::uint64_t sync_every_ = 0;
  int refused_ = 0;  // calls that exceeded the rest of the budget
  Call current_;
  std::vector<Body> bodies_;
  std::vector<Step> steps_;
};

// Gives one call a tensor whose offsets exceed 2^31, and removes its repeats.
void enlarge_offsets(Draw& draw, const CallMaker& calls, double max_bytes,
                     std::vector<Step>& steps) {
  auto* step = std::get_if<CallStep>(&steps[draw.index(steps.size())]);
  if (step == nullptr) return;
  if (auto big = calls.with_big_offsets(draw, step->call, max_bytes)) {
    step->call = std::move(*big);
    step->repeat = 1;
  }
}

// Distributes the calls over two streams; a stream may wait for all earlier work of the other. The
// body of a graph stays on one stream, or continues on the other after a wait.
std::vector<Step> on_two_streams(Draw& draw, std::vector<Step> steps) {
  std::vector<Step> dealt;
  std::int64_t graph = 0, stream = 0;  // those of the previous step
  for (auto& step : steps) {
    auto* call = std::get_if<CallStep>(&step);
    auto* replay = std::get_if<ReplayStep>(&step);
    const bool in_body = call != nullptr && call->graph != 0 && call->graph == graph;
    graph = call != nullptr ? call->graph : 0;
    if (in_body && draw.one_in(3)) {
      dealt.emplace_back(WaitStep{1 - stream, stream});
      stream = 1 - stream;
    } else if (!in_body && (call != nullptr || replay != nullptr)) {
      stream = draw.in_range(0, 1);
      if (!dealt.empty() && draw.one_in(3)) dealt.emplace_back(WaitStep{stream, 1 - stream});
    }
    if (call != nullptr) call->stream = stream;
    if (replay != nullptr) replay->stream = stream;
    dealt.push_back(std::move(step));
  }
  return dealt;
}

// A burst needs cheap launches: false if each repeat has its own buffers (in-out tensors, or
// scratch of a target with side streams).
bool may_burst(const TargetSpec& spec) {
  return spec.side_streams == 0 && !repeats_have_own_buffers(spec);
}

}  // namespace

std::vector<Step> draw_schedule(Draw& draw, const CallMaker& calls, const Budget& budget,
                                std::int64_t launches) {
  const auto large_bytes = static_cast<double>(budget.large_bytes);
  Schedule schedule(draw, calls, budget, launches);
  const bool large = draw.chance(budget.large_share);
  if (large) schedule.large({budget.large_work, large_bytes});
  const TargetSpec& spec = calls.spec();
  if (budget.burst > 0 && draw.one_in(kPlansPerBurst) && may_burst(spec))
    schedule.burst(budget.burst);
  else if (budget.graphs && draw.one_in(kPlansPerGraph) && spec.capturable)
    schedule.graphs();
  schedule.run();
  std::vector<Step> steps = schedule.take_steps();
  if (budget.big_offsets && draw.one_in(32) && !large)
    enlarge_offsets(draw, calls,
                    budget.sparse ? static_cast<double>(budget.bytes_per_plan) / 4 : large_bytes,
                    steps);
  if (budget.streams && draw.one_in(kPlansPerStreams))
    steps = on_two_streams(draw, std::move(steps));
  return steps;
}

}  // namespace redzone::generators
