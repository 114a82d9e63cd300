#include "problem.h"

#include <algorithm>
#include <bit>

namespace redzone::chunk {
namespace {

constexpr std::int64_t kGatesWarps = 4;
constexpr std::int64_t kPersistentBlocks = 4 * 132;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

int rows_of(const VariantKey& key, int most) {
  return redzone_chunk::tile_rows(key.rdim, key.block_v, key.warps, most);
}

// Cost of a barrier or a loop iteration for one thread, in scalar operations.
constexpr double kThreadOverhead = 16;

}  // namespace

Problem Problem::of(const Dims& dims, const Config& config) {
  Problem p;
  p.batch = get(dims, "B");
  auto& z = p.sizes;
  z.H = get(dims, "H");
  z.sequences = p.batch * z.H;
  z.T = get(dims, "T");
  z.C = get(dims, "C");
  z.N = z.T / z.C;
  z.D = get(dims, "D");
  z.DV = get(dims, "DV");
  p.key.bf16 = get_str(config, "dtype") == "bf16";
  p.key.rdim = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(z.D)));
  p.key.block_v = static_cast<int>(get_int(config, "block_v"));
  p.key.warps = static_cast<int>(get_int(config, "num_warps"));
  p.specialize_n = get_int(config, "specialize_n") == 1;
  p.persistent = get_str(config, "grid") == "persistent";
  return p;
}

std::int64_t Problem::tiles(int most_rows) const {
  const std::int64_t down = ceil_div(sizes.D, rows_of(key, most_rows));
  return sizes.sequences * down * ceil_div(sizes.DV, key.block_v);
}

std::size_t Problem::weights_bytes() const {
  return static_cast<std::size_t>(sizes.sequences * sizes.T) * sizeof(float);
}

std::size_t Problem::totals_bytes() const {
  return static_cast<std::size_t>(chunks()) * sizeof(float);
}

LaunchShape Problem::gates_launch() const {
  return {{ceil_div(chunks(), kGatesWarps)}, {kGatesWarps * 32}, 0};
}

LaunchShape Problem::stream_launch(std::int64_t tiles) const {
  const std::int64_t blocks = persistent ? std::min(ceil_div(tiles, 2), kPersistentBlocks) : tiles;
  return {{blocks}, {key.warps * 32}, 0};
}

LaunchShape Problem::sum_launch(std::int64_t tiles) const {
  LaunchShape shape = stream_launch(tiles);
  const int floats = redzone_chunk::shared_floats(key.rdim, key.block_v, key.warps);
  shape.shared_bytes = static_cast<std::size_t>(floats) * sizeof(float);
  return shape;
}

double Problem::sum_work(double tiles, double tokens) const {
  const double rows = rows_of(key, redzone_chunk::kSumRows);
  const double per_token = rows * key.block_v + 4.0 * (rows + key.block_v);
  const double stages_each = static_cast<double>(ceil_div(sizes.C, redzone_chunk::kStageTokens));
  const double stages = tokens / static_cast<double>(sizes.C) * stages_each;
  const double per_stage = 2.0 * rows * key.block_v + kThreadOverhead * 32 * key.warps;
  return tiles * (tokens * per_token + stages * per_stage);
}

double Problem::stream_work(double tiles, double chunks) const {
  const double rows = rows_of(key, redzone_chunk::kStreamRows);
  const double per_chunk = 4.0 * rows * key.block_v + kThreadOverhead * 32 * key.warps;
  const double gates = 4.0 * static_cast<double>(sizes.sequences * sizes.T);
  return tiles * chunks * per_chunk + gates;
}

}  // namespace redzone::chunk
