// The fill and check kernels of the CUDA device, run by the host device and compared with the
// model: the part of their behaviour that can be tested without a GPU. Regions lie between guard
// pages, so an access out of bounds ends the test.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <algorithm>

#include "device/cuda/batch_plan.h"
#include "device/device.h"
#include "gpu/buffer_model.h"
#include "tests/device/element_kinds.h"

#define __grid_constant__  // the parameter is already a copy
#define __noinline__
#include "device/cuda/buffer_kernels.cu"

namespace redzone::gpu_test {
namespace {

using device::BufferCheck;
using device::BufferJob;
using device::FillKind;
using device::cuda::BatchPlan;
using device::cuda::BatchView;
using device::cuda::InlineBatch;
using device::cuda::kBlockThreads;

struct Buffer {
  std::string name;
  device::Region region;
  BufferJob job;
  Image image;  // expected contents of the region
};

class KernelsOnHost : public testing::Test {
 protected:
  void SetUp() override {
    device_ = device::open_host_device();
    ASSERT_TRUE(device_->begin_trial({}));
  }

  Buffer make(const Arrangement& arrangement, DType dtype, FillKind fill) {
    Buffer buffer;
    buffer.name = arrangement.name + ", dtype " + std::to_string(static_cast<int>(dtype)) +
                  ", fill " + std::to_string(static_cast<int>(fill));
    const std::size_t bytes = region_bytes(arrangement, dtype);
    buffer.region = *device_->memory(Allocator::guard).acquire(bytes);
    BufferJob& job = buffer.job = job_at(buffer.region.base, arrangement, dtype);
    job.fill = fill;
    job.seed = 99 + static_cast<std::uint64_t>(dtype);
    job.lo = fill == FillKind::constant ? 1.75 : -3.0;
    job.hi = 5.5;
    job.first = fill == FillKind::offsets ? 0 : -77;
    job.last = 100;
    job.poison = 0xa1b2c3d4;
    job.verify_unchanged = fill != FillKind::poison;
    std::fill_n(buffer.region.base, bytes, std::byte{0xee});
    buffer.image = {buffer.region.base, std::vector<std::byte>(bytes, std::byte{0xee})};
    model_fill(job, buffer.image);
    return buffer;
  }
  void release(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) device_->memory(Allocator::guard).release(buffer.region);
  }

  template <class... P, class... A>
  void launch(void (*kernel)(P...), std::int64_t blocks, A... args) {
    void* pointers[] = {static_cast<void*>(&args)...};
    const std::size_t sizes[] = {sizeof(A)...};
    ASSERT_TRUE(device_->launch(0, kernel_ref("kernel", kernel), {{blocks}, {kBlockThreads}, 0},
                                {pointers, sizes, sizeof...(A)}));
    ASSERT_TRUE(device_->synchronize());
  }

  // Plans a batch like the CUDA device, for a grid of at most `blocks` blocks.
  void plan(const std::vector<Buffer>& buffers, std::int64_t blocks) {
    std::vector<BufferJob> jobs;
    for (const Buffer& buffer : buffers) jobs.push_back(buffer.job);
    plan_batch(jobs, plan_);
    blocks_ = std::min(blocks, static_cast<std::int64_t>(plan_.chunks));
    results_.assign(jobs.size(), device::cuda::clean_check());
  }
  BatchView view() {
    return {plan_.jobs.data(), plan_.pieces.data(), plan_.piece_count(), plan_.chunks,
            results_.data()};
  }
  void fill() { launch(device::cuda::redzone_fill, blocks_, view()); }
  void fill_inline() {
    InlineBatch batch = {};
    batch.chunks = plan_.chunks;
    batch.piece_count = plan_.piece_count();
    std::copy(plan_.pieces.begin(), plan_.pieces.end(), batch.pieces);
    std::copy(plan_.jobs.begin(), plan_.jobs.end(), batch.jobs);
    launch(device::cuda::redzone_fill_inline, blocks_, batch);
  }
  void check() { launch(device::cuda::redzone_check, blocks_, view()); }

  void expect_images(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) {
      const std::byte* got = buffer.region.base;
      const auto& want = buffer.image.bytes;
      const auto at = std::mismatch(want.begin(), want.end(), got).first;
      EXPECT_TRUE(at == want.end()) << buffer.name << ": byte " << at - want.begin();
    }
  }
  void expect_checks(const std::vector<Buffer>& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const BufferCheck want = model_check(buffers[i].job, buffers[i].image);
      EXPECT_EQ(results_[i].digest, want.digest) << buffers[i].name;
      EXPECT_EQ(results_[i].changed, want.changed) << buffers[i].name;
      EXPECT_EQ(results_[i].dirty_before, want.dirty_before) << buffers[i].name;
      EXPECT_EQ(results_[i].dirty_after, want.dirty_after) << buffers[i].name;
      EXPECT_EQ(results_[i].dirty_gaps, want.dirty_gaps) << buffers[i].name;
      EXPECT_EQ(results_[i].first_dirty_byte, want.first_dirty_byte) << buffers[i].name;
    }
  }

  std::unique_ptr<device::Device> device_;
  BatchPlan plan_;
  std::vector<BufferCheck> results_;
  std::int64_t blocks_ = 1;
};

TEST_F(KernelsOnHost, FillsAndChecksEqualTheModel) {
  for (const Arrangement& arrangement : arrangements()) {
    std::vector<Buffer> buffers;
    for (DType dtype : device::kTypes)
      for (FillKind fill : device::kFills) buffers.push_back(make(arrangement, dtype, fill));
    plan(buffers, 7);  // each block takes parts of several pieces
    fill();
    expect_images(buffers);
    check();
    expect_checks(buffers);
    release(buffers);
  }
}

TEST_F(KernelsOnHost, InlineFillsEqualTheModel) {
  for (const Arrangement& arrangement : arrangements()) {
    std::vector<Buffer> buffers;
    // Elements, two windows and gaps of up to five dims.
    for (std::size_t i = 0; i < device::cuda::kInlinePieces / 8; ++i)
      buffers.push_back(
          make(arrangement, device::kTypes[i % std::size(device::kTypes)], FillKind::uniform));
    plan(buffers, 1000);
    fill_inline();
    expect_images(buffers);
    release(buffers);
  }
}

TEST_F(KernelsOnHost, EveryDamagedByteIsCounted) {
  for (const Arrangement& arrangement : arrangements()) {
    std::vector<Buffer> buffers = {make(arrangement, DType::f32, FillKind::uniform),
                                   make(arrangement, DType::u8, FillKind::integers),
                                   make(arrangement, DType::f64, FillKind::constant)};
    plan(buffers, 3);
    fill();
    // Every 13th byte of the region: elements, canaries, and bytes outside both.
    for (Buffer& buffer : buffers)
      for (std::size_t i = 5; i < buffer.image.bytes.size(); i += 13) {
        buffer.image.bytes[i] ^= std::byte{0x40};
        buffer.region.base[i] = buffer.image.bytes[i];
      }
    check();
    expect_checks(buffers);
    EXPECT_GT(results_[0].dirty_before, 0u);
    EXPECT_GT(results_[0].dirty_after, 0u);
    release(buffers);
  }
}

}  // namespace
}  // namespace redzone::gpu_test
