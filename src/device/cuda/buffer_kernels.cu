// Fills and checks all buffers of a batch in one launch. device/buffer_math.h, which the host
// device also uses, defines every byte. A test runs these kernels on the host device, so they use
// only what <redzone/kernel.h> supports.
#include <redzone/kernel.h>

#include <cstddef>

#include "device/buffer_math.h"
#include "device/cuda/buffer_batch.h"

namespace redzone::device::cuda {
namespace {

constexpr unsigned kWarp = 32;

__device__ std::uintptr_t round_down(std::uintptr_t address) {
  return address & ~static_cast<std::uintptr_t>(kSlotBytes - 1);
}

// Reads and writes one element of `bytes` (1, 2, 4 or 8) as the low bits of a word. The size is
// deliberately a run-time value: instances for each size would multiply the code.
__device__ std::uint64_t load(const std::byte* p, unsigned bytes) {
  switch (bytes) {
    case 1:
      return *reinterpret_cast<const std::uint8_t*>(p);
    case 2:
      return *reinterpret_cast<const std::uint16_t*>(p);
    case 4:
      return *reinterpret_cast<const std::uint32_t*>(p);
    default:
      return *reinterpret_cast<const std::uint64_t*>(p);
  }
}
__device__ void store(std::byte* p, unsigned bytes, std::uint64_t bits) {
  switch (bytes) {
    case 1:
      *reinterpret_cast<std::uint8_t*>(p) = static_cast<std::uint8_t>(bits);
      return;
    case 2:
      *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(bits);
      return;
    case 4:
      *reinterpret_cast<std::uint32_t*>(p) = static_cast<std::uint32_t>(bits);
      return;
    default:
      *reinterpret_cast<std::uint64_t*>(p) = bits;
  }
}

// A slot: two words, in memory one access of 16 bytes. Elements are inserted and extracted by
// shifting, lowest first.
struct alignas(kSlotBytes) Sixteen {
  std::uint64_t low, high;
};

__device__ std::uint64_t element_at(const Sixteen& slot, unsigned bytes, unsigned lane) {
  const unsigned bit = 8 * bytes * lane;
  const std::uint64_t word = bit < 64 ? slot.low >> bit : slot.high >> (bit - 64);
  return word & (~0ull >> (64 - 8 * bytes));
}
__device__ void insert(Sixteen& slot, unsigned bytes, unsigned lane, std::uint64_t bits) {
  const unsigned bit = 8 * bytes * lane;
  if (bit < 64)
    slot.low |= bits << bit;
  else
    slot.high |= bits << (bit - 64);
}

// The random bits for 16 bytes of elements.
struct RandomSlot {
  Sixteen bits, finer;  // from random_word() and finer_word()
};

// The random bits for the elements from `first` on.
__device__ RandomSlot random_slot(std::uint64_t seed, std::int64_t first, unsigned element_bytes) {
  const std::int64_t per_word = elements_per_word(element_bytes);
  const std::int64_t word = first / per_word;
  const auto lane = static_cast<unsigned>(first - word * per_word);
  const Sixteen bits = {random_word(seed, word), random_word(seed, word + 1)};
  const Sixteen finer = {finer_word(bits.low), finer_word(bits.high)};
  if (lane == 0) return {bits, finer};
  const unsigned gone = 8 * element_bytes * lane;
  const auto from_lane = [&](const Sixteen& slot, std::uint64_t next) -> Sixteen {
    return {slot.low >> gone | slot.high << (64 - gone), slot.high >> gone | next << (64 - gone)};
  };
  const std::uint64_t next = random_word(seed, word + 2);
  return {from_lane(bits, next), from_lane(finer, finer_word(next))};
}

// A uniform fill of a slot. The type is a constant, so that the compiler removes the switches.
template <DType Type>
__device__ Sixteen uniform_slot(const RandomSlot& random, double lo, double hi) {
  constexpr unsigned kBytes = dtype_bytes(Type);
  Sixteen slot = {0, 0};
#pragma unroll
  for (unsigned lane = 0; lane < kSlotBytes / kBytes; ++lane)
    insert(slot, kBytes, lane,
           uniform_element(Type, lo, hi, element_at(random.bits, kBytes, lane),
                           element_at(random.finer, kBytes, lane)));
  return slot;
}

// Values of 16 bytes of elements, from element `first` on, computed one by one: for fills that are
// not the most frequent ones. Not inlined, because it needs many registers.
__noinline__ __device__ Sixteen slot_of_each(const BufferJob& job, std::int64_t first) {
  const auto bytes = static_cast<unsigned>(dtype_bytes(static_cast<DType>(job.dtype)));
  const std::uint64_t mask = ~0ull >> (64 - 8 * bytes);
  Sixteen slot = {0, 0};
#pragma unroll 1
  for (unsigned lane = 0; lane < kSlotBytes / bytes; ++lane)
    insert(slot, bytes, lane, fill_bits(job, first + lane) & mask);
  return slot;
}

// Fill values of the elements of a job. Poison and constants are equal for all elements and are
// computed once. The parameters of other frequent fills are copied, so that they are in registers.
class Filling {
 public:
  __device__ explicit Filling(const BufferJob& job)
      : job_(job), seed_(job.seed), lo_(job.lo), hi_(job.hi), type_(static_cast<DType>(job.dtype)) {
    const bool same = job.fill == FillKind::poison || job.fill == FillKind::constant;
    const bool uniform = job.fill == FillKind::uniform;
    if (same) {
      way_ = Way::same;
      same_slot_ = slot_of_each(job, 0);
    } else if (uniform && (type_ == DType::bf16 || type_ == DType::f16 || type_ == DType::f32)) {
      way_ = Way::words;
    }
  }

  // Values of 16 bytes of elements, from element `first` on.
  __device__ Sixteen slot_at(std::int64_t first) const {
    if (way_ == Way::same) return same_slot_;
    if (way_ == Way::each) return slot_of_each(job_, first);
    if (type_ == DType::f32)
      return uniform_slot<DType::f32>(random_slot(seed_, first, 4), lo_, hi_);
    const RandomSlot random = random_slot(seed_, first, 2);
    if (type_ == DType::f16) return uniform_slot<DType::f16>(random, lo_, hi_);
    return uniform_slot<DType::bf16>(random, lo_, hi_);
  }

 private:
  enum class Way : std::uint8_t { same, words, each };

  const BufferJob& job_;
  Sixteen same_slot_ = {0, 0};
  std::uint64_t seed_;
  double lo_, hi_;
  DType type_;
  Way way_ = Way::each;
};

__device__ std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) != 0) return a / b;  // 64-bit division takes many times as long
  return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
}

// The elements of a job, as slots.
class Elements {
 public:
  __device__ explicit Elements(const SlotJob& slot_job)
      : slot_job_(slot_job),
        bytes_(static_cast<unsigned>(dtype_bytes(static_cast<DType>(slot_job.job.dtype)))),
        per_slot_(static_cast<int>(kSlotBytes / bytes_)) {}

  __device__ unsigned element_bytes() const { return bytes_; }
  __device__ int per_slot() const { return per_slot_; }
  // Number of leading slots of two words that are whole and contiguous in memory.
  __device__ std::uint64_t dense_slots() const {
    const bool dense = slot_job_.vector != 0 && slot_job_.lead == 0 && slot_job_.job.rank == 1;
    return dense ? static_cast<std::uint64_t>(slot_job_.job.numel / per_slot_) : 0;
  }

  // The elements of a slot, and whether one access of 16 bytes transfers them all.
  struct Range {
    std::int64_t first, last;
    bool vector;
  };
  // Slots that are aligned in memory, for fills, because drawn values can be shifted.
  __device__ Range in_memory(std::uint64_t slot) const {
    return range(slot, slot_job_.lead, slot_job_.vector != 0);
  }
  // Slots of two words, for digests. The last range may have one slot fewer.
  __device__ Range of_words(std::uint64_t slot) const {
    return range(slot, 0, slot_job_.vector != 0 && slot_job_.lead == 0);
  }

  // Address of a vector slot.
  __device__ Sixteen* vector_at(std::int64_t index) const {
    const BufferJob& job = slot_job_.job;
    std::int64_t offset = index;
    if (job.rank > 1) {
      const std::int64_t inner = job.size[job.rank - 1];
      const std::int64_t run = quotient(index, inner);
      offset = run_offset(job, run) + (index - run * inner);
    }
    return reinterpret_cast<Sixteen*>(at(offset));
  }

  // Calls `visit(pointer, index)` for the elements [first, last) in memory order.
  template <class Visit>
  __device__ void for_each(std::int64_t first, std::int64_t last, Visit visit) const {
    if (first >= last) return;
    const BufferJob& job = slot_job_.job;
    const std::int64_t inner = job.size[job.rank - 1];
    std::int64_t run = job.rank == 1 ? 0 : quotient(first, inner);
    std::int64_t column = first - run * inner;
    std::byte* row = at(run_offset(job, run));
    for (std::int64_t index = first; index < last; ++index) {
      visit(row + column * bytes_, index);
      if (++column == inner) {
        column = 0;
        row = at(run_offset(job, ++run));
      }
    }
  }

 private:
  __device__ Range range(std::uint64_t slot, std::int64_t lead, bool vector) const {
    const std::int64_t begin = static_cast<std::int64_t>(slot) * per_slot_ - lead;
    const std::int64_t end = begin + per_slot_;
    const std::int64_t numel = slot_job_.job.numel;
    const bool whole = begin >= 0 && end <= numel;
    return {begin < 0 ? 0 : begin, end > numel ? numel : end, whole && vector};
  }
  __device__ std::byte* at(std::int64_t offset) const {
    return static_cast<std::byte*>(slot_job_.job.data) + offset * bytes_;
  }

  const SlotJob& slot_job_;
  unsigned bytes_;
  int per_slot_;
};

__device__ void fill_elements(const SlotJob& slot_job, std::uint64_t begin, std::uint64_t end) {
  const Elements elements(slot_job);
  const unsigned bytes = elements.element_bytes();
  const Filling filling(slot_job.job);
  for (std::uint64_t slot = begin + threadIdx.x; slot < end; slot += blockDim.x) {
    const Elements::Range range = elements.in_memory(slot);
    const Sixteen value = filling.slot_at(range.first);
    if (range.vector)
      *elements.vector_at(range.first) = value;
    else
      elements.for_each(range.first, range.last, [&](std::byte* p, std::int64_t index) {
        store(p, bytes, element_at(value, bytes, static_cast<unsigned>(index - range.first)));
      });
  }
}

// Results of one thread.
struct Tally {
  std::uint64_t digest = 0, dirty = 0, changed = 0;
  std::int64_t first_dirty = INT64_MAX;
};

// Adds slots of two words.
class SlotCheck {
 public:
  __device__ SlotCheck(const SlotJob& slot_job, unsigned element_bytes)
      : filling_(slot_job.job),
        bytes_(element_bytes),
        per_word_(static_cast<int>(kWordBytes / element_bytes)),
        verify_(slot_job.job.verify_unchanged) {}

  // The first `count` elements of the slot exist.
  __device__ void add(const Sixteen& found, std::uint64_t slot, int count, Tally& tally) const {
    const auto word = static_cast<std::int64_t>(2 * slot);
    tally.digest += digest_term(found.low, word);
    if (count > per_word_) tally.digest += digest_term(found.high, word + 1);
    if (!verify_) return;
    const Sixteen want = filling_.slot_at(word * per_word_);
    if (found.low == want.low && found.high == want.high) return;
    for (int lane = 0; lane < count; ++lane)
      tally.changed += element_at(found, bytes_, static_cast<unsigned>(lane)) !=
                       element_at(want, bytes_, static_cast<unsigned>(lane));
  }

 private:
  Filling filling_;
  unsigned bytes_;
  int per_word_;
  bool verify_;
};

__device__ void check_elements(const SlotJob& slot_job, std::uint64_t begin, std::uint64_t end,
                               Tally& tally) {
  const Elements elements(slot_job);
  const unsigned bytes = elements.element_bytes();
  const SlotCheck check(slot_job, bytes);
  std::uint64_t slot = begin + threadIdx.x;
  // Whole slots without gaps: the next slot is loaded while the current one is digested.
  if (const std::uint64_t dense = elements.dense_slots(); slot < end && slot < dense) {
    const std::uint64_t stop = end < dense ? end : dense;
    const Sixteen* const at = elements.vector_at(0);
    Sixteen next = at[slot];
    while (slot < stop) {
      const Sixteen found = next;
      const std::uint64_t following = slot + blockDim.x;
      if (following < stop) next = at[following];
      check.add(found, slot, elements.per_slot(), tally);
      slot = following;
    }
  }
  for (; slot < end; slot += blockDim.x) {
    const Elements::Range range = elements.of_words(slot);
    if (range.first >= range.last) return;
    const auto count = static_cast<int>(range.last - range.first);
    if (range.vector) {
      check.add(*elements.vector_at(range.first), slot, count, tally);
      continue;
    }
    Sixteen found = {0, 0};
    elements.for_each(range.first, range.last, [&](const std::byte* p, std::int64_t index) {
      insert(found, bytes, static_cast<unsigned>(index - range.first), load(p, bytes));
    });
    check.add(found, slot, count, tally);
  }
}

// The part of a canary window that lies in one slot.
struct CanarySlot {
  std::uintptr_t begin, end;
  __device__ bool whole() const { return end - begin == kSlotBytes; }
};
__device__ CanarySlot clip(std::uintptr_t window, std::uint64_t bytes, std::uint64_t slot) {
  const std::uintptr_t at = round_down(window) + slot * kSlotBytes;
  const std::uintptr_t window_end = window + bytes;
  const std::uintptr_t begin = at < window ? window : at;
  const std::uintptr_t end = at + kSlotBytes < window_end ? at + kSlotBytes : window_end;
  return {begin, end < begin ? begin : end};
}

// The gaps of one dim have equal length. They are indexed by the indices of the outer dims and,
// innermost, by the index in this dim that they follow.
class GapSlots {
 public:
  __device__ GapSlots(const BufferJob& job, int dim)
      : job_(job),
        dim_(dim),
        element_bytes_(static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)))),
        extent_(extent_elems(job, dim + 1)) {
    gap_bytes_ = static_cast<std::uint64_t>((job.stride[dim] - extent_) * element_bytes_);
    windows_ = gap_windows(gap_bytes_, job.gap_end_bytes);
    per_window_ = slots_per_window(windows_.bytes);
  }

  __device__ CanarySlot at(std::uint64_t slot) const {
    const std::uint64_t window = slot / per_window_;
    const std::uint64_t gap = window / windows_.count;
    const bool at_end = window - gap * windows_.count == 1;
    const std::uintptr_t begin =
        begin_of(static_cast<std::int64_t>(gap)) + (at_end ? gap_bytes_ - windows_.bytes : 0);
    return clip(begin, windows_.bytes, slot - window * per_window_);
  }

 private:
  __device__ std::uintptr_t begin_of(std::int64_t gap) const {
    const std::int64_t inner = job_.size[dim_] - 1;  // the last index is followed by a gap of an
                                                     // outer dim
    std::int64_t outer = gap / inner;
    std::int64_t elements = (gap - outer * inner) * job_.stride[dim_] + extent_;
    for (int k = dim_ - 1; k >= 0; --k) {
      elements += (outer % job_.size[k]) * job_.stride[k];
      outer /= job_.size[k];
    }
    return reinterpret_cast<std::uintptr_t>(job_.data) +
           static_cast<std::uintptr_t>(elements * element_bytes_);
  }

  const BufferJob& job_;
  int dim_;
  std::int64_t element_bytes_;
  std::int64_t extent_;  // elements before a gap, including gaps of inner dims
  std::uint64_t gap_bytes_;
  GapWindows windows_;
  std::uint64_t per_window_;
};

// Calls `work` for the part of a canary window in each of this thread's slots.
template <class Work>
__device__ void for_each_canary_slot(const BufferJob& job, const Piece& piece, std::uint64_t begin,
                                     std::uint64_t end, Work work) {
  if (piece.kind == PieceKind::gaps) {
    const GapSlots gaps(job, piece.dim);
    for (std::uint64_t slot = begin + threadIdx.x; slot < end; slot += blockDim.x)
      work(gaps.at(slot));
    return;
  }
  const bool before = piece.kind == PieceKind::before;
  const auto window = reinterpret_cast<std::uintptr_t>(before ? job.before : job.after);
  const std::uint64_t bytes = before ? job.before_bytes : job.after_bytes;
  for (std::uint64_t slot = begin + threadIdx.x; slot < end; slot += blockDim.x)
    work(clip(window, bytes, slot));
}

__device__ void fill_canaries(const BufferJob& job, const Piece& piece, std::uint64_t begin,
                              std::uint64_t end) {
  const std::uint32_t word = job.canary;
  const std::uint64_t half = static_cast<std::uint64_t>(word) << 32 | word;
  for_each_canary_slot(job, piece, begin, end, [&](const CanarySlot& range) {
    if (range.whole()) {
      *reinterpret_cast<Sixteen*>(range.begin) = {half, half};
    } else {
      for (std::uintptr_t a = range.begin; a < range.end; ++a)
        *reinterpret_cast<std::uint8_t*>(a) = canary_byte(word, reinterpret_cast<const void*>(a));
    }
  });
}

__device__ void check_canaries(const BufferJob& job, const Piece& piece, std::uint64_t begin,
                               std::uint64_t end, Tally& tally) {
  const std::uint32_t word = job.canary;
  const std::uint64_t half = static_cast<std::uint64_t>(word) << 32 | word;
  const auto data = reinterpret_cast<std::uintptr_t>(job.data);
  for_each_canary_slot(job, piece, begin, end, [&](const CanarySlot& range) {
    if (range.whole()) {
      const Sixteen value = *reinterpret_cast<const Sixteen*>(range.begin);
      if (value.low == half && value.high == half) return;
    }
    for (std::uintptr_t a = range.begin; a < range.end; ++a) {
      const std::uint8_t want = canary_byte(word, reinterpret_cast<const void*>(a));
      if (*reinterpret_cast<const std::uint8_t*>(a) == want) continue;
      ++tally.dirty;
      const auto offset = static_cast<std::int64_t>(a - data);
      if (offset < tally.first_dirty) tally.first_dirty = offset;
    }
  });
}

__device__ std::uint64_t sum_of_warp(std::uint64_t value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2)
    value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

__device__ std::int64_t min_of_warp(std::int64_t value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    const std::int64_t other = __shfl_down_sync(0xffffffffu, value, step);
    if (other < value) value = other;
  }
  return value;
}

__device__ void add(std::uint64_t* to, std::uint64_t value) {
  if (value != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}

__device__ std::uint64_t* dirty_field(BufferCheck& check, PieceKind kind) {
  if (kind == PieceKind::before) return &check.dirty_before;
  if (kind == PieceKind::after) return &check.dirty_after;
  return &check.dirty_gaps;
}

// Adds the results of all threads of the warp to the result of the job. All threads must call it.
__device__ void publish(const Tally& tally, PieceKind kind, BufferCheck& to) {
  const std::uint64_t digest = sum_of_warp(tally.digest);
  const std::uint64_t dirty = sum_of_warp(tally.dirty);
  const std::uint64_t changed = sum_of_warp(tally.changed);
  const std::int64_t first_dirty = min_of_warp(tally.first_dirty);
  if (threadIdx.x % kWarp != 0) return;
  add(&to.digest, digest);
  add(&to.changed, changed);
  if (dirty == 0) return;
  add(dirty_field(to, kind), dirty);
  atomicMin(reinterpret_cast<long long*>(&to.first_dirty_byte),
            static_cast<long long>(first_dirty));
}

// The piece that contains `chunk`.
__device__ std::uint32_t find_piece(const BatchView& batch, std::uint64_t chunk) {
  std::uint32_t low = 0;
  std::uint32_t high = batch.piece_count;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (batch.pieces[middle].first_chunk <= chunk)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// Each block takes a contiguous range of the chunks, piece by piece, and calls `work(job, piece,
// first slot, end slot)`. `job` is in shared memory.
template <class Work>
__device__ void for_each_piece(const BatchView& batch, Work work) {
  __shared__ SlotJob job;
  const std::uint64_t per_block = (batch.chunks + gridDim.x - 1) / gridDim.x;
  std::uint64_t chunk = blockIdx.x * per_block;
  std::uint64_t end = chunk + per_block;
  if (end > batch.chunks) end = batch.chunks;
  if (chunk >= end) return;
  for (std::uint32_t i = find_piece(batch, chunk); chunk < end; ++i) {
    const Piece piece = batch.pieces[i];
    const std::uint64_t piece_end = batch.pieces[i + 1].first_chunk;
    const std::uint64_t stop = piece_end < end ? piece_end : end;
    __syncthreads();  // the previous job is no longer in use
    static_assert(sizeof(SlotJob) % sizeof(std::uint64_t) == 0);
    const auto* from = reinterpret_cast<const std::uint64_t*>(&batch.jobs[piece.job]);
    auto* to = reinterpret_cast<std::uint64_t*>(&job);
    for (unsigned k = threadIdx.x; k < sizeof(SlotJob) / sizeof(std::uint64_t); k += blockDim.x)
      to[k] = from[k];
    __syncthreads();
    const std::uint64_t first_slot = (chunk - piece.first_chunk) * kChunkSlots;
    std::uint64_t end_slot = (stop - piece.first_chunk) * kChunkSlots;
    if (end_slot > piece.slots) end_slot = piece.slots;
    work(job, piece, first_slot, end_slot);
    chunk = stop;
  }
}

__device__ void fill_batch(const BatchView& batch) {
  for_each_piece(batch, [](const SlotJob& slot_job, const Piece& piece, std::uint64_t begin,
                           std::uint64_t end) {
    if (piece.kind != PieceKind::elements) return fill_canaries(slot_job.job, piece, begin, end);
    fill_elements(slot_job, begin, end);
  });
}

}  // namespace

// Grid: any; block: kBlockThreads.
extern "C" __global__ void __launch_bounds__(kBlockThreads, kBlocksPerProcessor)
    redzone_fill(BatchView batch) {
  fill_batch(batch);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, kBlocksPerProcessor)
    redzone_fill_inline(const __grid_constant__ InlineBatch batch) {
  fill_batch({batch.jobs, batch.pieces, batch.piece_count, batch.chunks, nullptr});
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, kBlocksPerProcessor)
    redzone_check(BatchView batch) {
  for_each_piece(batch, [&](const SlotJob& slot_job, const Piece& piece, std::uint64_t begin,
                            std::uint64_t end) {
    Tally tally;
    if (piece.kind != PieceKind::elements)
      check_canaries(slot_job.job, piece, begin, end, tally);
    else
      check_elements(slot_job, begin, end, tally);
    publish(tally, piece.kind, batch.results[piece.job]);
  });
}

}  // namespace redzone::device::cuda
