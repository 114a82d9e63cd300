// The bulk copies of <redzone/bulk_copy.h> on the host device, and the map that they read. Included
// only by that header and by the host device, which writes the maps.
//
// A copy reads the elements within the map's bounds with plain loads, so that a map that does not
// fit its buffer hits the guard pages like any other access. Elements out of bounds are filled. The
// scheduler chooses when a copy arrives (host_thread.h).
#pragma once

#include <redzone/host_checks.h>
#include <redzone/host_thread.h>
#include <redzone/tensor_map.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace redzone::host {

// What the host device encodes into a TensorMap.
struct TensorMapFields {
  static constexpr std::uint64_t kMark = 0x70616d5f65746962ull;

  std::uint64_t mark = 0;  // kMark in every encoded map
  std::uint64_t address = 0;
  std::uint64_t dims[5] = {};     // in elements
  std::uint64_t strides[4] = {};  // in bytes; [i] is of dim i + 1
  std::uint16_t box[5] = {};      // in elements
  std::uint8_t element_strides[5] = {};
  std::uint8_t rank = 0;
  std::uint8_t element_bytes = 0;
  std::uint8_t swizzle_bytes = 0;  // 0, 32, 64 or 128
  bool nan_fill = false;
};
static_assert(sizeof(TensorMapFields) <= sizeof(TensorMap));

// An mbarrier in its 8 bytes of shared memory: the current phase ends when `pending` is 0 and all
// expected bytes have arrived.
struct BarrierFields {
  std::uint64_t phase : 1;
  std::uint64_t expected : 15;
  std::uint64_t pending : 16;
  std::int64_t bytes : 32;  // expected minus arrived
};
static_assert(sizeof(BarrierFields) == 8);

// An mbarrier is 8 bytes, aligned to 8 (PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier", "Size and alignment of mbarrier object"). The error code is that of
// other misaligned addresses; the code of the hardware was not measured.
inline void check_barrier(const void* barrier) {
  // Volatile, because a compiler assumes that a reference to a Barrier is aligned, and would remove
  // the check.
  const volatile auto address = reinterpret_cast<std::uintptr_t>(barrier);
  if (address % 8 != 0)
    self.runtime->refuse("CUDA_ERROR_MISALIGNED_ADDRESS",
                         "the address of a barrier is not a multiple of 8 bytes");
}

REDZONE_UNCHECKED inline BarrierFields load_barrier(const void* barrier) {
  BarrierFields fields;
  std::memcpy(&fields, barrier, sizeof fields);
  return fields;
}

REDZONE_UNCHECKED inline void store_barrier(void* barrier, BarrierFields fields) {
  if (fields.pending == 0 && fields.bytes == 0) {
    fields.phase ^= 1u;
    fields.pending = fields.expected;
  }
  std::memcpy(barrier, &fields, sizeof fields);
}

// Address of the byte at `address` of a swizzled tile: its 16-byte units are permuted by the number
// of the 128-byte row, in groups of 2, 4 or 8 (CUDA C++ Programming Guide, "TMA swizzle").
inline std::uintptr_t swizzled_address(std::uintptr_t address, unsigned swizzle_bytes) {
  const std::uintptr_t units = swizzle_bytes == 0 ? 0 : swizzle_bytes / 16 - 1;
  return address ^ ((address >> 7 & units) << 4);
}

class TileCopy {
 public:
  explicit TileCopy(const BulkCopy& copy) : copy_(copy) {
    std::memcpy(&map_, copy.map, sizeof map_);
    for (unsigned d = 0; d < map_.rank; ++d)
      count_[d] = d == 0 ? map_.box[0]
                         : (map_.box[d] + map_.element_strides[d] - 1) / map_.element_strides[d];
  }

  void run() {
    const std::size_t row_bytes = std::size_t{count_[0]} * map_.element_bytes;
    std::size_t rows = 1;
    for (unsigned d = 1; d < map_.rank; ++d) rows *= count_[d];
    auto to = reinterpret_cast<std::uintptr_t>(copy_.to);
    for (std::size_t row = 0; row < rows; ++row, to += row_bytes) {
      read_row(row);
      for (std::size_t at = 0; at < row_bytes; at += 16)
        std::memcpy(reinterpret_cast<void*>(swizzled_address(to + at, map_.swizzle_bytes)),
                    row_ + at, std::min<std::size_t>(16, row_bytes - at));
    }
    BarrierFields barrier = load_barrier(copy_.barrier);
    barrier.bytes -= static_cast<std::int64_t>(rows * row_bytes);
    store_barrier(copy_.barrier, barrier);
  }

 private:
  void fill(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * map_.element_bytes; i < end * map_.element_bytes; ++i)
      row_[i] = !map_.nan_fill ? 0 : i % map_.element_bytes == map_.element_bytes - 1 ? 0x7f : 0xff;
  }

  // Reads one innermost row of the tile into row_, in order.
  void read_row(std::size_t row) {
    bool inside = true;
    auto from = map_.address;
    for (unsigned d = 1; d < map_.rank; ++d) {
      const std::int64_t at = std::int64_t{copy_.at[d]} +
                              static_cast<std::int64_t>(row % count_[d]) * map_.element_strides[d];
      row /= count_[d];
      inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map_.dims[d];
      from += static_cast<std::uint64_t>(at) * map_.strides[d - 1];
    }
    const std::int64_t first = copy_.at[0], count = count_[0];
    const std::int64_t dim = static_cast<std::int64_t>(map_.dims[0]);
    const std::int64_t begin = inside ? std::clamp<std::int64_t>(-first, 0, count) : count;
    const std::int64_t end = inside ? std::clamp<std::int64_t>(dim - first, begin, count) : count;
    fill(0, begin);
    fill(end, count);
    if (begin == end) return;
    from += static_cast<std::uint64_t>(first + begin) * map_.element_bytes;
    std::memcpy(row_ + begin * map_.element_bytes, reinterpret_cast<const void*>(from),
                static_cast<std::size_t>(end - begin) * map_.element_bytes);
  }

  const BulkCopy& copy_;
  TensorMapFields map_;
  std::uint32_t count_[5] = {1, 1, 1, 1, 1};  // elements of the tile per dim
  unsigned char row_[256 * 8];
};

inline void issue_tile(void* shared, const TensorMap& map, void* barrier, unsigned rank,
                       const std::int32_t* at) {
  TensorMapFields fields;
  std::memcpy(&fields, map.bytes, sizeof fields);
  Runtime& runtime = *self.runtime;
  if (fields.mark != TensorMapFields::kMark)
    runtime.refuse("invalid-tensor-map", "a bulk copy with a tensor map that was never encoded");
  if (fields.rank != rank)
    runtime.refuse("invalid-bulk-copy", "a bulk copy of another rank than that of its tensor map");
  if (reinterpret_cast<std::uintptr_t>(shared) % 128 != 0)
    runtime.refuse("invalid-bulk-copy",
                   "the destination of a tensor bulk copy is not a multiple of 128 bytes");
  // The hardware does the same: triton-lang/triton#7385, tile-ai/tilelang#2527, and measured on an
  // H100.
  if (std::int64_t{at[0]} * fields.element_bytes % 16 != 0)
    runtime.refuse("CUDA_ERROR_ILLEGAL_INSTRUCTION",
                   "the innermost coordinate of a tensor bulk copy is not a multiple of 16 bytes");
  BulkCopy copy;
  copy.arrive = [](const BulkCopy& arrived) { TileCopy(arrived).run(); };
  copy.barrier = barrier;
  copy.to = shared;
  std::copy(at, at + rank, copy.at);
  std::memcpy(copy.map, map.bytes, sizeof copy.map);
  runtime.issue(copy);
}

}  // namespace redzone::host
