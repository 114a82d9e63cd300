// Progress markers, which a stream writes when it reaches them, also before a fault.
#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

using GpuMark = GpuTest;

TEST_F(GpuMark, IsReachedInTheOrderOfItsStream) {
  std::uint32_t* counter = mapped_word();
  ASSERT_NE(counter, nullptr);
  begin(Launch::async, 2);
  for (std::uint32_t number = 1; number <= 100; ++number) {
    ASSERT_TRUE(ok(launch(device(), 0, count_kernel(), kOneThread, counter)));
    ASSERT_TRUE(ok(device().mark(0, number)));
  }
  ASSERT_TRUE(ok(device().mark(1, 7)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(device().reached(0), 100u);
  EXPECT_EQ(device().reached(1), 7u);
}

TEST_F(GpuMark, BeginsAgainWithEachTrial) {
  begin();
  ASSERT_TRUE(ok(device().mark(0, 9)));
  ASSERT_TRUE(ok(device().synchronize()));
  begin();
  EXPECT_EQ(device().reached(0), 0u);
}

TEST_F(GpuMark, WaitsForTheGateAndCountsAsAnOperation) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  const auto most = static_cast<std::uint32_t>(device().hold_capacity());
  for (std::uint32_t number = 1; number <= most; ++number)
    ASSERT_TRUE(ok(device().mark(0, number)));
  ASSERT_TRUE(ok(device().open()));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(device().reached(0), most);
}

TEST_F(GpuMark, BehindAFaultIsNotReached) {
  const std::string output = run_child("mark-before-and-behind");
  EXPECT_TRUE(output.starts_with("reached 1\n")) << output;
  EXPECT_NE(output.find("synchronize: fault CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos)
      << output;
}

TEST_F(GpuMark, BehindAFaultUnderTheGateIsNotReached) {
  const std::string output = run_child("mark-before-and-behind-gated");
  EXPECT_TRUE(output.starts_with("reached 1\n")) << output;
}

}  // namespace
}  // namespace redzone::gpu_test
