// Fills and checks on the GPU, compared with the model bit by bit.
#include <algorithm>

#include "gpu/buffer_model.h"
#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"
#include "tests/device/element_kinds.h"

namespace redzone::gpu_test {
namespace {

using device::BufferCheck;
using device::BufferJob;
using device::FillKind;

struct Buffer {
  std::string name;
  device::Region region;
  BufferJob job;
  Image image;  // expected contents of the region
};

std::vector<BufferJob> jobs_of(const std::vector<Buffer>& buffers) {
  std::vector<BufferJob> jobs;
  for (const Buffer& buffer : buffers) jobs.push_back(buffer.job);
  return jobs;
}

class GpuBuffers : public GpuTest {
 protected:
  // Buffers of all element types and fill kinds.
  std::vector<Buffer> make_all(const Arrangement& arrangement) {
    std::vector<Buffer> buffers;
    for (DType dtype : device::kTypes)
      for (FillKind fill : device::kFills) buffers.push_back(make(arrangement, dtype, fill));
    return buffers;
  }

  Buffer make(const Arrangement& arrangement, DType dtype, FillKind fill) {
    Buffer buffer;
    buffer.name = arrangement.name + ", dtype " + std::to_string(static_cast<int>(dtype)) +
                  ", fill " + std::to_string(static_cast<int>(fill));
    const std::size_t bytes = region_bytes(arrangement, dtype);
    buffer.region = acquire(bytes);
    BufferJob& job = buffer.job = job_at(buffer.region.base, arrangement, dtype);
    job.fill = fill;
    job.seed = 0x1234567 + static_cast<std::uint64_t>(dtype);
    job.lo = fill == FillKind::constant ? 1.75 : -3.0;
    job.hi = 5.5;
    job.first = fill == FillKind::offsets ? 0 : -77;
    job.last = 100;
    job.poison = 0xa1b2c3d4;
    job.verify_unchanged = fill != FillKind::poison;
    buffer.image = {buffer.region.base, std::vector<std::byte>(bytes, std::byte{0xee})};
    model_fill(job, buffer.image);
    return buffer;
  }

  // Overwrites the regions, so the bytes that a fill must not change have known values.
  void blank(const std::vector<Buffer>& buffers) {
    std::vector<BufferJob> jobs;
    for (const Buffer& buffer : buffers) {
      BufferJob job = {};
      job.data = buffer.region.base;
      job.rank = 1;
      job.size[0] = job.numel = static_cast<std::int64_t>(buffer.image.bytes.size());
      job.stride[0] = 1;
      job.dtype = static_cast<std::uint8_t>(DType::u8);
      job.fill = FillKind::poison;
      job.poison = 0xeeeeeeee;
      jobs.push_back(job);
    }
    ASSERT_TRUE(ok(device().fill(0, jobs)));
  }

  void expect_images(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) {
      const auto got = read(buffer.region.base, buffer.image.bytes.size());
      const auto [at, want] = std::mismatch(got.begin(), got.end(), buffer.image.bytes.begin());
      if (at == got.end()) continue;
      ADD_FAILURE() << buffer.name << ": byte " << at - got.begin() << " (element 0 is at byte "
                    << static_cast<std::byte*>(buffer.job.data) - buffer.region.base << ") is "
                    << static_cast<int>(*at) << ", must be " << static_cast<int>(*want);
    }
  }

  void expect_checks(const std::vector<Buffer>& buffers, const std::vector<BufferCheck>& checks) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const BufferCheck want = model_check(buffers[i].job, buffers[i].image);
      EXPECT_EQ(checks[i].digest, want.digest) << buffers[i].name;
      EXPECT_EQ(checks[i].changed, want.changed) << buffers[i].name;
      EXPECT_EQ(checks[i].dirty_before, want.dirty_before) << buffers[i].name;
      EXPECT_EQ(checks[i].dirty_after, want.dirty_after) << buffers[i].name;
      EXPECT_EQ(checks[i].dirty_gaps, want.dirty_gaps) << buffers[i].name;
      EXPECT_EQ(checks[i].first_dirty_byte, want.first_dirty_byte) << buffers[i].name;
    }
  }

  // The first and the last byte of the gap before run `run`, if there is one.
  void damage_gap(Buffer& buffer, std::int64_t run) {
    const BufferJob& job = buffer.job;
    const auto bytes = static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
    const auto at = [&](std::int64_t elements) {
      return static_cast<std::byte*>(job.data) + elements * bytes;
    };
    const std::byte* gap = at(device::run_offset(job, run - 1) + job.size[job.rank - 1]);
    const std::byte* next = at(device::run_offset(job, run));
    if (gap == next) return;
    damage(buffer, gap);
    if (next - gap > 1) damage(buffer, next - 1);
  }

  // Changes one byte on the device and in the image.
  void damage(Buffer& buffer, const void* at) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(at) - buffer.region.base);
    const auto value =
        static_cast<std::uint8_t>(~static_cast<unsigned>(buffer.image.bytes[offset]));
    ASSERT_TRUE(ok(launch(device(), 0, store_byte_kernel(), kOneThread,
                          reinterpret_cast<std::uint8_t*>(buffer.region.base + offset), value)));
    buffer.image.bytes[offset] = std::byte{value};
  }
};

TEST_F(GpuBuffers, FillsAndDigestsEqualTheModelInOneBatch) {
  for (const Arrangement& arrangement : arrangements()) {
    std::vector<Buffer> buffers = make_all(arrangement);
    blank(buffers);
    const auto jobs = jobs_of(buffers);
    std::vector<BufferCheck> checks(jobs.size());
    ASSERT_TRUE(ok(device().fill(0, jobs)));
    ASSERT_TRUE(ok(device().check(0, jobs, checks.data())));
    ASSERT_TRUE(ok(device().synchronize()));
    expect_images(buffers);
    expect_checks(buffers, checks);
  }
}

TEST_F(GpuBuffers, SmallBatchesEqualTheModel) {
  for (const Arrangement& arrangement : arrangements()) {
    const std::vector<Buffer> buffers = {make(arrangement, DType::bf16, FillKind::uniform),
                                         make(arrangement, DType::i32, FillKind::integers)};
    blank(buffers);
    ASSERT_TRUE(ok(device().fill(0, jobs_of(buffers))));
    ASSERT_TRUE(ok(device().synchronize()));
    expect_images(buffers);
  }
}

TEST_F(GpuBuffers, DamageIsCountedWhereItIs) {
  for (const Arrangement& arrangement : arrangements()) {
    std::vector<Buffer> buffers = {make(arrangement, DType::f32, FillKind::uniform),
                                   make(arrangement, DType::u8, FillKind::integers)};
    const auto jobs = jobs_of(buffers);
    ASSERT_TRUE(ok(device().fill(0, jobs)));
    for (Buffer& buffer : buffers) {
      const BufferJob& job = buffer.job;
      const auto* before = static_cast<std::byte*>(job.before);
      const auto* after = static_cast<std::byte*>(job.after);
      damage(buffer, before);                         // farthest in front
      damage(buffer, before + job.before_bytes - 1);  // directly in front
      damage(buffer, after);
      damage(buffer, after + job.after_bytes - 1);
      if (job.numel == 0) continue;
      damage(buffer, job.data);
      // Both ends of the first gap and of the last one, which belongs to the outermost dim.
      const std::int64_t inner = job.size[job.rank - 1];
      if (job.numel == inner) continue;
      damage_gap(buffer, 1);
      const std::int64_t runs = job.numel / inner;
      if (const std::int64_t last = runs - runs / job.size[0]; last > 1) damage_gap(buffer, last);
    }
    std::vector<BufferCheck> checks(jobs.size());
    ASSERT_TRUE(ok(device().check(0, jobs, checks.data())));
    ASSERT_TRUE(ok(device().synchronize()));
    expect_checks(buffers, checks);
    EXPECT_EQ(checks[0].dirty_before, 2u);
    EXPECT_EQ(checks[0].dirty_after, 2u);
    EXPECT_EQ(checks[0].changed, buffers[0].job.numel == 0 ? 0u : 1u);
    EXPECT_EQ(checks[0].first_dirty_byte, -static_cast<std::int64_t>(kBeforeBytes));
  }
}

TEST_F(GpuBuffers, BigAndSmallBuffersShareABatch) {
  std::vector<Buffer> buffers = {
      make({"small", {7}, {1}}, DType::f32, FillKind::uniform),
      make({"8 MiB", {1 << 21}, {1}, 1}, DType::f32, FillKind::uniform),
      make({"rows", {3000, 301}, {320, 1}}, DType::f16, FillKind::uniform)};
  for (int i = 0; i < 20; ++i)
    buffers.push_back(make({"small", {5 + i}, {1}}, DType::i64, FillKind::integers));
  const auto jobs = jobs_of(buffers);
  std::vector<BufferCheck> checks(jobs.size());
  blank(buffers);
  ASSERT_TRUE(ok(device().fill(0, jobs)));
  ASSERT_TRUE(ok(device().check(0, jobs, checks.data())));
  ASSERT_TRUE(ok(device().synchronize()));
  expect_images(buffers);
  expect_checks(buffers, checks);
}

// More tables than fit one staging block, enqueued while launches are blocked: no table may be
// overwritten before it is read.
TEST_F(GpuBuffers, ManyBatchesInFlightKeepTheirTables) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 40; ++i)
    buffers.push_back(make({"small", {16}, {1}}, DType::i32, FillKind::constant));
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  constexpr std::size_t kRounds = 300;
  std::vector<BufferCheck> checks(kRounds * buffers.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (Buffer& buffer : buffers) buffer.job.lo = static_cast<double>(round);
    const auto jobs = jobs_of(buffers);
    ASSERT_TRUE(ok(device().fill(0, jobs)));
    ASSERT_TRUE(ok(device().check(0, jobs, &checks[round * buffers.size()])));
  }
  ASSERT_TRUE(ok(device().synchronize()));
  for (std::size_t round = 0; round < kRounds; ++round) {
    buffers[0].job.lo = static_cast<double>(round);
    model_fill(buffers[0].job, buffers[0].image);
    const BufferCheck want = model_check(buffers[0].job, buffers[0].image);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const BufferCheck& got = checks[round * buffers.size() + i];
      ASSERT_EQ(got.digest, want.digest) << "round " << round << ", buffer " << i;
      ASSERT_EQ(got.changed, 0u) << "round " << round << ", buffer " << i;
    }
  }
}

}  // namespace
}  // namespace redzone::gpu_test
