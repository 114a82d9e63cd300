#include "device/cuda/batch_plan.h"

#include <redzone/spec.h>

#include "device/buffer_math.h"

namespace redzone::device::cuda {
namespace {

// Drops dims of size 1 and merges each dim into the next inner one if both together are one evenly
// strided range. Elements keep their order and addresses, and so do the gaps between them.
void merge_dims(BufferJob& job) {
  std::int64_t size[kMaxRank];
  std::int64_t stride[kMaxRank];
  int n = 0;  // kept dims, innermost first
  for (int k = static_cast<int>(job.rank) - 1; k >= 0; --k) {
    const bool innermost = n == 0;
    if (!innermost && job.size[k] == 1) continue;
    if (!innermost && job.stride[k] == size[n - 1] * stride[n - 1]) {
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

// Slots of the gaps between consecutive indices of dim `k`.
std::uint64_t gap_slots(const BufferJob& job, std::uint32_t k) {
  const std::int64_t elements = job.stride[k] - extent_elems(job, static_cast<int>(k) + 1);
  if (job.gap_end_bytes == 0 || elements <= 0) return 0;
  auto gaps = static_cast<std::uint64_t>(job.size[k] - 1);
  for (std::uint32_t outer = 0; outer < k; ++outer)
    gaps *= static_cast<std::uint64_t>(job.size[outer]);
  const GapWindows windows =
      gap_windows(static_cast<std::uint64_t>(elements) * dtype_bytes(static_cast<DType>(job.dtype)),
                  job.gap_end_bytes);
  return gaps * windows.count * slots_per_window(windows.bytes);
}

}  // namespace

void plan_batch(std::span<const BufferJob> jobs, BatchPlan& plan) {
  plan.jobs.clear();
  plan.pieces.clear();
  plan.chunks = 0;
  const auto add = [&](PieceKind kind, std::uint64_t slots, std::uint32_t dim = 0) {
    if (slots == 0) return;
    const auto job = static_cast<std::uint32_t>(plan.jobs.size() - 1);
    plan.pieces.push_back({plan.chunks, slots, job, kind, static_cast<std::uint16_t>(dim)});
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
      for (std::uint32_t k = 0; k + 1 < job.rank; ++k) add(PieceKind::gaps, gap_slots(job, k), k);
    }
    add(PieceKind::before, window_slots(job.before, job.before_bytes));
    add(PieceKind::after, window_slots(job.after, job.after_bytes));
  }
  plan.pieces.push_back({plan.chunks, 0, 0, PieceKind::elements, 0});
}

}  // namespace redzone::device::cuda
