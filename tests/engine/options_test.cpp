// How many processes a run has.
#include "engine/options.h"

#include <gtest/gtest.h>

namespace redzone::engine {
namespace {

TEST(Workers, AreThoseThatRunAtATime) {
  const Registry registry;
  EngineOptions options;
  options.workers = 3;
  options.workload = Workload::campaign;
  EXPECT_EQ(pool_options(options, registry).workers, 3u);
  options.workload = Workload::replay;
  EXPECT_EQ(pool_options(options, registry).workers, 0u);
  EXPECT_EQ(pool_options(options, registry).spares, 3u);
}

}  // namespace
}  // namespace redzone::engine
