// Attention over ragged sequences: one CTA processes a tile of queries of one head and iterates
// over the keys of its sequence. Tiles of queries and keys are loaded through TMA or by plain
// loads.
//
//   o[i] = sum over the keys j that row i sees of softmax(q[i] k[j] / sqrt(D)) v[j]
//
// Row i of a sequence of m queries and n keys sees all keys, or, when causal, keys 0 .. i + n - m.
// A row that sees none is 0.
#pragma once

#include <redzone/bulk_copy.h>

#include "elements.h"

namespace redzone::ragged {

constexpr int kTile = 64;  // queries of a CTA, and keys of a step
constexpr int kThreads = 2 * kTile;
constexpr int kPanel = 64;  // columns of a box: 128 bytes, the span of the widest swizzle
constexpr int kPanelBytes = 128;

// [tokens, heads, width], the last dense. Strides in elements.
template <class E>
struct Rows {
  E* base;
  long long token, head;

  __device__ E* row(long long t, long long h) const { return base + t * token + h * head; }
};

template <class E>
struct Prefill {
  Rows<const E> q, k, v;
  Rows<E> o;
  const int* q_offsets;  // batch + 1, of the first token of each sequence
  const int* k_offsets;
  int batch, group;  // group: heads of q for one of k
  int width;         // D
  int causal;
  float scale;
};

// Shared memory of a CTA, in this order; each part is a multiple of 1024 bytes.
template <class E>
struct Shared {
  E *landing, *q, *kv;  // [kTile, width]; landing: as panels of kPanel columns, swizzled
  float* sums;          // [kTile, width]
  float* scores;        // [kTile, kTile]
  E* weights;           // [kTile, kTile]
  float *largest, *total, *factor;  // [kTile]

  static constexpr unsigned bytes(int width) {
    return 1024u + static_cast<unsigned>(3 * kTile * width * 2 + kTile * width * 4 +
                                         kTile * kTile * 6 + 3 * kTile * 4);
  }
  __device__ static Shared carve(int width) {
    auto* at = dynamic_shared<unsigned char>();
    at += (1024 - reinterpret_cast<unsigned long long>(at) % 1024) % 1024;
    Shared s;
    const int tile = kTile * width;
    s.landing = reinterpret_cast<E*>(at);
    s.q = s.landing + tile;
    s.kv = s.q + tile;
    s.sums = reinterpret_cast<float*>(s.kv + tile);
    s.scores = s.sums + tile;
    s.weights = reinterpret_cast<E*>(s.scores + kTile * kTile);
    s.largest = reinterpret_cast<float*>(s.weights + kTile * kTile);
    s.total = s.largest + kTile;
    s.factor = s.total + kTile;
    return s;
  }
};

// The work of a CTA: `rows` queries of sequence `b`, starting at token `first`.
struct Work {
  int b, first, row, rows, keys_begin, keys;  // row: of `first` in its sequence
  int queries;                                // of the sequence
};

// Finds the work of CTA number `tile`, counted in the order of the sequences. False if the
// sequences need fewer CTAs.
template <class E>
__device__ bool find_work(const Prefill<E>& p, int tile, Work& work) {
  for (int b = 0; b < p.batch; ++b) {
    const int begin = p.q_offsets[b], queries = p.q_offsets[b + 1] - begin;
    const int tiles = (queries + kTile - 1) / kTile;
    if (tile >= tiles) {
      tile -= tiles;
      continue;
    }
    const int row = tile * kTile, left = queries - row;
    work = {b,
            begin + row,
            row,
            left < kTile ? left : kTile,
            p.k_offsets[b],
            p.k_offsets[b + 1] - p.k_offsets[b],
            queries};
    return true;
  }
  return false;
}

// Loads tiles of kTile tokens into shared memory, dense. Rows from `rows` on hold finite values
// that must not be used.
template <class E, bool kTma>
struct Loader {
  Barrier* barrier;
  E* landing;
  int width;
  unsigned phase = 0;

  __device__ void load(const TensorMap& map, const Rows<const E>& from, int token, int head,
                       int rows, E* to) {
    if constexpr (kTma)
      load_boxes(map, token, head, rows, to);
    else
      load_rows(from, token, head, rows, to);
    __syncthreads();
  }

  __device__ void load_boxes(const TensorMap& map, int token, int head, int rows, E* to) {
    if (threadIdx.x == 0) {
      reuse_fence();
      barrier_expect(*barrier, static_cast<unsigned>(kTile * width * 2));
      for (int column = 0; column < width; column += kPanel)
        copy_tile(landing + kTile * column, map, *barrier, column, token, head);
    }
    barrier_wait(*barrier, phase);
    phase ^= 1u;
    const int units = width / 8;  // of 16 bytes, in a row
    const int end = rows_read(rows, kTile) * units;
    for (int i = static_cast<int>(threadIdx.x); i < end; i += kThreads) {
      const int row = i / units, column = i % units * 8;
      const E* panel = landing + kTile * (column / kPanel * kPanel);
      const auto offset = static_cast<unsigned>(row * kPanelBytes + column % kPanel * 2);
      memcpy(to + row * width + column,
             reinterpret_cast<const char*>(panel) + swizzled_offset(panel, offset, kPanelBytes),
             16);
    }
  }

  __device__ void load_rows(const Rows<const E>& from, int token, int head, int rows, E* to) {
    const int end = rows_read(rows, kTile) * width;
    for (int i = static_cast<int>(threadIdx.x); i < end; i += kThreads) {
      const int row = i / width;
      to[i] = row < rows ? from.row(token + row, head)[i % width] : E(0.0f);
    }
  }
};

// The keys that row `row` of the sequence sees.
template <class E>
__device__ int visible_keys(const Prefill<E>& p, const Work& w, int row) {
  if (p.causal == 0) return w.keys;
  const int visible = row + 1 + w.keys - w.queries;
  return visible < 0 ? 0 : visible < w.keys ? visible : w.keys;
}

// One step of the softmax of row `r`: weights of the keys from `key` on, the factor that rescales
// the sums so far, and the new total.
template <class E>
__device__ void weigh(const Prefill<E>& p, const Work& w, const Shared<E>& s, int r, int key) {
  const int visible = visible_keys(p, w, w.row + r) - key;
  const int count = visible < 0 ? 0 : visible < kTile ? visible : kTile;
  const float* scores = s.scores + r * kTile;
  float largest = s.largest[r];
  for (int j = 0; j < count; ++j) largest = fmaxf(largest, scores[j] * p.scale);
  const float factor = count == 0 ? 1.0f : expf(s.largest[r] - largest);
  float total = s.total[r] * factor;
  for (int j = 0; j < kTile; ++j) {
    const float weight = j < count ? expf(scores[j] * p.scale - largest) : 0.0f;
    s.weights[r * kTile + j] = E(weight);
    total += weight;
  }
  s.largest[r] = largest;
  s.total[r] = total;
  s.factor[r] = factor;
}

template <class E, bool kTma>
__global__ void prefill(const __grid_constant__ TensorMap q_map,
                        const __grid_constant__ TensorMap k_map,
                        const __grid_constant__ TensorMap v_map, Prefill<E> p) {
  __shared__ Barrier barrier;
  Work w;
  if (!find_work(p, static_cast<int>(blockIdx.x), w)) return;
  const int head = static_cast<int>(blockIdx.y), key_head = head / p.group;
  const int thread = static_cast<int>(threadIdx.x);
  const Shared<E> s = Shared<E>::carve(p.width);
  if (kTma && thread == 0) {
    barrier_init(barrier, 1);
    barrier_fence();
  }
  // Only the products of the remaining rows read those rows.
  for (int i = thread; i < w.rows * p.width; i += kThreads) s.sums[i] = 0;
  for (int r = thread; r < w.rows; r += kThreads) {
    s.largest[r] = -INFINITY;
    s.total[r] = 0;
  }
  __syncthreads();

  Loader<E, kTma> loader{&barrier, s.landing, p.width};
  loader.load(q_map, p.q, w.first, head, w.rows, s.q);
  const int end = visible_keys(p, w, w.row + w.rows - 1);
  for (int key = 0; key < end; key += kTile) {
    const int keys = end - key < kTile ? end - key : kTile;
    loader.load(k_map, p.k, w.keys_begin + key, key_head, keys, s.kv);
    multiply_transposed(s.scores, s.q, s.kv, kTile, p.width, {w.rows, keys, p.width});
    __syncthreads();
    for (int r = thread; r < w.rows; r += kThreads) weigh(p, w, s, r, key);
    __syncthreads();
    for (int i = thread; i < w.rows * p.width; i += kThreads) s.sums[i] *= s.factor[i / p.width];
    loader.load(v_map, p.v, w.keys_begin + key, key_head, keys, s.kv);
    add_product(s.sums, s.weights, s.kv, kTile, p.width, {w.rows, p.width, keys});
    __syncthreads();
  }
  for (int i = thread; i < w.rows * p.width; i += kThreads) {
    const int r = i / p.width;
    const float value = s.total[r] > 0 ? s.sums[i] / s.total[r] : 0.0f;
    p.o.row(w.first + r, head)[i % p.width] = E(value);
  }
}

// The same, naively: one thread for each row of `want` [tokens, heads, width], in float32.
template <class E>
__global__ void naive_prefill(Prefill<E> p, int heads, float* want) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int token = static_cast<int>(i / heads), head = static_cast<int>(i % heads);
  int b = 0;
  while (b < p.batch && token >= p.q_offsets[b + 1]) ++b;
  if (b == p.batch) return;
  const Work w = {b,
                  0,
                  0,
                  0,
                  p.k_offsets[b],
                  p.k_offsets[b + 1] - p.k_offsets[b],
                  p.q_offsets[b + 1] - p.q_offsets[b]};
  const int visible = visible_keys(p, w, token - p.q_offsets[b]);
  const E* q = p.q.row(token, head);
  float* to = want + i * p.width;
  for (int d = 0; d < p.width; ++d) to[d] = 0;
  float largest = -INFINITY, total = 0;
  for (int j = 0; j < visible; ++j) {
    const E* k = p.k.row(w.keys_begin + j, head / p.group);
    const E* v = p.v.row(w.keys_begin + j, head / p.group);
    float score = 0;
    for (int d = 0; d < p.width; ++d) score += static_cast<float>(q[d]) * static_cast<float>(k[d]);
    score *= p.scale;
    const float now = fmaxf(largest, score);
    const float factor = expf(largest - now), weight = expf(score - now);
    largest = now;
    total = total * factor + weight;
    for (int d = 0; d < p.width; ++d) to[d] = to[d] * factor + weight * static_cast<float>(v[d]);
  }
  for (int d = 0; d < p.width; ++d) to[d] = total > 0 ? to[d] / total : 0.0f;
}

// Traps where `p.o` is further from `want` than |want| * relative + absolute.
template <class E>
__global__ void compare(Prefill<E> p, int heads, long long rows, const float* want, float absolute,
                        float relative) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * p.width) return;
  const long long row = i / p.width;
  const float got = static_cast<float>(p.o.row(row / heads, row % heads)[i % p.width]);
  if (!(fabsf(got - want[i]) <= absolute + relative * fabsf(want[i]))) {
    printf("o[%lld, %lld, %lld] is %g, naively %g\n", row / heads, row % heads, i % p.width, got,
           want[i]);
    __trap();
  }
}

}  // namespace redzone::ragged
