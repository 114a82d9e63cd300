#include "device/cuda/signs_of_life.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace redzone::device::cuda {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// As the driver reads it: a page that another writes.
std::uint64_t progress_of(const BlackBox& box) {
  return const_cast<const volatile BlackBox&>(box).progress;
}

TEST(SignsOfLifeTest, ShowWhileItLivesAndNoLonger) {
  BlackBox box;
  {
    const SignsOfLife signs(&box);
    const auto until = steady_clock::now() + std::chrono::seconds(60);
    while (progress_of(box) < 3 && steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_GE(progress_of(box), 3u);
  }
  const auto after = progress_of(box);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(progress_of(box), after);
}

TEST(SignsOfLifeTest, NeedsNoBox) {
  const SignsOfLife signs(nullptr);
}

}  // namespace
}  // namespace redzone::device::cuda
