// Stages of a pipeline of TMA copies, shared by the puzzles about its barriers. A stage holds
// kTileRows rows of kStageWidth float32 without swizzle.
#pragma once

#include <initializer_list>

#include "tiles.h"

namespace redzone::puzzles {

inline constexpr int kStageWidth = 8;

// In dynamic shared memory.
class Stages {
 public:
  static constexpr unsigned kStageBytes = kTileRows * kStageWidth * sizeof(float);
  static constexpr unsigned kBytes = 128 + 2 * kStageBytes;

  // Aligned to 128 bytes, as copies require.
  __device__ Stages() {
    auto* at = dynamic_shared<unsigned char>();
    base_ = at + (128 - reinterpret_cast<unsigned long long>(at) % 128) % 128;
  }
  // Called by one thread: the rows from `row` on, over those of the last load into this stage.
  __device__ void load(int stage, const TensorMap& map, Barrier& barrier, int row) const {
    reuse_fence();
    barrier_expect(barrier, kStageBytes);
    copy_tile(base_ + stage * kStageBytes, map, barrier, 0, row);
  }
  __device__ float at(int stage, int row, int column) const {
    const auto* from = reinterpret_cast<const float*>(base_ + stage * kStageBytes);
    return from[row * kStageWidth + column];
  }

 private:
  unsigned char* base_;
};

// Called by all threads, before the first load. One thread arrives in each phase.
template <int kCount>
__device__ void start_barriers(Barrier (&barriers)[kCount]) {
  if (threadIdx.x == 0) {
    for (Barrier& barrier : barriers) barrier_init(barrier, 1);
    barrier_fence();
  }
  __syncthreads();
}

// An input of rows of kStageWidth elements, at the alignment that TMA requires.
inline TensorSpec stage_tensor(std::string name, std::vector<std::string> rows) {
  auto shape = [rows = std::move(rows)](const Dims& dims) {
    Shape out;
    for (const auto& row : rows) out.push_back(get(dims, row));
    out.push_back(kStageWidth);
    return out;
  };
  auto t = tensor(std::move(name), DType::f32, Role::in, std::move(shape), integers(1, 9));
  t.align_bytes = 16;
  return t;
}

// False if the call has ended.
inline bool encode_stage(Context& ctx, const char* name, std::int64_t rows, TensorMap& map) {
  auto d = rows_descriptor(ctx.tensor(name).base, rows, kStageWidth, kStageWidth * 4, kStageWidth);
  d.swizzle = tma::Swizzle::none;
  const auto status = ctx.encode_tiled(name, d, map);
  if (!status) fail_of(ctx, name, status);
  return !ctx.ended();
}

}  // namespace redzone::puzzles
