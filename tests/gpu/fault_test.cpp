// Faults as the device reports them. They happen in child processes; see child.cpp.
#include "gpu/gpu_fixture.h"

namespace redzone::gpu_test {
namespace {

class GpuFault : public testing::Test {
 protected:
  void SetUp() override {
    const device::CudaProbe probe = device::probe_cuda();
    if (!probe.device) GTEST_SKIP() << probe.problem;
  }
  // The child's output begins with `expected`; a message of the kernel may precede it.
  static void expect_report(const std::string& scenario, const std::string& expected) {
    const std::string output = run_child(scenario);
    EXPECT_NE(("\n" + output).find("\n" + expected), std::string::npos)
        << "expected " << expected << "\nthe child's output: " << output;
  }
};

constexpr const char* kIllegalAddress = "synchronize: fault CUDA_ERROR_ILLEGAL_ADDRESS: ";

TEST_F(GpuFault, ReadBehindTheTail) {
  expect_report("read-behind-tail", kIllegalAddress);
}
TEST_F(GpuFault, ReadBeforeTheHead) {
  expect_report("read-before-head", kIllegalAddress);
}
TEST_F(GpuFault, WriteBehindTheTail) {
  expect_report("write-behind-tail", kIllegalAddress);
}
TEST_F(GpuFault, LastByteOfTheRegionIsNone) {
  expect_report("last-byte", "completed\n");
}
TEST_F(GpuFault, MisalignedAccessKeepsItsName) {
  expect_report("misaligned", "synchronize: fault CUDA_ERROR_MISALIGNED_ADDRESS: ");
}
TEST_F(GpuFault, AssertionKeepsItsName) {
  expect_report("assert", "synchronize: fault CUDA_ERROR_ASSERT: ");
}
TEST_F(GpuFault, TrapIsOne) {
  expect_report("trap", "synchronize: fault CUDA_ERROR_");
}
TEST_F(GpuFault, LaunchAfterItIsNoRefusal) {
  expect_report("later-launch", "enqueue: fault CUDA_ERROR_ILLEGAL_ADDRESS: ");
}
TEST_F(GpuFault, ClosedGateDoesNotHideIt) {
  expect_report("closed-gate", kIllegalAddress);
}

}  // namespace
}  // namespace redzone::gpu_test
