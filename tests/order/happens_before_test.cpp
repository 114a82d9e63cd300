#include "order/happens_before.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <optional>
#include <set>
#include <vector>

namespace redzone::order {
namespace {

constexpr std::size_t kStreams = 3;

// A program, and a device that runs it: streams are queues, and any first operation that waits for
// nothing may run next. What it allows is found by running it, without clocks.
struct Step {
  enum class Kind : std::uint8_t { work, host_work, record, wait, synchronize, synchronize_all };
  Kind kind = Kind::work;
  std::size_t stream = 0;
  std::size_t event = 0;  // record: by position; wait: which of the recorded ones
};

using Program = std::vector<Step>;

Program some_program() {
  const auto steps = *rc::gen::inRange<int>(2, 14);
  Program out;
  std::size_t recorded = 0;
  for (int i = 0; i < steps; ++i) {
    Step step;
    step.stream = *rc::gen::inRange<std::size_t>(0, kStreams);
    step.kind = *rc::gen::weightedElement<Step::Kind>({{6, Step::Kind::work},
                                                       {1, Step::Kind::host_work},
                                                       {3, Step::Kind::record},
                                                       {3, Step::Kind::wait},
                                                       {1, Step::Kind::synchronize},
                                                       {1, Step::Kind::synchronize_all}});
    if (step.kind == Step::Kind::wait && recorded == 0) step.kind = Step::Kind::record;
    if (step.kind == Step::Kind::record) step.event = recorded++;
    if (step.kind == Step::Kind::wait) step.event = *rc::gen::inRange<std::size_t>(0, recorded);
    out.push_back(step);
  }
  return out;
}

std::string text_of(const Program& program) {
  constexpr std::array kNames{"work", "host_work", "record", "wait", "synchronize", "all"};
  std::string out;
  for (const Step& step : program)
    out += fmt::format("{}({}, event {})\n", kNames.at(static_cast<std::size_t>(step.kind)),
                       step.stream, step.event);
  return out;
}

struct Clocks {
  HappensBefore order{kStreams};
  std::vector<std::optional<HappensBefore::Operation>> number;  // of each step
};

Clocks clocks_of(const Program& program) {
  Clocks out;
  std::vector<Event> events;
  for (const Step& step : program) {
    out.number.emplace_back();
    switch (step.kind) {
      case Step::Kind::work:
        out.number.back() = out.order.enqueue(step.stream);
        break;
      case Step::Kind::host_work:
        out.number.back() = out.order.on_host();
        break;
      case Step::Kind::record:
        events.push_back(out.order.record(step.stream));
        break;
      case Step::Kind::wait:
        out.order.wait(step.stream, events[step.event]);
        break;
      case Step::Kind::synchronize:
        out.order.synchronize(step.stream);
        break;
      case Step::Kind::synchronize_all:
        out.order.synchronize();
        break;
    }
  }
  return out;
}

// Runs the program with the device holding step `held` back as long as it can, and returns the
// steps with work in the order in which they ran. The host goes on as far as it can, too.
std::vector<std::size_t> run_holding(const Program& program, std::size_t held) {
  std::vector<std::size_t> ran;
  std::vector<std::vector<std::size_t>> queues(kStreams);
  std::set<std::size_t> recorded;  // events that were reached
  std::size_t host = 0;
  const auto may_run = [&](std::size_t step) {
    return program[step].kind != Step::Kind::wait || recorded.contains(program[step].event);
  };
  const auto run_first = [&](std::vector<std::size_t>& queue) {
    const std::size_t step = queue.front();
    queue.erase(queue.begin());
    if (program[step].kind == Step::Kind::record) recorded.insert(program[step].event);
    if (program[step].kind == Step::Kind::work) ran.push_back(step);
  };
  const auto host_may_go = [&] {
    if (host == program.size()) return false;
    const Step& step = program[host];
    if (step.kind == Step::Kind::host_work && host == held) return false;
    if (step.kind == Step::Kind::synchronize) return queues[step.stream].empty();
    if (step.kind == Step::Kind::synchronize_all)
      return queues[0].empty() && queues[1].empty() && queues[2].empty();
    return true;
  };
  const auto host_goes = [&] {
    const Step& step = program[host];
    if (step.kind == Step::Kind::host_work) ran.push_back(host);
    if (step.kind == Step::Kind::work || step.kind == Step::Kind::record ||
        step.kind == Step::Kind::wait)
      queues[step.stream].push_back(host);
    ++host;
  };
  for (;;) {
    bool went = false;
    while (host_may_go()) {
      host_goes();
      went = true;
    }
    for (auto& queue : queues)
      while (!queue.empty() && queue.front() != held && may_run(queue.front())) {
        run_first(queue);
        went = true;
      }
    if (went) continue;
    if (held >= program.size()) break;
    held = program.size();  // nothing else is left
  }
  return ran;
}

std::size_t place(const std::vector<std::size_t>& ran, std::size_t step) {
  return static_cast<std::size_t>(std::find(ran.begin(), ran.end(), step) - ran.begin());
}

// The host's own steps are held on the host: all that it enqueues later comes after them.
TEST(HappensBefore, OrdersExactlyWhatADeviceCannotReverse) {
  EXPECT_TRUE(rc::check("b is before a in some run, if and only if a is not before b", [] {
    const Program program = some_program();
    RC_LOG() << text_of(program);
    const Clocks clocks = clocks_of(program);
    for (std::size_t a = 0; a < program.size(); ++a) {
      if (!clocks.number[a]) continue;
      const auto ran = run_holding(program, a);
      for (std::size_t b = a + 1; b < program.size(); ++b) {
        if (!clocks.number[b]) continue;
        RC_ASSERT(place(ran, a) < ran.size());
        RC_ASSERT(place(ran, b) < ran.size());
        RC_ASSERT((place(ran, b) < place(ran, a)) ==
                  !clocks.order.before(*clocks.number[a], *clocks.number[b]));
      }
    }
  }));
}

TEST(HappensBefore, KnowsWhatTheNextOperationOfAStreamComesAfter) {
  EXPECT_TRUE(rc::check("as before() says of it", [] {
    const HappensBefore order = clocks_of(some_program()).order;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      HappensBefore later = order;
      const auto next = later.enqueue(stream);
      for (HappensBefore::Operation a = 0; a < next; ++a)
        RC_ASSERT(order.before_later(a, stream) == later.before(a, next));
    }
  }));
}

TEST(HappensBefore, IsAPartialOrder) {
  EXPECT_TRUE(rc::check(
      "irreflexive, without circles, transitive, never against the order of the calls", [] {
        const Clocks clocks = clocks_of(some_program());
        const auto n = static_cast<HappensBefore::Operation>(clocks.order.size());
        const HappensBefore& order = clocks.order;
        for (HappensBefore::Operation a = 0; a < n; ++a) {
          RC_ASSERT(!order.before(a, a));
          for (HappensBefore::Operation b = 0; b < n; ++b) {
            if (order.before(a, b)) RC_ASSERT(a < b);
            for (HappensBefore::Operation c = 0; c < n; ++c)
              if (order.before(a, b) && order.before(b, c)) RC_ASSERT(order.before(a, c));
          }
        }
      }));
}

TEST(HappensBefore, AnEventOrdersWhatWasThereWhenItWasRecorded) {
  HappensBefore order(2);
  const auto first = order.enqueue(0);
  const Event event = order.record(0);
  const auto second = order.enqueue(0);
  order.wait(1, event);
  const auto waits = order.enqueue(1);
  EXPECT_TRUE(order.before(first, waits));
  EXPECT_FALSE(order.before(second, waits));
}

TEST(HappensBefore, AWaitForAnEventThatWasNeverRecordedOrdersNothing) {
  HappensBefore order(2);
  const auto first = order.enqueue(0);
  order.wait(1, Event{});
  EXPECT_FALSE(order.before(first, order.enqueue(1)));
}

}  // namespace
}  // namespace redzone::order
