// Tiles of rows through TMA, shared by the puzzles about descriptors. A tile is kTileRows rows of
// `width` float32, loaded as panels of at most kPanel columns, which a swizzle spans.
#pragma once

#include <redzone/bulk_copy.h>

#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {

inline constexpr int kTileRows = 16;
inline constexpr int kPanel = 32;      // 128 bytes
inline constexpr int kMostWidth = 64;  // columns of a row
inline constexpr int kTileThreads = 32;

// Row widths are powers of two from 8 columns up.
inline DimSpec width_dim() {
  DimSpec d = DimSpec::of("D", 8, kMostWidth, "columns");
  d.values = {8, 16, 32, kMostWidth};
  return d;
}

// Rows of x [rows, width]: boxes of `columns` columns. `row_bytes` is the pitch.
inline tma::Descriptor rows_descriptor(const void* x, std::int64_t rows, std::int64_t width,
                                       std::int64_t row_bytes, std::int64_t columns) {
  static constexpr tma::Swizzle kSwizzles[] = {tma::Swizzle::b32, tma::Swizzle::b64,
                                               tma::Swizzle::b128};
  tma::Descriptor d;
  d.type = tma::DataType::f32;
  d.rank = 2;
  d.address = reinterpret_cast<std::uintptr_t>(x);
  d.dims = {static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(rows), 1, 1, 1};
  d.strides = {static_cast<std::uint64_t>(row_bytes)};
  d.box = {static_cast<std::uint32_t>(columns), kTileRows, 1, 1, 1};
  d.swizzle = kSwizzles[columns <= 8 ? 0 : columns <= 16 ? 1 : 2];
  return d;
}
inline std::int64_t panel_of(std::int64_t width) {
  return std::min<std::int64_t>(width, kPanel);
}

// The landing place of one tile in dynamic shared memory.
struct Landing {
  static constexpr unsigned bytes(std::int64_t width) {
    return 1024u + static_cast<unsigned>(kTileRows * width * 4);
  }
  __device__ explicit Landing(int row_width)
      : width(row_width), panel(row_width < kPanel ? row_width : kPanel) {
    auto* at = dynamic_shared<unsigned char>();
    tile = at + (1024 - reinterpret_cast<unsigned long long>(at) % 1024) % 1024;
  }

  // Called by all threads, once, before the first load.
  __device__ static void start(Barrier& barrier) {
    if (threadIdx.x == 0) {
      barrier_init(barrier, 1);
      barrier_fence();
    }
    __syncthreads();
  }
  // Called by all threads: loads the rows from `row` on over those of the last load, which no
  // thread may still be reading.
  __device__ void load(const TensorMap& map, Barrier& barrier, int row) {
    if (threadIdx.x == 0) {
      reuse_fence();
      barrier_expect(barrier, static_cast<unsigned>(kTileRows * width * 4));
      for (int column = 0; column < width; column += panel)
        copy_tile(tile + kTileRows * column * 4, map, barrier, column, row);
    }
    barrier_wait(barrier, phase);
    phase ^= 1u;
  }
  __device__ float at(int row, int column) const {
    const unsigned char* from = tile + kTileRows * (column / panel * panel) * 4;
    const auto offset = static_cast<unsigned>((row * panel + column % panel) * 4);
    return *reinterpret_cast<const float*>(
        from + swizzled_offset(from, offset, static_cast<unsigned>(panel * 4)));
  }

  int width, panel;
  unsigned phase = 0;
  unsigned char* tile;
};

// y[r] is the sum of row r of x. Without kTma by plain loads.
template <bool kTma>
__global__ void row_sums(const __grid_constant__ TensorMap map, Matrix<const float> x, float* y,
                         int rows, int width) {
  __shared__ Barrier barrier;
  const int first = static_cast<int>(blockIdx.x) * kTileRows;
  Landing landing(width);
  if constexpr (kTma) {
    Landing::start(barrier);
    landing.load(map, barrier, first);
  }
  const int r = static_cast<int>(threadIdx.x);
  if (r >= kTileRows || first + r >= rows) return;
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += kTma ? landing.at(r, c) : x.at(first + r, c);
  y[first + r] = sum;
}

template <bool kTma>
void launch_row_sums(Context& ctx, const TensorMap& map, const Matrix<const float>& x, float* y,
                     std::int64_t rows, std::int64_t width) {
  launch(ctx, "row_sums", row_sums<kTma>,
         {{ceil_div(rows, kTileRows)}, {kTileThreads}, Landing::bytes(width)}, map, x, y, rows,
         width);
}

inline void fail_of(Context& ctx, const char* name, const EncodeStatus& status) {
  ctx.fail("tensor-map", std::string("the descriptor of '") + name + "': " + status.why);
}

inline void reference_row_sums(ReferenceCall& call) {
  const auto x = call.input("x");
  const auto y = call.output("y");
  const auto width = static_cast<std::size_t>(call.dim("D"));
  for (std::size_t i = 0; i < x.size(); ++i) y[i / width] += x[i];
}

}  // namespace redzone::puzzles
