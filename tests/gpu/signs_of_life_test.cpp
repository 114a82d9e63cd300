#include "device/cuda/signs_of_life.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace redzone::device::cuda {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Read while another thread writes it.
std::uint64_t progress_of(BlackBox& box) {
  return std::atomic_ref(box.progress).load();
}

TEST(SignsOfLifeTest, ShowWhileItLivesAndNoLonger) {
  // Not on the stack: a compiler may assume that only this thread uses it and not instrument it.
  const auto box = std::make_unique<BlackBox>();
  {
    const SignsOfLife signs(box.get());
    const auto until = steady_clock::now() + std::chrono::seconds(60);
    while (progress_of(*box) < 3 && steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_GE(progress_of(*box), 3u);
  }
  const auto after = progress_of(*box);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(progress_of(*box), after);
}

TEST(SignsOfLifeTest, NeedsNoBox) {
  const SignsOfLife signs(nullptr);
}

}  // namespace
}  // namespace redzone::device::cuda
