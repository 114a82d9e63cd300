#include "trial/raw_job.h"

#include <algorithm>

#include "device/buffer_math.h"

namespace redzone::trial {

void set_place(device::BufferJob& job, const Place& at) {
  job.data = at.data;
  job.before = at.before;
  job.before_bytes = at.before_bytes;
  job.after = at.after;
  job.after_bytes = at.after_bytes;
}

device::BufferJob raw_job(const Place& at, std::size_t bytes, std::uint32_t poison) {
  const bool words =
      bytes % sizeof poison == 0 && reinterpret_cast<std::uintptr_t>(at.data) % sizeof poison == 0;
  device::BufferJob job = {};
  job.rank = 1;
  job.stride[0] = 1;
  job.numel = job.size[0] = static_cast<std::int64_t>(words ? bytes / sizeof poison : bytes);
  job.dtype = static_cast<std::uint8_t>(words ? DType::u32 : DType::u8);
  job.fill = device::FillKind::poison;
  job.poison = poison;
  job.canary = device::canary_for(poison);
  set_place(job, at);
  return job;
}

device::BufferJob freed_job(const Place& at, std::size_t bytes, std::uint32_t poison,
                            std::size_t most_bytes) {
  device::BufferJob job = raw_job(at, std::min(bytes, most_bytes), poison);
  job.poison = job.canary;
  job.verify_unchanged = true;
  return job;
}

device::BufferJob without_canaries(device::BufferJob job) {
  job.before_bytes = job.after_bytes = job.gap_end_bytes = 0;
  return job;
}

device::BufferJob canaries_only(device::BufferJob job) {
  job.numel = 0;
  std::fill(job.size, job.size + job.rank, 0);
  return job;
}

}  // namespace redzone::trial
