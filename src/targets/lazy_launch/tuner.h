// The configs of the kernel, their compiled variants, and how good each is for a shape.
#pragma once

#include <redzone/target.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redzone::lazy {

inline constexpr const char* kKernel = "transpose_add";
inline constexpr std::int64_t kThreads = 64;

// A program's tile of x, and how many CTAs share it.
struct TileConfig {
  int rows = 16;
  int columns = 16;
  int num_ctas = 1;

  auto operator<=>(const TileConfig&) const = default;
};

// The value in the metadata of the compiled kernel.
inline std::size_t scratch_bytes_per_cta(const TileConfig& c) {
  return static_cast<std::size_t>(c.rows / c.num_ctas) * static_cast<std::size_t>(c.columns) *
         sizeof(float);
}
inline constexpr std::size_t kScratchAlign = 128;

// Programs of a call on M x N.
Extent grid_of(const TileConfig& c, std::int64_t M, std::int64_t N);
// The same as launched: the CTAs of a program lie along x.
LaunchShape launch_of(const TileConfig& c, const Extent& grid);

// Values of the knob `tiles`; "auto" allows all of them.
std::span<const std::string_view> tile_names();
// The configs that a call may use, at least one.
std::span<const TileConfig> candidates(std::string_view tiles, std::int64_t num_ctas);

// All configs; candidates() returns a subset.
std::span<const TileConfig> all_configs();

// Elements that a call on M x N computes, padding outside of y included; the smallest number is
// best.
std::int64_t covered_by(const TileConfig& c, std::int64_t M, std::int64_t N);

// On CUDA compiled by NVRTC; on the host device the same source, compiled ahead of time.
VariantRequest request_for(const TileConfig& c);

}  // namespace redzone::lazy
