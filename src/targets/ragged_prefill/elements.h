// The 16-bit element types of the prefill, and one step of a matrix product on them: the tensor
// cores on CUDA, plain loops on the host device.
#pragma once

#include <redzone/kernel.h>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#endif

namespace redzone::ragged {

#ifdef __CUDACC__
template <class E>
struct Native;
template <>
struct Native<bf16> {
  using type = __nv_bfloat16;
};
template <>
struct Native<f16> {
  using type = __half;
};

template <class E>
__device__ inline const typename Native<E>::type* native(const E* p) {
  return reinterpret_cast<const typename Native<E>::type*>(p);
}
#endif

// The part of a product that is computed on the host device. On CUDA whole tiles are computed, and
// readers mask the rest.
struct Part {
  int rows, columns, depth;
};

// Number of rows that a product reads of a tile with `rows` valid rows.
__device__ inline int rows_read(int rows, int tile) {
#ifdef __CUDACC__
  return tile;
#else
  return rows < tile ? rows : tile;
#endif
}

// scores [tile, tile] = a [tile, width] b^T, with b [tile, width]. All in shared memory, row-major;
// every 32 threads take 16 rows.
template <class E>
__device__ inline void multiply_transposed(float* scores, const E* a, const E* b, int tile,
                                           int width, Part part) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
  using namespace nvcuda::wmma;
  using T = typename Native<E>::type;
  const int row = static_cast<int>(threadIdx.x) / 32 * 16;
  for (int column = 0; column < tile; column += 16) {
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < width; k += 16) {
      fragment<matrix_a, 16, 16, 16, T, row_major> left;
      fragment<matrix_b, 16, 16, 16, T, col_major> right;
      load_matrix_sync(left, native(a) + row * width + k, static_cast<unsigned>(width));
      load_matrix_sync(right, native(b) + column * width + k, static_cast<unsigned>(width));
      mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(scores + row * tile + column, sum, static_cast<unsigned>(tile),
                      mem_row_major);
  }
#endif
#else
  for (int i = static_cast<int>(threadIdx.x); i < part.rows * part.columns;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / part.columns, column = i % part.columns;
    float sum = 0;
    for (int k = 0; k < part.depth; ++k)
      sum += static_cast<float>(a[row * width + k]) * static_cast<float>(b[column * width + k]);
    scores[row * tile + column] = sum;
  }
#endif
}

// sums [tile, width] += a [tile, tile] b [tile, width].
template <class E>
__device__ inline void add_product(float* sums, const E* a, const E* b, int tile, int width,
                                   Part part) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
  using namespace nvcuda::wmma;
  using T = typename Native<E>::type;
  const int row = static_cast<int>(threadIdx.x) / 32 * 16;
  for (int column = 0; column < width; column += 16) {
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(sum, sums + row * width + column, static_cast<unsigned>(width), mem_row_major);
    for (int k = 0; k < tile; k += 16) {
      fragment<matrix_a, 16, 16, 16, T, row_major> left;
      fragment<matrix_b, 16, 16, 16, T, row_major> right;
      load_matrix_sync(left, native(a) + row * tile + k, static_cast<unsigned>(tile));
      load_matrix_sync(right, native(b) + k * width + column, static_cast<unsigned>(width));
      mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(sums + row * width + column, sum, static_cast<unsigned>(width),
                      mem_row_major);
  }
#endif
#else
  for (int i = static_cast<int>(threadIdx.x); i < part.rows * part.columns;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / part.columns, column = i % part.columns;
    float sum = 0;
    for (int k = 0; k < part.depth; ++k)
      sum += static_cast<float>(a[row * tile + k]) * static_cast<float>(b[k * width + column]);
    sums[row * width + column] += sum;
  }
#endif
}

}  // namespace redzone::ragged
