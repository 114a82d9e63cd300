#include "gpu/buffer_model.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace redzone::gpu_test {
namespace {

using device::BufferJob;

constexpr std::uint64_t kElementZero = 1024;  // bytes from the base of the region

std::size_t offset_in(const Image& image, const void* address) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - image.base);
}

std::int64_t element_bytes(const BufferJob& job) {
  return static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
}

// Address of the element with memory-order index `index`, from its multi-index.
const std::byte* element_at(const BufferJob& job, std::int64_t index) {
  std::int64_t offset = 0;
  for (int k = static_cast<int>(job.rank) - 1; k >= 0; --k) {
    offset += index % job.size[k] * job.stride[k];
    index /= job.size[k];
  }
  return static_cast<const std::byte*>(job.data) + offset * element_bytes(job);
}

// Calls visit(address, which) for every canary byte of the job; `which` is 0 before, 1 after, 2
// gap.
void for_each_canary(const BufferJob& job,
                     const std::function<void(const std::byte*, int)>& visit) {
  const auto window = [&](const void* begin, std::uint64_t bytes, int which) {
    for (std::uint64_t i = 0; i < bytes; ++i)
      visit(static_cast<const std::byte*>(begin) + i, which);
  };
  window(job.before, job.before_bytes, 0);
  window(job.after, job.after_bytes, 1);
  const std::int64_t inner = job.size[job.rank - 1];
  for (std::int64_t end = inner; end < job.numel; end += inner) {
    const std::byte* gap = element_at(job, end - 1) + element_bytes(job);
    const std::byte* next = element_at(job, end);
    for (const std::byte* at = gap; at < next; ++at)
      if (static_cast<std::uint64_t>(std::min(at - gap, next - 1 - at)) < job.gap_end_bytes)
        visit(at, 2);
  }
}

}  // namespace

void model_fill(const BufferJob& job, Image& image) {
  for (std::int64_t i = 0; i < job.numel; ++i) {
    const std::uint64_t bits = device::fill_bits(job, i);
    std::memcpy(&image.bytes[offset_in(image, element_at(job, i))], &bits,
                static_cast<std::size_t>(element_bytes(job)));
  }
  for_each_canary(job, [&](const std::byte* at, int) {
    image.bytes[offset_in(image, at)] = std::byte{device::canary_byte(job.canary, at)};
  });
}

device::BufferCheck model_check(const BufferJob& job, const Image& image) {
  device::BufferCheck check = {0, 0, 0, 0, 0, INT64_MAX};
  const auto bytes = static_cast<std::size_t>(element_bytes(job));
  device::ElementDigest digest(bytes);
  for (std::int64_t i = 0; i < job.numel; ++i) {
    std::uint64_t bits = 0, want = 0;
    std::memcpy(&bits, &image.bytes[offset_in(image, element_at(job, i))], bytes);
    const std::uint64_t filled = device::fill_bits(job, i);
    std::memcpy(&want, &filled, bytes);
    digest.add(bits);
    if (job.verify_unchanged && bits != want) ++check.changed;
  }
  check.digest = digest.value();
  std::uint64_t* dirty[] = {&check.dirty_before, &check.dirty_after, &check.dirty_gaps};
  for_each_canary(job, [&](const std::byte* at, int which) {
    if (image.bytes[offset_in(image, at)] == std::byte{device::canary_byte(job.canary, at)}) return;
    ++*dirty[which];
    check.first_dirty_byte = std::min<std::int64_t>(check.first_dirty_byte,
                                                    at - static_cast<const std::byte*>(job.data));
  });
  return check;
}

const std::vector<Arrangement>& arrangements() {
  static const std::vector<Arrangement> all = {
      {"contiguous", {5000}, {1}},
      {"one element", {1}, {1}},
      {"empty", {0}, {1}},
      {"three elements", {3}, {1}},
      {"unaligned start", {4999}, {1}, 3},
      {"rows, even pitch", {37, 64}, {96, 1}},
      {"rows, odd pitch", {37, 61}, {67, 1}},
      {"rows, unaligned start", {37, 64}, {96, 1}, 1},
      {"rows without padding", {37, 61}, {61, 1}},
      {"long gaps", {9, 5}, {700, 1}},
      {"ends of long gaps", {9, 5}, {700, 1}, 1, 40},
      {"gaps unwatched", {37, 64}, {96, 1}, 0, 0},
      {"matrices", {3, 5, 17}, {5 * 24 + 16, 24, 1}},
      {"matrices that merge", {3, 5, 16}, {5 * 32, 32, 1}},
      {"dense matrices, far apart", {3, 5, 16}, {500, 16, 1}},
      {"rank 6", {2, 3, 2, 2, 3, 5}, {400, 120, 60, 27, 8, 1}},
      {"rank 6, ends", {2, 3, 2, 2, 3, 5}, {400, 120, 60, 27, 8, 1}, 0, 9},
      {"unit dims", {1, 7, 1, 9}, {1000, 16, 3, 1}},
      {"many chunks", {150, 257}, {260, 1}},
  };
  return all;
}

std::size_t region_bytes(const Arrangement& arrangement, DType dtype) {
  std::int64_t extent = static_cast<std::int64_t>(arrangement.misalign_elems) + 1;
  for (std::size_t k = 0; k < arrangement.size.size(); ++k)
    extent += std::max<std::int64_t>(0, arrangement.size[k] - 1) * arrangement.stride[k];
  return kElementZero + static_cast<std::size_t>(extent) * dtype_bytes(dtype) + kAfterBytes + 1024;
}

BufferJob job_at(std::byte* base, const Arrangement& arrangement, DType dtype) {
  BufferJob job = {};
  const std::size_t bytes = dtype_bytes(dtype);
  auto* data = base + kElementZero + arrangement.misalign_elems * bytes;
  job.data = data;
  job.rank = static_cast<std::uint32_t>(arrangement.size.size());
  job.dtype = static_cast<std::uint8_t>(dtype);
  job.numel = 1;
  std::int64_t storage = 1;
  for (std::size_t k = 0; k < arrangement.size.size(); ++k) {
    job.size[k] = arrangement.size[k];
    job.stride[k] = arrangement.stride[k];
    job.numel *= arrangement.size[k];
    storage += (arrangement.size[k] - 1) * arrangement.stride[k];
  }
  if (job.numel == 0) storage = 0;
  job.canary = device::canary_for(0x5eed);
  job.gap_end_bytes = arrangement.gap_end_bytes;
  job.before = data - kBeforeBytes;
  job.before_bytes = kBeforeBytes;
  job.after = data + storage * static_cast<std::int64_t>(bytes);
  job.after_bytes = kAfterBytes;
  return job;
}

}  // namespace redzone::gpu_test
