#include "device/host/buffers.h"

#include <algorithm>
#include <limits>

#include "device/buffer_math.h"
#include "device/element_loops.h"

namespace redzone::device {

namespace {

// ---- Runs --------------------------------------------------------------------------------------

// Calls `visit(start of the run, index of its first element, bytes to the next run)` for each run
// in memory order; 0 bytes after the last.
template <class Visit>
void for_each_run(const BufferJob& job, Visit visit) {
  if (job.numel == 0) return;
  const int rank = static_cast<int>(job.rank);
  const std::int64_t length = job.size[rank - 1];
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
  std::int64_t at[kMaxRank] = {};
  std::byte* run = static_cast<std::byte*>(job.data);
  for (std::int64_t first = 0;; first += length) {
    if (first + length >= job.numel) return visit(run, first, std::uint64_t{0});
    std::byte* next = run;
    for (int k = rank - 2; k >= 0; --k) {
      next += job.stride[k] * bytes;
      if (++at[k] < job.size[k]) break;
      next -= job.stride[k] * bytes * job.size[k];
      at[k] = 0;
    }
    visit(run, first, static_cast<std::uint64_t>(next - run - length * bytes));
    run = next;
  }
}

// Calls `visit(start, bytes)` for each canary window of a gap.
template <class Visit>
void for_each_window(const BufferJob& job, std::byte* gap, std::uint64_t bytes, Visit visit) {
  if (bytes == 0 || job.gap_end_bytes == 0) return;
  const GapWindows windows = gap_windows(bytes, job.gap_end_bytes);
  visit(gap, windows.bytes);
  if (windows.count == 2) visit(gap + bytes - windows.bytes, windows.bytes);
}

// ---- Canaries ----------------------------------------------------------------------------------

std::uint64_t doubled(std::uint32_t canary) {
  return std::uint64_t{canary} << 32 | canary;
}

// Bytes up to the next address that is a multiple of 8, at most `n`.
std::uint64_t head_of(const std::byte* at, std::uint64_t n) {
  return std::min<std::uint64_t>(n, (8 - (reinterpret_cast<std::uintptr_t>(at) & 7)) & 7);
}

void fill_canary_bytes(std::byte* at, std::uint64_t n, std::uint32_t canary) {
  for (std::uint64_t i = 0; i < n; ++i) at[i] = std::byte{canary_byte(canary, at + i)};
}

void fill_canary(std::byte* at, std::uint64_t n, std::uint32_t canary) {
  const std::uint64_t head = head_of(at, n), words = (n - head) / 8;
  fill_canary_bytes(at, head, canary);
  at += head;
  const std::uint64_t word = doubled(canary);
  for (std::uint64_t i = 0; i < words; ++i) std::memcpy(at + 8 * i, &word, 8);
  fill_canary_bytes(at + 8 * words, n - head - 8 * words, canary);
}

struct DirtyBytes {
  const BufferJob& job;
  BufferCheck& result;

  std::uint64_t bytes(const std::byte* at, std::uint64_t n) {
    std::uint64_t dirty = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (at[i] == std::byte{canary_byte(job.canary, at + i)}) continue;
      ++dirty;
      // Subtracted as integers, because windows and data are in one region, but not in one array.
      const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at + i) -
                                                    reinterpret_cast<std::uintptr_t>(job.data));
      result.first_dirty_byte = std::min(result.first_dirty_byte, offset);
    }
    return dirty;
  }

  std::uint64_t count(const std::byte* at, std::uint64_t n) {
    const std::uint64_t head = head_of(at, n), words = (n - head) / 8;
    std::uint64_t dirty = bytes(at, head);
    at += head;
    const std::uint64_t word = doubled(job.canary);
    for (std::uint64_t i = 0; i < words; ++i) {
      std::uint64_t found;
      std::memcpy(&found, at + 8 * i, 8);
      if (found != word) dirty += bytes(at + 8 * i, 8);
    }
    return dirty + bytes(at + 8 * words, n - head - 8 * words);
  }
};

std::int64_t run_bytes(const BufferJob& job) {
  return job.size[job.rank - 1] *
         static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
}

}  // namespace

void fill_buffer(const BufferJob& job) {
  const ElementLoops& loops = element_loops(job);
  const std::int64_t length = job.size[job.rank - 1], bytes = run_bytes(job);
  for_each_run(job, [&](std::byte* run, std::int64_t first, std::uint64_t gap) {
    loops.fill(job, run, first, length);
    for_each_window(job, run + bytes, gap,
                    [&](std::byte* at, std::uint64_t n) { fill_canary(at, n, job.canary); });
  });
  fill_canary(static_cast<std::byte*>(job.before), job.before_bytes, job.canary);
  fill_canary(static_cast<std::byte*>(job.after), job.after_bytes, job.canary);
}

BufferCheck check_buffer(const BufferJob& job) {
  BufferCheck result = {};
  result.first_dirty_byte = std::numeric_limits<std::int64_t>::max();
  DirtyBytes dirty{job, result};
  const ElementLoops& loops = element_loops(job);
  const std::int64_t length = job.size[job.rank - 1], bytes = run_bytes(job);
  RunSums sums;
  for_each_run(job, [&](std::byte* run, std::int64_t first, std::uint64_t gap) {
    if (job.verify_unchanged)
      loops.verify(job, run, first, length, sums);
    else
      loops.digest(run, first, length, sums);
    for_each_window(job, run + bytes, gap, [&](const std::byte* at, std::uint64_t n) {
      result.dirty_gaps += dirty.count(at, n);
    });
  });
  result.digest = digest_of(sums, static_cast<DType>(job.dtype), job.numel);
  result.changed = sums.changed;
  result.dirty_before = dirty.count(static_cast<const std::byte*>(job.before), job.before_bytes);
  result.dirty_after = dirty.count(static_cast<const std::byte*>(job.after), job.after_bytes);
  return result;
}

}  // namespace redzone::device
