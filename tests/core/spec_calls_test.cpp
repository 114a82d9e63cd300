#include "core/spec_calls.h"

#include <gtest/gtest.h>

#include <thread>

namespace redzone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Sleeps longer than the step of the clock, so the next call checks again.
void sleep_a_tick() {
  std::this_thread::sleep_for(milliseconds(12));
}

bool can_call(SpecCalls& calls, SpecCalls::Function* function) {
  sleep_a_tick();
  try {
    const SpecCalls::Running running(&calls, function);
    return true;
  } catch (const SpecCallsEnded&) {
    return false;
  }
}

TEST(SpecCalls, EndWhereTheInnermostLimitSaysSo) {
  SpecCalls calls;
  auto* function = calls.keep("the work function");
  bool outer = false, inner = false;
  EXPECT_TRUE(can_call(calls, function));
  const SpecCalls::Until first(&calls, [&] { return outer; });
  EXPECT_TRUE(can_call(calls, function));
  {
    const SpecCalls::Until second(&calls, [&] { return inner; });
    EXPECT_TRUE(can_call(calls, function));
    inner = true;
    EXPECT_FALSE(can_call(calls, function));
  }
  EXPECT_TRUE(can_call(calls, function));
  outer = true;
  EXPECT_FALSE(can_call(calls, function));
  EXPECT_EQ(calls.times().front().calls, 4u);
}

TEST(SpecCalls, WithoutThemNothingEnds) {
  const SpecCalls::Until until(nullptr, [] { return true; });
  const SpecCalls::Running running(nullptr, nullptr);
}

TEST(SpecCalls, CountTimeByFunction) {
  SpecCalls calls;
  auto* quick = calls.keep("quick");
  auto* slow = calls.keep("slow");
  for (int i = 0; i < 5; ++i) {
    { const SpecCalls::Running running(&calls, quick); }
    const SpecCalls::Running running(&calls, slow);
    sleep_a_tick();
  }
  const auto times = calls.times();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].function, "quick");
  EXPECT_EQ(times[1].calls, 5u);
  EXPECT_GT(times[1].in_all, times[0].in_all);
  EXPECT_GT(times[1].in_all, milliseconds(30));
}

TEST(SlowFunctions, AreThoseThatTookMoreThanHalfOfTheTime) {
  const std::vector<SpecFunctionTime> before{{"a", 10, seconds(100)}};
  const std::vector<SpecFunctionTime> after{
      {"a", 14, seconds(102)}, {"b", 1000, milliseconds(200)}, {"c", 2, milliseconds(1500)}};
  EXPECT_EQ(slow_functions(before, after, seconds(6)),
            (std::vector<std::string>{"a takes 500 ms a call", "c takes 750 ms a call"}));
  EXPECT_TRUE(slow_functions(before, after, seconds(8)).empty());
  EXPECT_TRUE(slow_functions(after, after, seconds(6)).empty());
}

// A dry run of a few plans does little but call them.
TEST(SlowFunctions, AreNotThoseThatWereOnlyCalledOften) {
  const std::vector<SpecFunctionTime> after{{"quick", 100, milliseconds(4)},
                                            {"slow", 100, milliseconds(6)}};
  EXPECT_EQ(slow_functions({}, after, milliseconds(12)),
            (std::vector<std::string>{"slow takes 60 us a call"}));
}

}  // namespace
}  // namespace redzone
