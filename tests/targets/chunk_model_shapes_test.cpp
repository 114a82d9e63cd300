// The chunk kernels at the shapes of real models, on a GPU. They are too large for the reference
// and for the host device, so the test requires that no byte outside the outputs changes, and that
// history, mode and grid do not change the bits.
#include <gtest/gtest.h>

#include "targets/chunk_runner.h"

namespace redzone::test {
namespace {

using ChunkModelShapes = ChunkTest;

TEST_P(ChunkModelShapes, AreCleanAfterASmallCall) {
  const Call small{chunk_dims(1, 2, 128, 32, 32, 32), default_config(spec()), {}, 1};
  for (const char* dtype : {"f32", "bf16"}) {
    Call large{chunk_dims(4, 32, 8192, 64, 128, 128), default_config(spec()), {}, 2};
    large.config["dtype"] = dtype;
    Call persistent = large;
    persistent.config["grid"] = "persistent";
    const Plan plan{spec().name,
                    {},
                    {CallStep{small, 8, 0}, CallStep{large, 2, 0}, CallStep{persistent, 1, 0}}};
    runner().expect_clean(plan, spec());

    const Observation o = runner().run(plan, {});
    ASSERT_EQ(o.calls.size(), 3u);
    for (std::size_t k = 0; k < o.calls[1].buffers.size(); ++k) {
      if (o.calls[1].buffers[k].scratch) continue;
      EXPECT_EQ(o.calls[1].buffers[k].digest, o.calls[2].buffers[k].digest)
          << dtype << " " << o.calls[1].buffers[k].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Family, ChunkModelShapes, all_chunk_targets(), target_name);

}  // namespace
}  // namespace redzone::test
