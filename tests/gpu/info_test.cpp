// The properties that the device reports, and its speed. Times are printed, never asserted.
#include <chrono>
#include <cstdio>

#include "gpu/buffer_model.h"
#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

using device::BufferCheck;
using device::BufferJob;
using device::FillKind;

class GpuInfo : public GpuTest {
 protected:
  static BufferJob flat_job(std::byte* base, DType dtype, std::size_t bytes, FillKind fill) {
    BufferJob job = {};
    job.data = base;
    job.rank = 1;
    job.dtype = static_cast<std::uint8_t>(dtype);
    job.size[0] = job.numel = static_cast<std::int64_t>(bytes / dtype_bytes(dtype));
    job.stride[0] = 1;
    job.fill = fill;
    job.lo = -1;
    job.hi = 1;
    job.last = 1000;
    job.verify_unchanged = true;
    return job;
  }

  template <class Work>
  double microseconds(int rounds, Work work) {
    work();  // warm-up
    EXPECT_TRUE(ok(device().synchronize()));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) work();
    EXPECT_TRUE(ok(device().synchronize()));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return took.count() / rounds;
  }
};

TEST_F(GpuInfo, InfoAgreesWithTheProbe) {
  const device::Info& info = device().info();
  const device::CudaProbe probe = device::probe_cuda();
  EXPECT_EQ(info.kind, DeviceKind::cuda);
  EXPECT_EQ(info.name, probe.name);
  EXPECT_EQ(info.compute_capability, probe.compute_capability);
  EXPECT_EQ(info.driver, probe.driver_version);
  EXPECT_FALSE(info.driver.empty());
  EXPECT_GE(info.compute_capability, 70);
  EXPECT_GT(info.memory_bytes, std::size_t{1} << 30);
  EXPECT_GE(info.limits.shared_bytes, 48 * 1024);
  std::printf("%s, driver %s, compute capability %d, granularity %zu, NVRTC %s\n",
              info.name.c_str(), info.driver.c_str(), info.compute_capability,
              info.granularity_bytes, probe.nvrtc.c_str());
}

TEST_F(GpuInfo, LargeBuffers) {
  constexpr std::size_t kBytes = 512 << 20;
  const device::Region region = acquire(kBytes);
  ASSERT_NE(region.base, nullptr);
  for (DType dtype : {DType::f32, DType::bf16, DType::i32}) {
    for (FillKind fill : {FillKind::poison, FillKind::uniform, FillKind::integers}) {
      BufferJob job = flat_job(region.base, dtype, kBytes, fill);
      BufferCheck first = {}, second = {};
      const double fill_us = microseconds(5, [&] { ASSERT_TRUE(ok(device().fill(0, {&job, 1}))); });
      ASSERT_TRUE(ok(device().check(0, {&job, 1}, &first)));
      ASSERT_TRUE(ok(device().synchronize()));
      job.verify_unchanged = false;
      const double check_us = microseconds(5, [&] {
        ASSERT_TRUE(ok(device().check(0, {&job, 1}, &second)));
      });
      EXPECT_EQ(first.changed, 0u);
      EXPECT_EQ(first.digest, second.digest);
      std::printf(
          "512 MiB, dtype %d, fill %d: fill %.0f us (%.0f GB/s), digest %.0f us (%.0f GB/s)\n",
          static_cast<int>(dtype), static_cast<int>(fill), fill_us, kBytes / fill_us / 1e3,
          check_us, kBytes / check_us / 1e3);
    }
  }
}

TEST_F(GpuInfo, SmallTrials) {
  std::vector<BufferJob> jobs;
  auto* counter = reinterpret_cast<std::uint32_t*>(acquire(64).base);
  for (int i = 0; i < 8; ++i) {
    std::byte* base = acquire(1 << 20).base;
    BufferJob job = flat_job(base, DType::f32, 4096, FillKind::uniform);
    job.after = base + 4096;
    job.after_bytes = device::kCanaryWindowBytes;
    job.canary = device::canary_for(0);
    jobs.push_back(job);
  }
  std::vector<BufferCheck> checks(jobs.size());
  const auto trial = [&] {
    begin();
    ASSERT_TRUE(ok(device().fill(0, jobs)));
    for (int i = 0; i < 8; ++i)
      ASSERT_TRUE(ok(launch(device(), 0, count_kernel(), kOneThread, counter)));
    ASSERT_TRUE(ok(device().check(0, jobs, checks.data())));
    ASSERT_TRUE(ok(device().synchronize()));
  };
  std::printf("a trial of 8 launches and 8 buffers: %.1f us\n", microseconds(200, trial));
  for (const BufferCheck& check : checks) {
    EXPECT_EQ(check.changed, 0u);
    EXPECT_EQ(check.dirty_after, 0u);
  }
}

}  // namespace
}  // namespace redzone::gpu_test
