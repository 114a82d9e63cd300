// Tensor bulk copies on the GPU, with the tests of the host device.
#include "tests/device/bulk_copy.h"

#include "gpu/gpu_fixture.h"

namespace redzone::gpu_test {
namespace {

class GpuBulkCopy : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device().info().compute_capability < 90)
      GTEST_SKIP() << "TMA needs compute capability 9.0";
  }
};

TEST_F(GpuBulkCopy, TilesAreAsDescribed) {
  device::testing::tiles_are_as_described(device());
}
TEST_F(GpuBulkCopy, NanFillsWhatIsOutside) {
  device::testing::nan_fills_what_is_outside(device());
}
TEST_F(GpuBulkCopy, ATileThatBeginsBetweenUnitsIsAnIllegalInstruction) {
  EXPECT_EQ(run_child("bulk-copy-between-units").substr(0, 51),
            "synchronize: fault CUDA_ERROR_ILLEGAL_INSTRUCTION: ");
}
TEST_F(GpuBulkCopy, RefusedEncodesLeaveTheMap) {
  device::testing::refused_encodes_leave_the_map(device());
}

}  // namespace
}  // namespace redzone::gpu_test
