// One call of the family, resolved: extents, the variant it needs, and the launches it makes. The
// launcher and the declared geometry both come from here, so that they cannot disagree.
#pragma once

#include <redzone/target.h>

#include <cstddef>
#include <cstdint>

#include "chunk_kernels.cuh"

namespace redzone::chunk {

// The template arguments of a tile kernel.
struct VariantKey {
  bool bf16 = false;
  int rdim = 1;  // D rounded up to a power of two
  int block_v = 32;
  int warps = 4;

  auto operator<=>(const VariantKey&) const = default;
};

struct Problem {
  std::int64_t batch = 1;  // B
  redzone_chunk::Sizes sizes = {};
  VariantKey key;
  bool specialize_n = false;
  bool persistent = false;

  static Problem of(const Dims& dims, const Config& config);

  std::int64_t chunks() const { return sizes.sequences * sizes.N; }
  // Number of tiles of the states of all sequences, for kernels that sum over tokens and for
  // kernels that only stream the states.
  std::int64_t sum_tiles() const { return tiles(redzone_chunk::kSumRows); }
  std::int64_t stream_tiles() const { return tiles(redzone_chunk::kStreamRows); }

  std::size_t weights_bytes() const;  // scratch: a float for each token
  std::size_t totals_bytes() const;   // scratch: a float for each chunk

  // One warp a chunk.
  LaunchShape gates_launch() const;
  // One CTA a tile (flat), or one for every two tiles and at most 528 (persistent): four for each
  // of the 132 SMs of an H100.
  LaunchShape stream_launch(std::int64_t tiles) const;
  // The same, with shared memory for the stages of tokens.
  LaunchShape sum_launch(std::int64_t tiles) const;

  // Scalar operations of `tiles` tiles on the host device, padding and idle threads included. Each
  // tile sums over `tokens` tokens, or streams the states of `chunks` chunks.
  double sum_work(double tiles, double tokens) const;
  double stream_work(double tiles, double chunks) const;

 private:
  std::int64_t tiles(int most_rows) const;
};

}  // namespace redzone::chunk
