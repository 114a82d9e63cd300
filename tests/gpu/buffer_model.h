// The definition of fills and checks, written out element by element and byte by byte.
//
// Works on a copy of a whole region: `bytes[i]` is the byte at `base + i`. Canary bytes depend on
// their address and therefore have the same values as on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/buffer_math.h"

namespace redzone::gpu_test {

struct Image {
  const std::byte* base = nullptr;
  std::vector<std::byte> bytes;
};

void model_fill(const device::BufferJob& job, Image& image);
device::BufferCheck model_check(const device::BufferJob& job, const Image& image);

// A memory layout to test.
struct Arrangement {
  std::string name;
  std::vector<std::int64_t> size, stride;  // outermost first, elements
  std::uint64_t misalign_elems = 0;        // of element 0, past a 256-byte boundary
  std::uint64_t gap_end_bytes = device::kWholeGaps;
};
const std::vector<Arrangement>& arrangements();

inline constexpr std::uint64_t kBeforeBytes = 333;
inline constexpr std::uint64_t kAfterBytes = 777;

// Bytes of the region that job_at() needs.
std::size_t region_bytes(const Arrangement& arrangement, DType dtype);
// A job at `base` with windows on both sides. The caller sets the fill and its values.
device::BufferJob job_at(std::byte* base, const Arrangement& arrangement, DType dtype);

}  // namespace redzone::gpu_test
