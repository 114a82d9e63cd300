// Runs the calls of a segment in order.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "trial/call_context.h"
#include "trial/call_order.h"
#include "trial/collecting_target.h"
#include "trial/plan_graphs.h"
#include "trial/segment.h"
#include "trial/thrown.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kFilledStackBytes = std::size_t{64} << 10;

// The word that fills the stack. It differs from the poison of memory, so that behavior that
// depends on that poison does not depend on the stack, too.
std::optional<std::uint32_t> word_of(Stack stack) {
  switch (stack) {
    case Stack::filled:
      return 0x7fa5a5a5;
    case Stack::filled_finite:
      return 0x3f5a5a5a;  // 0.853 as a float
    case Stack::as_left:
      break;
  }
  return std::nullopt;
}

// Leaves the word on the stack below the frame of the caller, where the target's frames will be.
[[gnu::noinline]] void fill_stack(std::uint32_t with) {
  std::uint32_t words[kFilledStackBytes / sizeof(std::uint32_t)];
  std::fill(std::begin(words), std::end(words), with);
  asm volatile("" : : "r"(words) : "memory");  // keeps the compiler from removing the fill
}

// While this object exists, the stack below its function is filled. The destructor overwrites the
// fill, because a later trial would otherwise find it there, and trials must differ in the stack.
class FilledStack {
 public:
  explicit FilledStack(std::optional<std::uint32_t> word) : filled_(word) {
    if (word) fill_stack(*word);
  }
  ~FilledStack() {
    if (filled_) fill_stack(0);
  }
  FilledStack(const FilledStack&) = delete;
  FilledStack& operator=(const FilledStack&) = delete;

 private:
  bool filled_;
};

// The target may fork, and let the child return: the child exits here, since it must not answer the
// driver.
class SameProcess {
 public:
  SameProcess() : us_(::getpid()) {}
  ~SameProcess() {
    if (::getpid() != us_) ::_exit(0);
  }
  SameProcess(const SameProcess&) = delete;
  SameProcess& operator=(const SameProcess&) = delete;

 private:
  const pid_t us_;
};

// Calls `code` of the target for one run of a call. Leaves the context of the run in `context`.
template <class Code>
void run_code(TrialState& state, const TargetSpec& spec, CallUnit& unit, std::int64_t run,
              const char* function, std::optional<CallContext>& context, Code code) {
  Session& session = state.session;
  const SameProcess same;
  context.emplace(state, unit, run);
  try {
    code(*context);
    context->finish();
  } catch (const SpecError& e) {
    session.stop(End::spec_error,
                 fmt::format("target '{}': {}(): {}", spec.name, function, e.what()));
  } catch (...) {
    auto thrown = thrown_now();
    session.stop_fault(std::move(thrown.code), unit.item->index, {}, std::move(thrown.text));
  }
}

// Number of items at the front that form one step of the plan: the body of a graph, the repeats of
// a call, or one item.
std::size_t items_of_step(std::span<const RunItem> items) {
  using Kind = RunItem::Kind;
  std::size_t count = 1;
  const auto more = [&](auto belongs) {
    while (count < items.size() && belongs(items[count])) ++count;
  };
  if (items.front().kind == Kind::call)
    more([&](const RunItem& item) {
      return item.kind == Kind::call && item.index == items.front().index;
    });
  if (items.front().kind == Kind::capture) {
    more([](const RunItem& item) { return item.kind != Kind::end_capture; });
    count = std::min(count + 1, items.size());
  }
  return count;
}

class SegmentRun {
 public:
  SegmentRun(TrialState& state, const TargetSpec& spec, Target& target, Segment& segment)
      : state_(state),
        session_(state.session),
        spec_(spec),
        target_(target),
        segment_(segment),
        order_(state),
        graphs_(state, segment.units) {}

  void run() {
    for (auto items = segment_.items; !items.empty() && !session_.stopped();) {
      const std::size_t count = items_of_step(items);
      run_step(items.first(count));
      items = items.subspan(count);
    }
    graphs_.end_capture(segment_.ran);  // if a call stopped the trial
    session_.open();
    collect();
  }

 private:
  // Runs the step in a separate thread if it makes calls and the mode requires it.
  void run_step(std::span<const RunItem> items) {
    using Kind = RunItem::Kind;
    const Kind kind = items.front().kind;
    const bool calls = kind == Kind::call || kind == Kind::capture;
    if (state_.mode.callers == Callers::one || !calls) return run_items(items);
    state_.caller.run([&] {
      run_items(items);
      // Objects destroyed at the end of the thread belong to its last call, and may use the context
      // of that call.
      if (context_) enter(context_->index());
    });
    if (context_) leave(context_->index());
    context_.reset();
  }

  void run_items(std::span<const RunItem> items) {
    for (const auto& item : items)
      if (!session_.stopped()) run_item(item);
  }

  // Work of an immediate target cannot be held back.
  bool hold() { return state_.immediate || session_.hold(); }

  void run_item(const RunItem& item) {
    switch (item.kind) {
      case RunItem::Kind::sync:
        session_.synchronize();
        order_.synchronized();
        break;
      case RunItem::Kind::wait:
        session_.wait(item.stream, item.on);
        order_.waited(item.stream, item.on);
        break;
      case RunItem::Kind::capture:
        if (!hold()) break;
        order_.begin_capture();
        graphs_.capture(item, segment_.ran);
        break;
      case RunItem::Kind::end_capture:
        graphs_.end_capture(segment_.ran);
        order_.end_capture();
        break;
      case RunItem::Kind::replay:
        if (hold() && order_.before(item.stream)) graphs_.replay(item);
        break;
      case RunItem::Kind::call:
        if (!hold() || !order_.before(item.stream)) break;
        run_call(segment_.units[segment_.ran]);
        segment_.units[segment_.ran].waits = session_.capturing();
        if (!session_.stopped() || session_.gave_up()) ++segment_.ran;
        break;
    }
  }

  void run_call(CallUnit& unit) {
    enter(unit.item->index);
    for (std::int64_t r = 0; r < unit.item->runs && !session_.stopped(); ++r) {
      state_.show_progress();
      if (state_.immediate && !state_.make_ready()) break;
      run_code(state_, spec_, unit, r, "run", context_, [&](CallContext& context) {
        const FilledStack stack(state_.checks ? word_of(state_.mode.stack) : std::nullopt);
        target_.run(context);
      });
    }
    if (state_.mode.callers == Callers::one) context_.reset();
    if (state_.watches_freed() && !session_.capturing())  // a graph reuses the scratch
      for (auto& scratch : unit.scratch) state_.spent.push_back({unit.item->stream, &scratch});
    leave(unit.item->index);
  }

  void enter(std::int32_t call) {
    session_.set_call(call);
    if (state_.box != nullptr) state_.box->call_begun = call;
  }
  void leave(std::int32_t call) {
    if (state_.box != nullptr) state_.box->call_ended = call;
    state_.show_progress();
    // Every launch has completed in blocking mode: the tool's output so far is about this call.
    if (state_.mode.launch == Launch::blocking) state_.drain_sanitizer(call);
    session_.set_call(-1);
  }

  // If a call was refused, results are collected from the calls before it.
  void collect() {
    auto* const collecting = dynamic_cast<CollectingTarget*>(&target_);
    if (collecting == nullptr || (session_.stopped() && !session_.gave_up())) return;
    const std::size_t complete =
        session_.gave_up() ? std::max<std::size_t>(segment_.ran, 1) - 1 : segment_.ran;
    for (std::size_t i = 0; i < complete; ++i) {
      CallUnit& unit = segment_.units[i];
      session_.set_call(unit.item->index);
      for (std::int64_t r = 0; r < unit.item->runs && !session_.lost(); ++r)
        run_code(state_, spec_, unit, r, "collect", context_,
                 [&](CallContext& context) { collecting->collect(context); });
      context_.reset();
      session_.set_call(-1);
    }
  }

  TrialState& state_;
  Session& session_;
  const TargetSpec& spec_;
  Target& target_;
  Segment& segment_;
  CallOrder order_;
  PlanGraphs graphs_;
  std::optional<CallContext> context_;  // of the latest call, if its thread goes on
};

}  // namespace

void run(TrialState& state, const TargetSpec& spec, Target& target, Segment& segment) {
  SegmentRun(state, spec, target, segment).run();
}

}  // namespace redzone::trial
