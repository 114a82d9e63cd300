// The chunk kernels on a device, over the plans that a campaign would draw.
#include <gtest/gtest.h>

#include "generators/plan_generator.h"
#include "targets/chunk_runner.h"

namespace redzone::test {
namespace {

using ChunkGenerated = ChunkTest;

TEST_P(ChunkGenerated, PlansAreClean) {
  generators::PlanGenerator generator(spec(), generators::host_budget(), 5);
  for (int i = 0; i < 150 && !HasFailure(); ++i) runner().expect_clean(generator.next(), spec());
}

INSTANTIATE_TEST_SUITE_P(Family, ChunkGenerated, all_chunk_targets(), target_name);

}  // namespace
}  // namespace redzone::test
