// Trials whose calls launch nothing.
#include <gtest/gtest.h>

#include "oracles/checks.h"
#include "oracles/observations.h"

namespace redzone::oracles {
namespace {

using testing::completed;

bool launched_nothing_in(const Observation& a, const Observation& b) {
  const Observation both[] = {a, b};
  return launched_nothing(both);
}

TEST(LaunchedNothing, IsSaidOfTrialsInWhichNothingCouldFail) {
  Observation idle = completed({1, 2});
  idle.idle = true;
  for (auto& call : idle.calls) call.buffers[1].numel = 0;
  EXPECT_TRUE(launched_nothing_in(idle, idle));

  Observation worked = idle;
  worked.idle = false;
  EXPECT_FALSE(launched_nothing_in(idle, worked));
  Observation written = idle;  // by the CPU, in run()
  written.calls[0].buffers[1].numel = 4;
  EXPECT_FALSE(launched_nothing_in(written, written));
  Observation compared = idle;  // in place, say, and right
  compared.calls[0].comparison = Comparison::compared;
  EXPECT_FALSE(launched_nothing_in(idle, compared));
}

}  // namespace
}  // namespace redzone::oracles
