// The kernels of chunked gated linear attention. Compiled by NVRTC on CUDA (this text is embedded
// in the plugin) and ahead of time by g++ for the host device, so: no standard headers, C++17.
//
// One sequence (b, h) of T tokens is cut into N = T / C chunks of C tokens. Every kernel works on
// the D x DV state of a sequence, cut into tiles: `rows` of D by BV of DV, held in the registers of
// one CTA. A CTA iterates over tiles with the grid size as its stride, so every grid gives the same
// sums in the same order: outputs are bitwise equal for every launch.
//
// All offsets are 64-bit. Strides are in elements and may have any value for a dim of size 1: an
// index is multiplied by its stride only if the index is in range.
#ifndef REDZONE_CHUNK_KERNELS_CUH
#define REDZONE_CHUNK_KERNELS_CUH

#include <redzone/kernel.h>

namespace redzone_chunk {

using i64 = long long;

// Extents of one call. `sequences` is B * H; sequence q is batch q / H, head q % H.
struct Sizes {
  i64 sequences, H, T, C, N, D, DV;
};

// A tensor of up to five dims, outermost first.
template <class E>
struct Strided {
  E* data;
  i64 stride[5];
};

constexpr int kStageTokens = 32;  // tokens in shared memory at a time
constexpr int kMaxChunk = 128;    // largest C
constexpr int kColumnsEach = 4;   // columns of the tile that one thread owns
// Maximum rows that one thread owns: when it sums over tokens, as many as registers allow (64
// sums); when it only streams, few, because the addresses take registers, too.
constexpr int kSumRows = 16;
constexpr int kStreamRows = 4;

__host__ __device__ constexpr int smaller(int a, int b) {
  return a < b ? a : b;
}

// Rows of the tile that one thread owns.
__host__ __device__ constexpr int rows_each(int rdim, int block_v, int warps, int most) {
  const int row_groups = warps * 32 / (block_v / kColumnsEach);
  return rdim < row_groups ? 1 : smaller(most, rdim / row_groups);
}

// Rows of the tile of one CTA: all RDIM of them unless a thread would own too many.
__host__ __device__ constexpr int tile_rows(int rdim, int block_v, int warps, int most) {
  const int row_groups = warps * 32 / (block_v / kColumnsEach);
  return smaller(rdim, rows_each(rdim, block_v, warps, most) * row_groups);
}

// Dynamic shared memory of a kernel that sums over tokens, in floats: the weights of a chunk, and
// one stage of tokens of both factors.
__host__ __device__ constexpr int shared_floats(int rdim, int block_v, int warps) {
  return kMaxChunk + kStageTokens * (tile_rows(rdim, block_v, warps, kSumRows) + block_v);
}

// RDIM is D rounded up to a power of two; rows from D on are masked.
template <int RDIM, int BV, int WARPS, int MOST_ROWS>
struct Tile {
  static constexpr int threads = WARPS * 32;
  static constexpr int block_v = BV;
  static constexpr int column_groups = BV / kColumnsEach;
  static constexpr int rows = tile_rows(RDIM, BV, WARPS, MOST_ROWS);
  static constexpr int rows_mine = rows_each(RDIM, BV, WARPS, MOST_ROWS);
};

// N in this variant: a constant, a multiple of a constant, or the call's value.
__device__ inline i64 chunk_count(i64 n) {
#if defined(REDZONE_CHUNK_N)
  return REDZONE_CHUNK_N;
#elif defined(REDZONE_CHUNK_N_MULTIPLE)
  return n / REDZONE_CHUNK_N_MULTIPLE * REDZONE_CHUNK_N_MULTIPLE;
#else
  return n;
#endif
}

__device__ inline float load(const float* p) {
  return *p;
}
__device__ inline float load(const redzone::bf16* p) {
  return static_cast<float>(*p);
}
__device__ inline void store(float* p, float value) {
  *p = value;
}
__device__ inline void store(redzone::bf16* p, float value) {
  *p = redzone::bf16(value);
}

// ---- Gates -------------------------------------------------------------------------------------

// Computes the gates of one chunk with one whole warp. With G_s the sum of the log decays of tokens
// 0..s of the chunk, writes exp(G_s) (PREFIX: from the start of the chunk up to token s) or
// exp(G_last - G_s) (from the token after s to the end of the chunk) to weights[s], unless
// `weights` is null. Returns exp(G_last) in every lane.
template <bool PREFIX>
__device__ float chunk_gates(const float* g, i64 stride, int C, float* weights) {
  const unsigned all = 0xffffffffu;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int each = (C + 31) / 32;  // consecutive tokens of a lane
  const int first = lane * each;
  float sum = 0;
  for (int s = first; s < first + each && s < C; ++s) sum += g[s * stride];
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(all, sum, distance);
    if (lane >= distance) sum += before;
  }
  const float last = __shfl_sync(all, sum, 31);
  const float left = __shfl_up_sync(all, sum, 1);
  if (weights != nullptr) {
    float running = lane == 0 ? 0.0f : left;
    for (int s = first; s < first + each && s < C; ++s) {
      running += g[s * stride];
      weights[s] = expf(PREFIX ? running : last - running);
    }
  }
  return expf(last);
}

// One warp a chunk. weights [sequences, T] or null, totals [sequences, N]: contiguous scratch.
template <bool PREFIX>
__global__ void gates(Sizes z, Strided<const float> g, float* weights, float* totals) {
  const i64 chunk = static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (chunk >= z.sequences * z.N) return;
  const i64 q = chunk / z.N;
  const i64 t = chunk % z.N * z.C;
  const float* from = g.data + q / z.H * g.stride[0] + q % z.H * g.stride[1] + t * g.stride[2];
  float* to = weights == nullptr ? nullptr : weights + q * z.T + t;
  const float total = chunk_gates<PREFIX>(from, g.stride[2], static_cast<int>(z.C), to);
  if (threadIdx.x % 32 == 0) totals[chunk] = total;
}

// ---- Tiles of the state ------------------------------------------------------------------------

// Where a tile lies: sequence, and first row and column of the state.
struct Place {
  i64 b, h, q, row, column;
  int rows, columns;  // of the tile that are inside D x DV
};

template <class G>
__device__ i64 tiles_per_sequence(const Sizes& z) {
  return (z.D + G::rows - 1) / G::rows * ((z.DV + G::block_v - 1) / G::block_v);
}

// Tile `index` of sequence `q`; neighbours share the rows.
template <class G>
__device__ Place place_of(const Sizes& z, i64 q, i64 index) {
  const i64 across = (z.DV + G::block_v - 1) / G::block_v;
  Place p;
  p.q = q;
  p.b = q / z.H;
  p.h = q % z.H;
  p.row = index / across * G::rows;
  p.column = index % across * G::block_v;
  p.rows = static_cast<int>(z.D - p.row < G::rows ? z.D - p.row : G::rows);
  p.columns = static_cast<int>(z.DV - p.column < G::block_v ? z.DV - p.column : G::block_v);
  return p;
}

// Calls f(element, row, column) for the elements of the tile that this thread owns and that lie
// inside the state. A thread owns neighbouring rows and every column_groups-th column, so that a
// warp writes whole sectors.
template <class G, class F>
__device__ __forceinline__ void for_each_mine(const Place& p, F f) {
  const int row = static_cast<int>(threadIdx.x) / G::column_groups * G::rows_mine;
  const int column = static_cast<int>(threadIdx.x) % G::column_groups;
#pragma unroll
  for (int r = 0; r < G::rows_mine; ++r) {
#pragma unroll
    for (int c = 0; c < kColumnsEach; ++c) {
      const int at = column + c * G::column_groups;
      if (row + r < p.rows && at < p.columns) f(r * kColumnsEach + c, row + r, at);
    }
  }
}

// The state of a tile: this thread's part of it.
template <class G>
struct State {
  float sum[G::rows_mine * kColumnsEach];
};

template <class G, class E>
__device__ void load_state(State<G>& state, const Place& p, const E* from, i64 row_stride,
                           i64 column_stride) {
  for_each_mine<G>(p, [&](int e, int r, int c) {
    state.sum[e] = load(from + (p.row + r) * row_stride + (p.column + c) * column_stride);
  });
}

template <class G, class E>
__device__ void store_state(const State<G>& state, const Place& p, E* to, i64 row_stride,
                            i64 column_stride) {
  for_each_mine<G>(p, [&](int e, int r, int c) {
    store(to + (p.row + r) * row_stride + (p.column + c) * column_stride, state.sum[e]);
  });
}

// State [D, DV] of sequence q in a tensor [B, H, D, DV], and of its chunk i in [B, H, N, D, DV].
template <class E>
__device__ E* state_of(const Strided<E>& s, const Place& p) {
  return s.data + p.b * s.stride[0] + p.h * s.stride[1];
}
template <class E>
__device__ E* state_of(const Strided<E>& s, const Place& p, i64 i) {
  return s.data + p.b * s.stride[0] + p.h * s.stride[1] + i * s.stride[2];
}

// First token of chunk i in a tensor [B, H, T, width].
template <class E>
__device__ E* chunk_of(const Strided<E>& s, const Place& p, i64 i, i64 C) {
  return s.data + p.b * s.stride[0] + p.h * s.stride[1] + i * C * s.stride[2];
}

// ---- Sums over tokens --------------------------------------------------------------------------

// Loads WIDTH columns, starting at `column`, of `tokens` tokens into shared memory as floats;
// multiplies each token by its weight unless `weights` is null. Columns from `valid` on become
// zero.
template <int WIDTH, int THREADS, class E>
__device__ void load_stage(float* to, const E* from, i64 token_stride, i64 column_stride,
                           i64 column, int valid, int tokens, const float* weights) {
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < tokens * WIDTH; e += THREADS) {
    const int s = e / WIDTH;
    const int j = e % WIDTH;
    float value = 0;
    if (j < valid) {
      value = load(from + s * token_stride + (column + j) * column_stride);
      if (weights != nullptr) value *= weights[s];
    }
    to[e] = value;
  }
}

// state += x^T y over the tokens of one stage.
template <class G>
__device__ void multiply_stage(State<G>& state, const float* x, const float* y, int tokens) {
  const int row = static_cast<int>(threadIdx.x) / G::column_groups * G::rows_mine;
  const int column = static_cast<int>(threadIdx.x) % G::column_groups;
  if (row >= G::rows) return;
  // Rows of a thread start at a multiple of their number: lets the compiler load four at a time.
  constexpr int kAlign = smaller(16, 4 * G::rows_mine);
  const float* mine = static_cast<const float*>(__builtin_assume_aligned(x + row, kAlign));
#pragma unroll 2
  for (int s = 0; s < tokens; ++s) {
#pragma unroll
    for (int c = 0; c < kColumnsEach; ++c) {
      const float factor = y[s * G::block_v + column + c * G::column_groups];
#pragma unroll
      for (int r = 0; r < G::rows_mine; ++r)
        state.sum[r * kColumnsEach + c] += mine[s * G::rows + r] * factor;
    }
  }
}

// state += sum over the tokens s of chunk i of weights[s] * x_s^T y_s, in the order of the tokens.
// `weights` may lie in shared memory, written by any thread before the call.
template <class G, class E>
__device__ void add_chunk(State<G>& state, const Place& p, const Sizes& z, i64 i,
                          const Strided<const E>& x, const Strided<const E>& y,
                          const float* weights, float* stage) {
  float* x_stage = stage;
  float* y_stage = stage + kStageTokens * G::rows;
  const E* x_chunk = chunk_of(x, p, i, z.C);
  const E* y_chunk = chunk_of(y, p, i, z.C);
  const int tokens = static_cast<int>(z.C);
  for (int first = 0; first < tokens; first += kStageTokens) {
    const int n = smaller(kStageTokens, tokens - first);
    __syncthreads();  // the previous stage is consumed, and the weights are written
    load_stage<G::rows, G::threads>(x_stage, x_chunk + first * x.stride[2], x.stride[2],
                                    x.stride[3], p.row, p.rows, n, weights + first);
    load_stage<G::block_v, G::threads>(y_stage, y_chunk + first * y.stride[2], y.stride[2],
                                       y.stride[3], p.column, p.columns, n, nullptr);
    __syncthreads();
    multiply_stage<G>(state, x_stage, y_stage, n);
  }
}

template <class G>
__device__ void clear(State<G>& state) {
#pragma unroll
  for (int e = 0; e < G::rows_mine * kColumnsEach; ++e) state.sum[e] = 0;
}

// Carries a state through the chunks of a sequence, forwards or in reverse: at each chunk stores
// it, decays it by totals[i] and adds the chunk. Starts at `initial` (zero if null) and leaves the
// last state in `final_state`.
template <class G, bool REVERSE, class E>
__device__ void scan(const Sizes& z, const Strided<const E>& x, const Strided<const E>& y,
                     const float* weights, const float* totals, const Strided<const float>& initial,
                     const Strided<E>& states, const Strided<float>& final_state) {
  const i64 n = chunk_count(z.N);
  const i64 per_sequence = tiles_per_sequence<G>(z);
  float* stage = redzone::dynamic_shared<float>() + kMaxChunk;
  for (i64 t = blockIdx.x; t < z.sequences * per_sequence; t += gridDim.x) {
    const Place p = place_of<G>(z, t / per_sequence, t % per_sequence);
    State<G> state;
    clear(state);
    if (initial.data != nullptr)
      load_state(state, p, state_of(initial, p), initial.stride[2], initial.stride[3]);
    for (i64 step = 0; step < n; ++step) {
      const i64 i = REVERSE ? n - 1 - step : step;
      store_state(state, p, state_of(states, p, i), states.stride[3], states.stride[4]);
      const float decay = totals[p.q * n + i];
      for (float& sum : state.sum) sum *= decay;
      add_chunk(state, p, z, i, x, y, weights + p.q * z.T + i * z.C, stage);
    }
    store_state(state, p, state_of(final_state, p), final_state.stride[2], final_state.stride[3]);
  }
}

// ---- The four kernels --------------------------------------------------------------------------

template <class E, int RDIM, int BV, int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
    fwd_h(Sizes z, Strided<const E> k, Strided<const E> v, const float* weights,
          const float* totals, Strided<const float> h0, Strided<E> h, Strided<float> ht) {
  scan<Tile<RDIM, BV, WARPS, kSumRows>, false>(z, k, v, weights, totals, h0, h, ht);
}

template <class E, int RDIM, int BV, int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
    bwd_dh(Sizes z, Strided<const E> q, Strided<const E> d_o, const float* weights,
           const float* totals, Strided<E> dh, Strided<float> dh0) {
  const Strided<const float> zero = {};
  scan<Tile<RDIM, BV, WARPS, kSumRows>, true>(z, q, d_o, weights, totals, zero, dh, dh0);
}

// One tile of one chunk at a time; the gates are summed here, by the first warp.
template <class E, int RDIM, int BV, int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
    fwd_phase1(Sizes z, Strided<const E> k, Strided<const E> v, Strided<const float> g,
               Strided<E> s) {
  using G = Tile<RDIM, BV, WARPS, kSumRows>;
  const i64 n = chunk_count(z.N);
  const i64 per_sequence = tiles_per_sequence<G>(z);
  float* weights = redzone::dynamic_shared<float>();
  float* stage = weights + kMaxChunk;
  for (i64 t = blockIdx.x; t < z.sequences * n * per_sequence; t += gridDim.x) {
    const i64 chunk = t / per_sequence;
    const i64 i = chunk % n;
    const Place p = place_of<G>(z, chunk / n, t % per_sequence);
    if (threadIdx.x < 32) {
      const float* from = g.data + p.b * g.stride[0] + p.h * g.stride[1] + i * z.C * g.stride[2];
      chunk_gates<false>(from, g.stride[2], static_cast<int>(z.C), weights);
    }
    State<G> state;
    clear(state);
    add_chunk(state, p, z, i, k, v, weights, stage);
    store_state(state, p, state_of(s, p, i), s.stride[3], s.stride[4]);
  }
}

// dh[i] = local[i] + decay * dht, the decay growing by one chunk a step, from the last chunk back.
template <class E, int RDIM, int BV, int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
    bwd_dh_correction(Sizes z, Strided<const E> local, const float* totals,
                      Strided<const float> dht, Strided<E> dh) {
  using G = Tile<RDIM, BV, WARPS, kStreamRows>;
  const i64 n = chunk_count(z.N);
  const i64 per_sequence = tiles_per_sequence<G>(z);
  for (i64 t = blockIdx.x; t < z.sequences * per_sequence; t += gridDim.x) {
    const Place p = place_of<G>(z, t / per_sequence, t % per_sequence);
    State<G> carried;
    clear(carried);
    load_state(carried, p, state_of(dht, p), dht.stride[2], dht.stride[3]);
    float decay = 1;
    for (i64 step = 0; step < n; ++step) {
      const i64 i = n - 1 - step;
      State<G> state;
      clear(state);
      load_state(state, p, state_of(local, p, i), local.stride[3], local.stride[4]);
#pragma unroll
      for (int e = 0; e < G::rows_mine * kColumnsEach; ++e) state.sum[e] += decay * carried.sum[e];
      store_state(state, p, state_of(dh, p, i), dh.stride[3], dh.stride[4]);
      decay *= totals[p.q * n + i];
    }
  }
}

}  // namespace redzone_chunk

#endif
