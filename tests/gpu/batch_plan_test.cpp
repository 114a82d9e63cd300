// Batches are split so that every element and every canary byte is in exactly one slot.
#include "device/cuda/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "gpu/buffer_model.h"
#include "tests/device/element_kinds.h"

namespace redzone::gpu_test {
namespace {

using device::BufferJob;
using device::cuda::BatchPlan;
using device::cuda::kChunkSlots;
using device::cuda::kSlotBytes;
using device::cuda::Piece;
using device::cuda::PieceKind;
using device::cuda::plan_batch;
using device::cuda::SlotJob;

// Never dereferenced: planning uses only the address.
std::byte* address(std::uintptr_t at) {
  return reinterpret_cast<std::byte*>(at);
}

std::int64_t offset_of(const BufferJob& job, std::int64_t index) {
  const std::int64_t inner = job.size[job.rank - 1];
  return device::run_offset(job, index / inner) + index % inner;
}

TEST(BatchPlan, MergedDimsKeepElementOrderAndPlace) {
  for (const Arrangement& arrangement : arrangements()) {
    const BufferJob job = job_at(address(1 << 21), arrangement, DType::f32);
    BatchPlan plan;
    plan_batch({&job, 1}, plan);
    ASSERT_EQ(plan.jobs.size(), 1u);
    for (std::int64_t i = 0; i < job.numel; ++i)
      ASSERT_EQ(offset_of(plan.jobs[0].job, i), offset_of(job, i)) << arrangement.name << " " << i;
  }
}

TEST(BatchPlan, ContiguousTensorsBecomeOneRun) {
  const BufferJob job = job_at(address(1 << 21), {"", {4, 5, 6}, {30, 6, 1}}, DType::bf16);
  BatchPlan plan;
  plan_batch({&job, 1}, plan);
  EXPECT_EQ(plan.jobs[0].job.rank, 1u);
  EXPECT_EQ(plan.jobs[0].job.size[0], 120);
  EXPECT_EQ(plan.jobs[0].vector, 1u);
}

// A vector slot must be contiguous and aligned.
TEST(BatchPlan, VectorSlotsAreAlignedAndContiguous) {
  int vectors = 0;
  for (const Arrangement& arrangement : arrangements()) {
    for (DType dtype : device::kTypes) {
      const BufferJob job = job_at(address(1 << 21), arrangement, dtype);
      BatchPlan plan;
      plan_batch({&job, 1}, plan);
      const SlotJob& slot_job = plan.jobs[0];
      if (slot_job.vector == 0) continue;
      const auto bytes = static_cast<std::int64_t>(dtype_bytes(dtype));
      const std::int64_t per_slot = static_cast<std::int64_t>(kSlotBytes) / bytes;
      for (std::int64_t first = -static_cast<std::int64_t>(slot_job.lead);
           first + per_slot <= job.numel; first += per_slot) {
        if (first < 0) continue;
        ++vectors;
        const std::int64_t at = offset_of(slot_job.job, first);
        const auto place =
            reinterpret_cast<std::uintptr_t>(job.data) + static_cast<std::uintptr_t>(at * bytes);
        ASSERT_EQ(place % kSlotBytes, 0u) << arrangement.name;
        ASSERT_EQ(offset_of(slot_job.job, first + per_slot - 1), at + per_slot - 1)
            << arrangement.name;
      }
    }
  }
  EXPECT_GT(vectors, 0);
}

TEST(BatchPlan, PiecesFollowEachOtherAndHoldAllWork) {
  std::vector<BufferJob> jobs;
  for (const Arrangement& arrangement : arrangements())
    jobs.push_back(job_at(address(1 << 21), arrangement, DType::i8));
  jobs.push_back(job_at(address(1 << 21), {"big", {std::int64_t{1} << 29}, {1}}, DType::f32));
  BatchPlan plan;
  plan_batch(jobs, plan);
  ASSERT_EQ(plan.pieces.size(), plan.piece_count() + 1u);
  std::uint64_t chunk = 0;
  std::map<std::pair<std::uint32_t, PieceKind>, std::uint64_t> slots;
  for (std::uint32_t i = 0; i < plan.piece_count(); ++i) {
    const Piece& piece = plan.pieces[i];
    EXPECT_EQ(piece.first_chunk, chunk);
    EXPECT_GT(piece.slots, 0u);
    chunk += (piece.slots + kChunkSlots - 1) / kChunkSlots;
    slots[{piece.job, piece.kind}] += piece.slots;
  }
  EXPECT_EQ(plan.pieces.back().first_chunk, chunk);
  EXPECT_EQ(plan.chunks, chunk);
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    const BufferJob& job = jobs[j];
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(job.numel) * dtype_bytes(static_cast<DType>(job.dtype));
    EXPECT_GE((slots[{j, PieceKind::elements}]) * kSlotBytes, bytes) << j;
    EXPECT_LE((slots[{j, PieceKind::elements}]) * kSlotBytes, bytes + 2 * kSlotBytes) << j;
    EXPECT_GE((slots[{j, PieceKind::before}]) * kSlotBytes, kBeforeBytes) << j;
    EXPECT_GE((slots[{j, PieceKind::after}]) * kSlotBytes, kAfterBytes) << j;
    const std::int64_t runs = job.numel == 0 ? 0 : job.numel / job.size[job.rank - 1];
    const auto between = static_cast<std::int64_t>(static_cast<std::byte*>(job.after) -
                                                   static_cast<std::byte*>(job.data)) -
                         static_cast<std::int64_t>(bytes);
    const bool gaps = runs > 1 && between > 0 && job.gap_end_bytes > 0;
    EXPECT_EQ((slots[{j, PieceKind::gaps}]) > 0, gaps) << j;
  }
}

TEST(BatchPlan, NothingToDoIsNoChunk) {
  BufferJob job = job_at(address(1 << 21), {"", {0, 8}, {12, 1}}, DType::f32);
  job.before_bytes = job.after_bytes = 0;
  BatchPlan plan;
  plan_batch({&job, 1}, plan);
  EXPECT_EQ(plan.chunks, 0u);
  EXPECT_EQ(plan.piece_count(), 0u);
}

}  // namespace
}  // namespace redzone::gpu_test
