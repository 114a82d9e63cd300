#include "target/spec_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

namespace redzone {
namespace {

using std::chrono::milliseconds;

TEST(SpecWatch, TellsOfAFunctionThatDoesNotReturn) {
  std::promise<std::string> told;
  SpecWatch watch(milliseconds(40), [&](const std::string& f) { told.set_value(f); });
  auto* name = watch.keep("the work function");
  const SpecWatch::Running running(&watch, name);
  EXPECT_EQ(told.get_future().get(), "the work function");
}

// For any total duration of the calls.
TEST(SpecWatch, CallsThatReturnAreNone) {
  SpecWatch watch(milliseconds(40), [](const std::string& f) { ADD_FAILURE() << f; });
  auto* name = watch.keep("the work function");
  const auto until = std::chrono::steady_clock::now() + milliseconds(300);
  while (std::chrono::steady_clock::now() < until) const SpecWatch::Running running(&watch, name);
  std::this_thread::sleep_for(milliseconds(100));
}

TEST(SpecWatch, WithoutOneNothingIsWatched) {
  const SpecWatch::Running running(nullptr, nullptr);
}

}  // namespace
}  // namespace redzone
