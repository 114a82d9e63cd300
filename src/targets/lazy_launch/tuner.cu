#include "tuner.h"

#include <array>
#include <stdexcept>

#include "lazy_kernels_text.h"
#ifndef __CUDACC__
#include "lazy_kernels.cuh"
#endif

namespace redzone::lazy {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

constexpr std::array<std::string_view, 4> kNames = {"auto", "16x16", "16x64", "32x16"};
constexpr std::array<TileConfig, 6> kConfigs = {
    {{16, 16, 1}, {16, 64, 1}, {32, 16, 1}, {16, 16, 2}, {16, 64, 2}, {32, 16, 2}}};
constexpr std::size_t kTiles = kNames.size() - 1;

#ifdef __CUDACC__
KernelRef host_instance(const TileConfig&) {
  return {};
}
#else
template <std::size_t I>
KernelRef instance() {
  constexpr TileConfig c = kConfigs[I];
  return kernel_ref(kKernel, &redzone_lazy::transpose_add<c.rows, c.columns, c.num_ctas>);
}

template <std::size_t... I>
KernelRef find_instance(const TileConfig& config, std::index_sequence<I...>) {
  KernelRef found;
  ((kConfigs[I] == config ? void(found = instance<I>()) : void()), ...);
  return found;
}

KernelRef host_instance(const TileConfig& c) {
  return find_instance(c, std::make_index_sequence<kConfigs.size()>{});
}
#endif

}  // namespace

Extent grid_of(const TileConfig& c, std::int64_t M, std::int64_t N) {
  return {ceil_div(N, c.columns), ceil_div(M, c.rows), 1};
}

LaunchShape launch_of(const TileConfig& c, const Extent& grid) {
  return {{grid.x * c.num_ctas, grid.y, grid.z}, {kThreads}, 0};
}

std::span<const std::string_view> tile_names() {
  return kNames;
}

std::span<const TileConfig> candidates(std::string_view tiles, std::int64_t num_ctas) {
  const std::size_t first = num_ctas == 1 ? 0 : kTiles;
  const std::span<const TileConfig> all = std::span(kConfigs).subspan(first, kTiles);
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == tiles) return i == 0 ? all : all.subspan(i - 1, 1);
  throw std::out_of_range("no tiles '" + std::string(tiles) + "'");
}

std::span<const TileConfig> all_configs() {
  return kConfigs;
}

std::int64_t covered_by(const TileConfig& c, std::int64_t M, std::int64_t N) {
  const Extent grid = grid_of(c, M, N);
  return grid.x * c.columns * grid.y * c.rows;
}

VariantRequest request_for(const TileConfig& c) {
  return {kKernel,
          lazy_kernels_text,
          "redzone_lazy::transpose_add<" + std::to_string(c.rows) + ", " +
              std::to_string(c.columns) + ", " + std::to_string(c.num_ctas) + ">",
          {},
          host_instance(c)};
}

}  // namespace redzone::lazy
