// The text of the chunk kernels as NVRTC compiles it: every request of a target must compile. No
// GPU is needed.
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/compiler.h"
#include "targets/chunk_plugin.h"
#include "targets/recording_context.h"

namespace redzone::test {
namespace {

using device::cuda::arch_name;
using device::cuda::compile_variant;
using device::cuda::load_nvrtc_api;

class ChunkNvrtc : public testing::TestWithParam<const char*> {};

// All padded D of both dtypes, with all pairs of block_v and num_warps and all classes of N
// distributed over them.
TEST_P(ChunkNvrtc, CompilesEveryKindOfVariant) {
  const auto nvrtc = load_nvrtc_api();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error();
  const auto& t = chunk_target(GetParam());
  const std::vector<std::int64_t> block_v = {16, 32, 64}, warps = {2, 4, 8}, chunks = {1, 16, 5, 7};
  std::size_t turn = 0;
  std::set<std::string> compiled;
  for (const char* dtype : {"f32", "bf16"})
    for (std::int64_t D = 1; D <= 256; D *= 2, ++turn) {
      Config config = default_config(t.spec);
      config["dtype"] = dtype;
      config["block_v"] = block_v[turn % 3];
      config["num_warps"] = warps[turn / 3 % 3];
      config["specialize_n"] = std::int64_t{turn % 4 == 3};
      RecordingContext ctx(t.spec, chunk_dims(1, 1, 4 * chunks[turn % 4], 4, D, 8), config);
      t.make()->run(ctx);
      for (const auto& variant : ctx.variants) {
        if (!compiled.insert(variant.expression).second) continue;
        const auto cubin = compile_variant(*nvrtc, variant.request(), arch_name(90));
        ASSERT_TRUE(cubin) << variant.expression << ": " << cubin.error().detail;
        EXPECT_FALSE(cubin->image.empty());
      }
    }
  EXPECT_GE(compiled.size(), 18u);
}

INSTANTIATE_TEST_SUITE_P(Family, ChunkNvrtc, all_chunk_targets(), target_name);

}  // namespace
}  // namespace redzone::test
