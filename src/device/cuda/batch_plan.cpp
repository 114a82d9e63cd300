#include "device/cuda/batch_plan.h"

#include <redzone/spec.h>

namespace redzone::device::cuda {
namespace {

// Drops dims of size 1 and merges each dim into the next inner one where both together are one
// evenly strided range. Element order and addresses stay the same. Gaps are counted after each run,
// so a job with gaps keeps its runs.
void merge_dims(BufferJob& job) {
  std::int64_t size[kMaxRank];
  std::int64_t stride[kMaxRank];
  int n = 0;  // dims kept, innermost first
  for (int k = static_cast<int>(job.rank) - 1; k >= 0; --k) {
    const bool innermost = n == 0;
    if (!innermost && job.size[k] == 1) continue;
    const bool mergeable = !innermost && (n > 1 || job.gap_bytes == 0);
    if (mergeable && job.stride[k] == size[n - 1] * stride[n - 1]) {
      size[n - 1] *= job.size[k];
    } else {
      size[n] = job.size[k];
      stride[n] = job.stride[k];
      ++n;
    }
  }
  job.rank = static_cast<std::uint32_t>(n);
  for (int k = 0; k < n; ++k) {
    job.size[k] = size[n - 1 - k];
    job.stride[k] = stride[n - 1 - k];
  }
}

SlotJob slot_job(const BufferJob& from) {
  SlotJob slot{from, 0, 0};
  BufferJob& job = slot.job;
  merge_dims(job);
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
  const std::int64_t per_slot = static_cast<std::int64_t>(kSlotBytes) / bytes;
  const auto misaligned =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(job.data) % kSlotBytes);
  if (misaligned % bytes != 0) return slot;
  if (job.rank == 1) {
    slot.lead = static_cast<std::uint32_t>(misaligned / bytes);
    slot.vector = 1;
    return slot;
  }
  bool aligned = misaligned == 0 && job.size[job.rank - 1] % per_slot == 0;
  for (std::uint32_t k = 0; k + 1 < job.rank; ++k)
    aligned = aligned && job.stride[k] % per_slot == 0;
  slot.vector = aligned ? 1 : 0;
  return slot;
}

std::uint64_t window_slots(const void* begin, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const std::uint64_t lead = reinterpret_cast<std::uintptr_t>(begin) % kSlotBytes;
  return (lead + bytes + kSlotBytes - 1) / kSlotBytes;
}

}  // namespace

void plan_batch(std::span<const BufferJob> jobs, BatchPlan& plan) {
  plan.jobs.clear();
  plan.pieces.clear();
  plan.chunks = 0;
  const auto add = [&](PieceKind kind, std::uint64_t slots) {
    if (slots == 0) return;
    const auto job = static_cast<std::uint32_t>(plan.jobs.size() - 1);
    plan.pieces.push_back({plan.chunks, slots, job, kind});
    plan.chunks += (slots + kChunkSlots - 1) / kChunkSlots;
  };
  for (const BufferJob& from : jobs) {
    plan.jobs.push_back(slot_job(from));
    const SlotJob& slot = plan.jobs.back();
    const BufferJob& job = slot.job;
    if (job.numel > 0) {
      const std::uint64_t per_slot = kSlotBytes / dtype_bytes(static_cast<DType>(job.dtype));
      add(PieceKind::elements,
          (static_cast<std::uint64_t>(job.numel) + slot.lead + per_slot - 1) / per_slot);
      const std::uint64_t gaps = static_cast<std::uint64_t>(job.numel / job.size[job.rank - 1]) - 1;
      if (job.gap_bytes > 0) add(PieceKind::gaps, gaps * slots_per_gap(job.gap_bytes));
    }
    add(PieceKind::before, window_slots(job.before, job.before_bytes));
    add(PieceKind::after, window_slots(job.after, job.after_bytes));
  }
  plan.pieces.push_back({plan.chunks, 0, 0, PieceKind::elements});
}

}  // namespace redzone::device::cuda
