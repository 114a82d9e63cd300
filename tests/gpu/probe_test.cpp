// The probe and the function tables, with or without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/cuda/device_facts.h"
#include "device/cuda/nvrtc_api.h"
#include "device/launch_check.h"

namespace redzone::device {
namespace {

TEST(Probe, SaysWhatIsMissing) {
  const CudaProbe probe = probe_cuda();
  EXPECT_TRUE(probe.built);
  if (!probe.driver) {
    EXPECT_FALSE(probe.device);
  }
  if (probe.device) {
    EXPECT_FALSE(probe.name.empty());
    EXPECT_GT(probe.compute_capability, 0);
  } else {
    EXPECT_FALSE(probe.problem.empty());
    auto opened = open_cuda_device();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, Failure::Kind::harness);
    EXPECT_FALSE(opened.error().detail.empty());
  }
}

TEST(Probe, DriverVersionIsReadFromTheKernelModule) {
  EXPECT_EQ(cuda::version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Sep "
                             "2 19:47:13 UTC 2025\nGCC version:  gcc version 12.3.0\n"),
            "580.159.04");
  EXPECT_EQ(cuda::version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86  "
                             "Release Build\n"),
            "570.86");
  EXPECT_EQ(cuda::version_in(""), "");
  EXPECT_EQ(cuda::version_in("no version 12 here . .. 1. .5"), "");
}

TEST(Probe, NvrtcIsTakenFromTheVariableOnly) {
  setenv("REDZONE_NVRTC", "/does/not/exist/libnvrtc.so", 1);
  const auto missing = cuda::load_nvrtc_api();
  unsetenv("REDZONE_NVRTC");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().rfind("NVRTC not found", 0), 0u) << missing.error();
  EXPECT_NE(missing.error().find("/does/not/exist"), std::string::npos) << missing.error();
}

TEST(LaunchCheck, NamesValueAndLimit) {
  const LaunchLimits limits;
  EXPECT_FALSE(refused_launch(limits, "k", {}));
  EXPECT_FALSE(refused_launch(limits, "k", {{2147483647, 65535, 65535}, {1024, 1, 1}, 232448}));
  EXPECT_FALSE(refused_launch(limits, "k", {{16, 2, 1}, {128}, 0, 0, {8, 2, 1}}));
  const std::pair<LaunchShape, const char*> refused[] = {
      {{{0, 1, 1}, {}, 0}, "k: grid.x is 0, allowed are 1 to 2147483647"},
      {{{2147483648, 1, 1}, {}, 0}, "k: grid.x is 2147483648, allowed are 1 to 2147483647"},
      {{{1, -5, 1}, {}, 0}, "k: grid.y is -5, allowed are 1 to 65535"},
      {{{1, 1, 65536}, {}, 0}, "k: grid.z is 65536, allowed are 1 to 65535"},
      {{{}, {1025, 1, 1}, 0}, "k: block.x is 1025, allowed are 1 to 1024"},
      {{{}, {1, 1, 65}, 0}, "k: block.z is 65, allowed are 1 to 64"},
      {{{}, {32, 33, 1}, 0}, "k: threads of a block is 1056, allowed are 1 to 1024"},
      {{{7, 1, 1}, {}, 0, 0, {2, 1, 1}}, "k: grid.x is 7, no multiple of the cluster's 2"},
      {{{34, 1, 1}, {}, 0, 0, {17, 1, 1}}, "k: an extent of a cluster is 17, allowed are 1 to 16"},
      {{{8, 4, 1}, {}, 0, 0, {8, 4, 1}}, "k: blocks of a cluster is 32, allowed are 1 to 16"},
      {{{}, {}, 232449}, "k: dynamic shared memory is 232449 bytes, allowed are 0 to 232448"},
  };
  for (const auto& [shape, detail] : refused) {
    const auto failure = refused_launch(limits, "k", shape);
    ASSERT_TRUE(failure) << detail;
    EXPECT_EQ(failure->kind, Failure::Kind::launch_refused);
    EXPECT_EQ(failure->code, "invalid-launch");
    EXPECT_EQ(failure->detail, detail);
  }
}

}  // namespace
}  // namespace redzone::device
