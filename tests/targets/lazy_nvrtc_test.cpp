// The text of the lazily launched kernel as NVRTC compiles it: every config must compile. No GPU is
// needed.
#include <gtest/gtest.h>

#include "device/cuda/compiler.h"
#include "tuner.h"

namespace redzone::lazy {
namespace {

TEST(LazyNvrtc, CompilesEveryConfig) {
  const auto nvrtc = device::cuda::load_nvrtc_api();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error();
  for (const std::int64_t num_ctas : {1, 2})
    for (const auto& config : candidates("auto", num_ctas)) {
      const VariantRequest request = request_for(config);
      const auto cubin =
          device::cuda::compile_variant(*nvrtc, request, device::cuda::arch_name(90));
      ASSERT_TRUE(cubin) << request.expression << ": " << cubin.error().detail;
      EXPECT_FALSE(cubin->image.empty());
    }
}

}  // namespace
}  // namespace redzone::lazy
