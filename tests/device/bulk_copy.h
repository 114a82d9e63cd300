// What tensor bulk copies must do on every device that supports them, as functions of `Device&`.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/device/bulk_copy_kernels.h"
#include "tests/device/on_device.h"
#include "tma/checker.h"

namespace redzone::device::testing {

// The source of a copy. Strides are multiples of 16 bytes, and the first tile may lie outside on
// any side.
struct TileCase {
  tma::Descriptor descriptor;
  TileAt tiles = {};

  std::uint32_t element_bytes() const { return tma::element_bits(descriptor.type) / 8; }
  std::uint32_t count(std::uint32_t d) const {
    const std::uint32_t step = d == 0 ? 1 : descriptor.element_strides[d];
    return (descriptor.box[d] + step - 1) / step;
  }
  std::uint32_t tile_bytes() const {
    std::uint32_t bytes = element_bytes();
    for (std::uint32_t d = 0; d < descriptor.rank; ++d) bytes *= count(d);
    return bytes;
  }
  // Size of the tensor in bytes, from its address on.
  std::size_t bytes() const {
    std::size_t last = descriptor.dims[0] * element_bytes();
    for (std::uint32_t d = 1; d < descriptor.rank; ++d)
      last += (descriptor.dims[d] - 1) * descriptor.strides[d - 1];
    return last;
  }
};

// The bytes of tile `tile`, from the bytes of the tensor; computed element by element,
// independently of the emulation.
inline std::vector<std::byte> tile_of(const TileCase& c, int tile,
                                      const std::vector<std::byte>& tensor) {
  const tma::Descriptor& d = c.descriptor;
  const std::uint32_t size = c.element_bytes(), span = tma::swizzle_span_bytes(d.swizzle);
  std::vector<std::byte> out(c.tile_bytes());
  for (std::uint32_t e = 0; e < out.size() / size; ++e) {
    std::uint32_t rest = e;
    std::size_t from = 0;
    bool inside = true;
    for (std::uint32_t k = 0; k < d.rank; ++k) {
      const std::int64_t at = c.tiles.at[tile][k] +
                              std::int64_t{rest % c.count(k)} * (k == 0 ? 1 : d.element_strides[k]);
      rest /= c.count(k);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(d.dims[k]);
      if (inside) from += static_cast<std::size_t>(at) * (k == 0 ? size : d.strides[k - 1]);
    }
    std::uint32_t to = e * size;
    if (span > 0) to ^= (to / 128 % (span / 16)) * 16;  // swaps the 16-byte units of a row
    if (inside) std::memcpy(&out[to], &tensor[from], size);
  }
  return out;
}

class TileRandom {
 public:
  explicit TileRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) { return mix(++state_) % n; }
  int in(int lo, int hi) {
    return lo + static_cast<int>(below(static_cast<std::uint64_t>(hi - lo) + 1));
  }

 private:
  std::uint64_t state_;
};

inline TileCase random_tile(TileRandom& random) {
  static constexpr tma::DataType kTypes[] = {tma::DataType::u8, tma::DataType::bf16,
                                             tma::DataType::i32, tma::DataType::i64};
  static constexpr tma::Swizzle kSwizzles[] = {tma::Swizzle::none, tma::Swizzle::b32,
                                               tma::Swizzle::b64, tma::Swizzle::b128};
  TileCase c;
  tma::Descriptor& d = c.descriptor;
  d.type = kTypes[random.below(4)];
  d.rank = static_cast<std::uint32_t>(random.in(1, 5));
  d.swizzle = kSwizzles[random.below(4)];
  const std::uint32_t size = c.element_bytes(), span = tma::swizzle_span_bytes(d.swizzle);
  d.dims[0] = static_cast<std::uint64_t>(random.in(1, 70));
  // A swizzled row is as wide as its pattern.
  d.box[0] = (span > 0 ? span : 16 * static_cast<std::uint32_t>(random.in(1, 4))) / size;
  std::uint64_t pitch = d.dims[0] * size;
  for (std::uint32_t k = 1; k < d.rank; ++k) {
    d.strides[k - 1] = pitch = (pitch + 15) / 16 * 16 + 16 * random.below(3);
    d.dims[k] = static_cast<std::uint64_t>(random.in(1, 5));
    d.box[k] = static_cast<std::uint32_t>(random.in(1, 4));
    d.element_strides[k] = random.below(3) == 0 ? static_cast<std::uint32_t>(random.in(2, 3)) : 1;
    pitch *= d.dims[k];
  }
  for (auto& at : c.tiles.at) {
    for (std::uint32_t k = 0; k < d.rank; ++k)
      at[k] = random.in(-static_cast<int>(d.box[k]), static_cast<int>(d.dims[k]));
    at[0] -= at[0] % static_cast<int>(16 / size);
  }
  return c;
}

inline void launch_tiles(Device& device, const KernelRef& kernel, const TileCase& c, TensorMap map,
                         std::byte* to) {
  TileAt tiles = c.tiles;
  unsigned bytes = c.tile_bytes();
  void* const pointers[] = {&map, &tiles, &bytes, &to};
  const std::size_t sizes[] = {sizeof map, sizeof tiles, sizeof bytes, sizeof to};
  const auto launched = device.launch(0, kernel, {{}, {32}, tile_shared_bytes(bytes)},
                                      {pointers, sizes, std::size(sizes)});
  EXPECT_TRUE(launched.has_value()) << launched.error().detail;
}

// Both tiles of a case as the device copied them; empty on an error.
inline std::vector<std::byte> copied_tiles(Device& device, const TileCase& c, TensorMap map) {
  const unsigned bytes = c.tile_bytes();
  Buffer<std::byte> to(device, 2 * static_cast<std::int64_t>(bytes));
  launch_tiles(device, copy_tiles_kernel(static_cast<int>(c.descriptor.rank)), c, map, to.data());
  const auto done = device.synchronize();
  EXPECT_TRUE(done.has_value()) << done.error().detail;
  return done ? read(device, to) : std::vector<std::byte>{};
}

// Tiles of every rank, inside, outside and across each edge; all widths, swizzles, element strides.
inline void tiles_are_as_described(Device& device) {
  TileRandom random(11);
  for (int i = 0; i < 300; ++i) {
    const auto begun = device.begin_trial({Launch::async, static_cast<std::uint64_t>(i % 3), 1});
    ASSERT_TRUE(begun.has_value());
    TileCase c = random_tile(random);
    // Ends at the guard page: an access out of bounds faults.
    Buffer<std::byte> tensor(device, static_cast<std::int64_t>((c.bytes() + 15) / 16 * 16));
    BufferJob job = tensor.job(DType::u8);
    job.fill = FillKind::integers;
    job.first = 1;
    job.last = 255;
    job.seed = static_cast<std::uint64_t>(i);
    ASSERT_TRUE(device.fill(0, {&job, 1}).has_value());
    ASSERT_TRUE(device.synchronize().has_value());
    c.descriptor.address = reinterpret_cast<std::uintptr_t>(tensor.data());
    TensorMap map;
    const auto code = device.encode(c.descriptor, map);
    ASSERT_TRUE(code.has_value()) << code.error().detail;
    ASSERT_EQ(*code, 0) << tma::text_of(c.descriptor);
    auto want = tile_of(c, 0, read(device, tensor));
    const auto second = tile_of(c, 1, read(device, tensor));
    want.insert(want.end(), second.begin(), second.end());
    ASSERT_EQ(copied_tiles(device, c, map), want) << tma::text_of(c.descriptor);
  }
}

// Elements out of bounds are NaN if the descriptor requests it.
inline void nan_fills_what_is_outside(Device& device) {
  ASSERT_TRUE(device.begin_trial({}).has_value());
  Buffer<float> tensor(device, 8);
  zero(device, tensor);
  TileCase c;
  c.descriptor.type = tma::DataType::f32;
  c.descriptor.fill = tma::Fill::nan;
  c.descriptor.address = reinterpret_cast<std::uintptr_t>(tensor.data());
  c.descriptor.dims[0] = 8;
  c.descriptor.box[0] = 8;
  c.tiles.at[0][0] = -4;
  c.tiles.at[1][0] = 4;
  TensorMap map;
  ASSERT_EQ(device.encode(c.descriptor, map), 0);
  const auto bytes = copied_tiles(device, c, map);
  ASSERT_EQ(bytes.size(), 2u * 32);
  float got[16];
  std::memcpy(got, bytes.data(), sizeof got);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i < 4 || i >= 8 + 4) << i;
}

// Coordinates that the hardware rejects: the second tile begins in the middle of a 16-byte unit.
inline TileCase between_units(std::uintptr_t address) {
  TileCase c;
  c.descriptor.type = tma::DataType::f32;
  c.descriptor.address = address;
  c.descriptor.dims[0] = c.descriptor.box[0] = 8;
  c.tiles.at[1][0] = 1;
  return c;
}

// A refused encode leaves the map unchanged and the device usable.
inline void refused_encodes_leave_the_map(Device& device) {
  ASSERT_TRUE(device.begin_trial({}).has_value());
  Buffer<float> tensor(device, 64);
  tma::Descriptor d;  // the strides, in bytes, of a sequence of length 1: (2, 256)
  d.rank = 3;
  d.address = reinterpret_cast<std::uintptr_t>(tensor.data());
  d.dims = {128, 1, 32, 1, 1};
  d.strides = {2, 256};
  d.box = {64, 128, 1, 1, 1};
  d.swizzle = tma::Swizzle::b128;
  TensorMap map;
  std::fill(std::begin(map.bytes), std::end(map.bytes), static_cast<unsigned char>(0xa5));
  EXPECT_EQ(device.encode(d, map), 1);
  EXPECT_TRUE(std::all_of(std::begin(map.bytes), std::end(map.bytes),
                          [](unsigned char byte) { return byte == 0xa5; }));
  d.strides = {256, 256};
  EXPECT_EQ(device.encode(d, map), 0);
  d.rank = 1000;
  EXPECT_EQ(device.encode(d, map), 1);
}

}  // namespace redzone::device::testing
