// Copies, memsets and writes of the driver. Before each call, the memory that it accesses is
// compared with the blocks: a range that exceeds a block is reported, even if it would do no harm
// or hit another block.
#include <array>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_errors.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {
namespace {

// Device memory that a call accesses, from its first to its last byte.
struct Touched {
  CuAddress at = 0;
  std::size_t bytes = 0;  // 0: no device memory
  Access access = Access::unknown;
};

// a * b + c, or SIZE_MAX on overflow.
std::size_t bounded(std::size_t a, std::size_t b, std::size_t c) {
  std::size_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out)) return SIZE_MAX;
  return out;
}

// Size of `rows` rows of `width` bytes that begin `pitch` bytes apart.
std::size_t span_of(std::size_t width, std::size_t rows, std::size_t pitch) {
  return width == 0 || rows == 0 ? 0 : bounded(rows - 1, pitch, width);
}

bool is_address(int memory_type) {
  return memory_type == kCuMemoryDevice || memory_type == kCuMemoryUnified;
}

Touched side_of(const CuMemcpy2DSide& side, const CuMemcpy2D& copy, Access access) {
  if (!is_address(side.memory_type)) return {};
  return {side.device + bounded(side.y, side.pitch, side.x_bytes),
          span_of(copy.width_bytes, copy.height, side.pitch), access};
}

Touched side_of(const CuMemcpy3DSide& side, const CuMemcpy3D& copy, Access access) {
  if (!is_address(side.memory_type) || copy.depth == 0) return {};
  const std::size_t before = bounded(side.z, side.height, side.y);
  const std::size_t rows = bounded(copy.depth - 1, side.height, copy.height);
  return {side.device + bounded(before, side.pitch, side.x_bytes),
          copy.height == 0 ? 0 : span_of(copy.width_bytes, rows, side.pitch), access};
}

std::array<Touched, 2> touched_by_2d(const void* copy) {
  if (copy == nullptr) return {};
  const auto& what = *static_cast<const CuMemcpy2D*>(copy);
  return {side_of(what.from, what, Access::read), side_of(what.to, what, Access::write)};
}

// Also for a copy between devices, whose structure has the contexts in the place of `reserved`.
std::array<Touched, 2> touched_by_3d(const void* copy) {
  if (copy == nullptr) return {};
  const auto& what = *static_cast<const CuMemcpy3D*>(copy);
  return {side_of(what.from, what, Access::read), side_of(what.to, what, Access::write)};
}

void check(const char* name, std::span<const Touched> touched) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard_in_use();
  if (guard == nullptr) return;
  const InternalScope scope;
  for (const Touched& t : touched) guard->memory.check_range({t.at, t.bytes, t.access, name});
}

template <class... Arguments>
int touching(Call call, const char* name, const std::array<Touched, 2>& touched,
             Arguments... arguments) {
  check(name, touched);
  // A call without a stream may wait for the device.
  if constexpr (!(std::is_same_v<Arguments, CuStream> || ...)) release_holds();
  return checked(forward(call, arguments...), name);
}

template <class Value, class... Stream>
int set(Call call, const char* name, CuAddress to, Value value, std::size_t count,
        Stream... stream) {
  return touching(call, name, {{{to, bounded(count, sizeof(Value), 0), Access::write}}}, to, value,
                  count, stream...);
}

template <class Value, class... Stream>
int set_2d(Call call, const char* name, CuAddress to, std::size_t pitch, Value value,
           std::size_t width, std::size_t height, Stream... stream) {
  const std::size_t row = bounded(width, sizeof(Value), 0);
  return touching(call, name, {{{to, span_of(row, height, pitch), Access::write}}}, to, pitch,
                  value, width, height, stream...);
}

// Copies from[i] to to[i].
template <class... Arguments>
int batch(Call call, const CuAddress* to, const CuAddress* from, const std::size_t* bytes,
          std::size_t count, Arguments... arguments) {
  constexpr const char* name = "cuMemcpyBatchAsync";
  for (std::size_t i = 0; to != nullptr && from != nullptr && bytes != nullptr && i < count; ++i)
    check(name, std::array<Touched, 2>{
                    {{from[i], bytes[i], Access::read}, {to[i], bytes[i], Access::write}}});
  return touching(call, name, {}, to, from, bytes, count, arguments...);
}

}  // namespace

int cuMemcpyDtoH_v2(void* to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_to_host, "cuMemcpyDtoH", {{{from, bytes, Access::read}}}, to, from,
                  bytes);
}

int cuMemcpyDtoH_v2_ptds(void* to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_to_host_ptds, "cuMemcpyDtoH", {{{from, bytes, Access::read}}}, to,
                  from, bytes);
}

int cuMemcpyHtoD_v2(CuAddress to, const void* from, std::size_t bytes) {
  return touching(Call::copy_to_device, "cuMemcpyHtoD", {{{to, bytes, Access::write}}}, to, from,
                  bytes);
}

int cuMemcpyHtoD_v2_ptds(CuAddress to, const void* from, std::size_t bytes) {
  return touching(Call::copy_to_device_ptds, "cuMemcpyHtoD", {{{to, bytes, Access::write}}}, to,
                  from, bytes);
}

int cuMemcpy(CuAddress to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy, "cuMemcpy",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes);
}

int cuMemcpy_ptds(CuAddress to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_ptds, "cuMemcpy",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes);
}

int cuMemcpyAsync(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_async, "cuMemcpyAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes,
                  stream);
}

int cuMemcpyAsync_ptsz(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_async_ptsz, "cuMemcpyAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes,
                  stream);
}

int cuMemcpyDtoD_v2(CuAddress to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_on_device, "cuMemcpyDtoD",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes);
}

int cuMemcpyDtoD_v2_ptds(CuAddress to, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_on_device_ptds, "cuMemcpyDtoD",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes);
}

int cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_on_device_async, "cuMemcpyDtoDAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes,
                  stream);
}

int cuMemcpyDtoDAsync_v2_ptsz(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_on_device_async_ptsz, "cuMemcpyDtoDAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, from, bytes,
                  stream);
}

int cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_to_host_async, "cuMemcpyDtoHAsync", {{{from, bytes, Access::read}}},
                  to, from, bytes, stream);
}

int cuMemcpyDtoHAsync_v2_ptsz(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_to_host_async_ptsz, "cuMemcpyDtoHAsync",
                  {{{from, bytes, Access::read}}}, to, from, bytes, stream);
}

int cuMemcpyHtoDAsync_v2(CuAddress to, const void* from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_to_device_async, "cuMemcpyHtoDAsync", {{{to, bytes, Access::write}}},
                  to, from, bytes, stream);
}

int cuMemcpyHtoDAsync_v2_ptsz(CuAddress to, const void* from, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_to_device_async_ptsz, "cuMemcpyHtoDAsync",
                  {{{to, bytes, Access::write}}}, to, from, bytes, stream);
}

int cuMemcpy2D_v2(const void* copy) {
  return touching(Call::copy_2d, "cuMemcpy2D", touched_by_2d(copy), copy);
}

int cuMemcpy2D_v2_ptds(const void* copy) {
  return touching(Call::copy_2d_ptds, "cuMemcpy2D", touched_by_2d(copy), copy);
}

int cuMemcpy2DUnaligned_v2(const void* copy) {
  return touching(Call::copy_2d_unaligned, "cuMemcpy2DUnaligned", touched_by_2d(copy), copy);
}

int cuMemcpy2DUnaligned_v2_ptds(const void* copy) {
  return touching(Call::copy_2d_unaligned_ptds, "cuMemcpy2DUnaligned", touched_by_2d(copy), copy);
}

int cuMemcpy2DAsync_v2(const void* copy, CuStream stream) {
  return touching(Call::copy_2d_async, "cuMemcpy2DAsync", touched_by_2d(copy), copy, stream);
}

int cuMemcpy2DAsync_v2_ptsz(const void* copy, CuStream stream) {
  return touching(Call::copy_2d_async_ptsz, "cuMemcpy2DAsync", touched_by_2d(copy), copy, stream);
}

int cuMemcpy3D_v2(const void* copy) {
  return touching(Call::copy_3d, "cuMemcpy3D", touched_by_3d(copy), copy);
}

int cuMemcpy3D_v2_ptds(const void* copy) {
  return touching(Call::copy_3d_ptds, "cuMemcpy3D", touched_by_3d(copy), copy);
}

int cuMemcpy3DAsync_v2(const void* copy, CuStream stream) {
  return touching(Call::copy_3d_async, "cuMemcpy3DAsync", touched_by_3d(copy), copy, stream);
}

int cuMemcpy3DAsync_v2_ptsz(const void* copy, CuStream stream) {
  return touching(Call::copy_3d_async_ptsz, "cuMemcpy3DAsync", touched_by_3d(copy), copy, stream);
}

int cuMemcpyPeer(CuAddress to, CuContext to_context, CuAddress from, CuContext from_context,
                 std::size_t bytes) {
  return touching(Call::copy_peer, "cuMemcpyPeer",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, to_context, from,
                  from_context, bytes);
}

int cuMemcpyPeer_ptds(CuAddress to, CuContext to_context, CuAddress from, CuContext from_context,
                      std::size_t bytes) {
  return touching(Call::copy_peer_ptds, "cuMemcpyPeer",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, to_context, from,
                  from_context, bytes);
}

int cuMemcpyPeerAsync(CuAddress to, CuContext to_context, CuAddress from, CuContext from_context,
                      std::size_t bytes, CuStream stream) {
  return touching(Call::copy_peer_async, "cuMemcpyPeerAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, to_context, from,
                  from_context, bytes, stream);
}

int cuMemcpyPeerAsync_ptsz(CuAddress to, CuContext to_context, CuAddress from,
                           CuContext from_context, std::size_t bytes, CuStream stream) {
  return touching(Call::copy_peer_async_ptsz, "cuMemcpyPeerAsync",
                  {{{from, bytes, Access::read}, {to, bytes, Access::write}}}, to, to_context, from,
                  from_context, bytes, stream);
}

int cuMemcpy3DPeer(const void* copy) {
  return touching(Call::copy_3d_peer, "cuMemcpy3DPeer", touched_by_3d(copy), copy);
}

int cuMemcpy3DPeer_ptds(const void* copy) {
  return touching(Call::copy_3d_peer_ptds, "cuMemcpy3DPeer", touched_by_3d(copy), copy);
}

int cuMemcpy3DPeerAsync(const void* copy, CuStream stream) {
  return touching(Call::copy_3d_peer_async, "cuMemcpy3DPeerAsync", touched_by_3d(copy), copy,
                  stream);
}

int cuMemcpy3DPeerAsync_ptsz(const void* copy, CuStream stream) {
  return touching(Call::copy_3d_peer_async_ptsz, "cuMemcpy3DPeerAsync", touched_by_3d(copy), copy,
                  stream);
}

int cuMemcpyDtoA_v2(void* to, std::size_t offset, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_to_array, "cuMemcpyDtoA", {{{from, bytes, Access::read}}}, to, offset,
                  from, bytes);
}

int cuMemcpyDtoA_v2_ptds(void* to, std::size_t offset, CuAddress from, std::size_t bytes) {
  return touching(Call::copy_to_array_ptds, "cuMemcpyDtoA", {{{from, bytes, Access::read}}}, to,
                  offset, from, bytes);
}

int cuMemcpyAtoD_v2(CuAddress to, void* from, std::size_t offset, std::size_t bytes) {
  return touching(Call::copy_from_array, "cuMemcpyAtoD", {{{to, bytes, Access::write}}}, to, from,
                  offset, bytes);
}

int cuMemcpyAtoD_v2_ptds(CuAddress to, void* from, std::size_t offset, std::size_t bytes) {
  return touching(Call::copy_from_array_ptds, "cuMemcpyAtoD", {{{to, bytes, Access::write}}}, to,
                  from, offset, bytes);
}

int cuMemcpyBatchAsync(const CuAddress* to, const CuAddress* from, const std::size_t* bytes,
                       std::size_t count, void* attributes, std::size_t* indices,
                       std::size_t attribute_count, std::size_t* failed, CuStream stream) {
  return batch(Call::copy_batch_v1, to, from, bytes, count, attributes, indices, attribute_count,
               failed, stream);
}

int cuMemcpyBatchAsync_ptsz(const CuAddress* to, const CuAddress* from, const std::size_t* bytes,
                            std::size_t count, void* attributes, std::size_t* indices,
                            std::size_t attribute_count, std::size_t* failed, CuStream stream) {
  return batch(Call::copy_batch_v1_ptsz, to, from, bytes, count, attributes, indices,
               attribute_count, failed, stream);
}

int cuMemcpyBatchAsync_v2(const CuAddress* to, const CuAddress* from, const std::size_t* bytes,
                          std::size_t count, void* attributes, std::size_t* indices,
                          std::size_t attribute_count, CuStream stream) {
  return batch(Call::copy_batch, to, from, bytes, count, attributes, indices, attribute_count,
               stream);
}

int cuMemcpyBatchAsync_v2_ptsz(const CuAddress* to, const CuAddress* from, const std::size_t* bytes,
                               std::size_t count, void* attributes, std::size_t* indices,
                               std::size_t attribute_count, CuStream stream) {
  return batch(Call::copy_batch_ptsz, to, from, bytes, count, attributes, indices, attribute_count,
               stream);
}

int cuStreamWriteValue32(CuStream stream, CuAddress to, std::uint32_t value, unsigned flags) {
  return touching(Call::write_32_v1, "cuStreamWriteValue32", {{{to, sizeof value, Access::write}}},
                  stream, to, value, flags);
}

int cuStreamWriteValue32_ptsz(CuStream stream, CuAddress to, std::uint32_t value, unsigned flags) {
  return touching(Call::write_32_v1_ptsz, "cuStreamWriteValue32",
                  {{{to, sizeof value, Access::write}}}, stream, to, value, flags);
}

int cuStreamWriteValue32_v2(CuStream stream, CuAddress to, std::uint32_t value, unsigned flags) {
  return touching(Call::write_32, "cuStreamWriteValue32", {{{to, sizeof value, Access::write}}},
                  stream, to, value, flags);
}

int cuStreamWriteValue32_v2_ptsz(CuStream stream, CuAddress to, std::uint32_t value,
                                 unsigned flags) {
  return touching(Call::write_32_ptsz, "cuStreamWriteValue32",
                  {{{to, sizeof value, Access::write}}}, stream, to, value, flags);
}

int cuStreamWriteValue64(CuStream stream, CuAddress to, std::uint64_t value, unsigned flags) {
  return touching(Call::write_64_v1, "cuStreamWriteValue64", {{{to, sizeof value, Access::write}}},
                  stream, to, value, flags);
}

int cuStreamWriteValue64_ptsz(CuStream stream, CuAddress to, std::uint64_t value, unsigned flags) {
  return touching(Call::write_64_v1_ptsz, "cuStreamWriteValue64",
                  {{{to, sizeof value, Access::write}}}, stream, to, value, flags);
}

int cuStreamWriteValue64_v2(CuStream stream, CuAddress to, std::uint64_t value, unsigned flags) {
  return touching(Call::write_64, "cuStreamWriteValue64", {{{to, sizeof value, Access::write}}},
                  stream, to, value, flags);
}

int cuStreamWriteValue64_v2_ptsz(CuStream stream, CuAddress to, std::uint64_t value,
                                 unsigned flags) {
  return touching(Call::write_64_ptsz, "cuStreamWriteValue64",
                  {{{to, sizeof value, Access::write}}}, stream, to, value, flags);
}

int cuMemsetD8_v2(CuAddress to, unsigned char value, std::size_t count) {
  return set(Call::set_8, "cuMemsetD8", to, value, count);
}

int cuMemsetD8_v2_ptds(CuAddress to, unsigned char value, std::size_t count) {
  return set(Call::set_8_ptds, "cuMemsetD8", to, value, count);
}

int cuMemsetD8Async(CuAddress to, unsigned char value, std::size_t count, CuStream stream) {
  return set(Call::set_8_async, "cuMemsetD8Async", to, value, count, stream);
}

int cuMemsetD8Async_ptsz(CuAddress to, unsigned char value, std::size_t count, CuStream stream) {
  return set(Call::set_8_async_ptsz, "cuMemsetD8Async", to, value, count, stream);
}

int cuMemsetD16_v2(CuAddress to, unsigned short value, std::size_t count) {
  return set(Call::set_16, "cuMemsetD16", to, value, count);
}

int cuMemsetD16_v2_ptds(CuAddress to, unsigned short value, std::size_t count) {
  return set(Call::set_16_ptds, "cuMemsetD16", to, value, count);
}

int cuMemsetD16Async(CuAddress to, unsigned short value, std::size_t count, CuStream stream) {
  return set(Call::set_16_async, "cuMemsetD16Async", to, value, count, stream);
}

int cuMemsetD16Async_ptsz(CuAddress to, unsigned short value, std::size_t count, CuStream stream) {
  return set(Call::set_16_async_ptsz, "cuMemsetD16Async", to, value, count, stream);
}

int cuMemsetD32_v2(CuAddress to, unsigned value, std::size_t count) {
  return set(Call::set_32, "cuMemsetD32", to, value, count);
}

int cuMemsetD32_v2_ptds(CuAddress to, unsigned value, std::size_t count) {
  return set(Call::set_32_ptds, "cuMemsetD32", to, value, count);
}

int cuMemsetD32Async(CuAddress to, unsigned value, std::size_t count, CuStream stream) {
  return set(Call::set_32_async, "cuMemsetD32Async", to, value, count, stream);
}

int cuMemsetD32Async_ptsz(CuAddress to, unsigned value, std::size_t count, CuStream stream) {
  return set(Call::set_32_async_ptsz, "cuMemsetD32Async", to, value, count, stream);
}

int cuMemsetD2D8_v2(CuAddress to, std::size_t pitch, unsigned char value, std::size_t width,
                    std::size_t height) {
  return set_2d(Call::set_2d_8, "cuMemsetD2D8", to, pitch, value, width, height);
}

int cuMemsetD2D8_v2_ptds(CuAddress to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return set_2d(Call::set_2d_8_ptds, "cuMemsetD2D8", to, pitch, value, width, height);
}

int cuMemsetD2D8Async(CuAddress to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_8_async, "cuMemsetD2D8Async", to, pitch, value, width, height, stream);
}

int cuMemsetD2D8Async_ptsz(CuAddress to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_8_async_ptsz, "cuMemsetD2D8Async", to, pitch, value, width, height,
                stream);
}

int cuMemsetD2D16_v2(CuAddress to, std::size_t pitch, unsigned short value, std::size_t width,
                     std::size_t height) {
  return set_2d(Call::set_2d_16, "cuMemsetD2D16", to, pitch, value, width, height);
}

int cuMemsetD2D16_v2_ptds(CuAddress to, std::size_t pitch, unsigned short value, std::size_t width,
                          std::size_t height) {
  return set_2d(Call::set_2d_16_ptds, "cuMemsetD2D16", to, pitch, value, width, height);
}

int cuMemsetD2D16Async(CuAddress to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_16_async, "cuMemsetD2D16Async", to, pitch, value, width, height,
                stream);
}

int cuMemsetD2D16Async_ptsz(CuAddress to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_16_async_ptsz, "cuMemsetD2D16Async", to, pitch, value, width, height,
                stream);
}

int cuMemsetD2D32_v2(CuAddress to, std::size_t pitch, unsigned value, std::size_t width,
                     std::size_t height) {
  return set_2d(Call::set_2d_32, "cuMemsetD2D32", to, pitch, value, width, height);
}

int cuMemsetD2D32_v2_ptds(CuAddress to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return set_2d(Call::set_2d_32_ptds, "cuMemsetD2D32", to, pitch, value, width, height);
}

int cuMemsetD2D32Async(CuAddress to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_32_async, "cuMemsetD2D32Async", to, pitch, value, width, height,
                stream);
}

int cuMemsetD2D32Async_ptsz(CuAddress to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CuStream stream) {
  return set_2d(Call::set_2d_32_async_ptsz, "cuMemsetD2D32Async", to, pitch, value, width, height,
                stream);
}

}  // namespace redzone::interpose
