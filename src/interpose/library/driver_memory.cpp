// Allocations and frees of the driver, and queries about their addresses.
#include <algorithm>
#include <atomic>
#include <optional>

#include "interpose/backtrace.h"
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_errors.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {
namespace {

// The guard, after its self-test: a program is never judged by blocks that bypass the guard.
DriverGuard* proven_guard() {
  DriverGuard* const guard = driver_guard();
  if (guard != nullptr && !InternalScope::active()) prove_driver_guard(*guard);
  return guard;
}

int count_plain(int result, Counter reason) {
  if (result == kCuSuccess && !InternalScope::active()) recorder().count(reason);
  return result;
}

std::optional<CuAddress> guarded(std::size_t bytes, Order order) {
  DriverGuard* const guard = proven_guard();
  if (guard == nullptr) return std::nullopt;
  Frames from;
  take_backtrace(from);
  learn_python();
  take_python_stack(recorder(), from);
  const InternalScope scope;
  return guard->memory.allocate(bytes, order, from);
}

// Retries `plain` after releasing memory that the guard keeps for later blocks, so that this memory
// never makes an allocation of the driver itself fail.
template <class Plain>
int with_room(Plain plain, std::optional<CuDevice> device = std::nullopt) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard_in_use();
  return guard == nullptr ? plain() : guard->memory.with_room(plain, device);
}

// `plain` calls the driver.
template <class Plain>
int allocate(CuAddress* out, std::size_t bytes, Order order, Plain plain) {
  if (out != nullptr)
    if (const auto block = guarded(bytes, order)) {
      *out = *block;
      return kCuSuccess;
    }
  const int result = with_room(plain);
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard_in_use();
  if (guard == nullptr) return result;
  const InternalScope scope;
  guard->memory.check_result(result, order ? "cuMemAllocAsync" : "cuMemAlloc");
  // The context is marked as broken, but the driver still gives the program a block.
  if (result == kCuSuccess && guard->memory.is_broken())
    recorder().count(Counter::left_out_refused);
  return result;
}

// If the guard cannot replace the pool's memory, the driver allocates an unguarded block.
template <class Plain>
int allocate_from(CuPool pool, CuAddress* out, std::size_t bytes, CuStream stream, Plain plain) {
  DriverGuard* const guard = proven_guard();
  if (guard == nullptr || guard->memory.guards_pool(pool, stream))
    return allocate(out, bytes, stream, plain);
  return count_plain(with_room(plain), Counter::left_out_pool);
}

template <class Plain>
int free_block(CuAddress address, Order order, const char* call, Plain plain) {
  DriverGuard* const guard = driver_guard_in_use();
  if (guard == nullptr || address == 0) return plain();
  Frames from;
  take_backtrace(from);
  take_python_stack(recorder(), from);
  const InternalScope scope;
  const auto [freed, result] = guard->memory.free(address, order, call, from);
  return freed == DeviceMemory::Freed::foreign ? plain() : result;
}

std::optional<DeviceMemory::View> find(CuAddress address) {
  DriverGuard* const guard = driver_guard_in_use();
  return guard == nullptr ? std::nullopt : guard->memory.find(address);
}

// Answers the attributes for which the driver would describe the mapping instead of the block.
bool attribute_of(const DeviceMemory::View& block, int attribute, void* out) {
  if (out == nullptr) return false;
  switch (attribute) {
    case kCuPointerContext:
      *static_cast<CuContext*>(out) = block.context;
      return true;
    case kCuPointerRangeStart:
      *static_cast<CuAddress*>(out) = block.address;
      return true;
    case kCuPointerRangeSize:
      *static_cast<std::size_t*>(out) = block.bytes;
      return true;
    default:
      return false;
  }
}

// Alignment in bytes of the rows that the driver allocates in pitched memory.
constexpr std::size_t kPitchBytes = 512;

void context_gone(CuContext context, bool before) {
  DriverGuard* const guard = driver_guard_in_use();
  if (guard == nullptr) return;
  const InternalScope scope;
  guard->holds.release();
  if (before)
    guard->memory.settle();
  else
    guard->memory.context_gone(context);
}

// Wraps a call that destroys contexts with their modules: handles of kernels may then be reused for
// other kernels, even if the call returns an error of the context.
template <class Forward>
int forgetting_kernels(Forward forward_call) {
  const auto forget = [] {
    if (DriverGuard* const guard = driver_guard_in_use()) {
      const InternalScope scope;
      guard->launches.forget_kernels();
    }
  };
  forget();
  const int result = forward_call();
  forget();
  return result;
}

CuContext primary_context(CuDevice device) {
  DriverGuard* const guard = driver_guard_in_use();
  return guard == nullptr ? nullptr : guard->driver.primary_context(device);
}

}  // namespace

int cuMemAlloc_v2(CuAddress* out, std::size_t bytes) {
  return allocate(out, bytes, std::nullopt, [&] { return forward(Call::mem_alloc, out, bytes); });
}

int cuMemAllocPitch_v2(CuAddress* out, std::size_t* pitch, std::size_t width, std::size_t height,
                       unsigned element) {
  const auto plain = [&] {
    return with_room(
        [&] { return forward(Call::mem_alloc_pitch, out, pitch, width, height, element); });
  };
  const std::size_t row = (width + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  const bool valid = element == 4 || element == 8 || element == 16;
  if (pitch == nullptr || !valid || width == 0 || height == 0 || row < width ||
      row > SIZE_MAX / height)
    return plain();
  const int result = allocate(out, row * height, std::nullopt, [] { return int{kCuNotFound}; });
  if (result != kCuSuccess) return plain();
  *pitch = row;
  return result;
}

int cuMemFree_v2(CuAddress address) {
  release_holds();
  return free_block(address, std::nullopt, "cuMemFree",
                    [&] { return forward(Call::mem_free, address); });
}

int cuMemAllocAsync(CuAddress* out, std::size_t bytes, CuStream stream) {
  return allocate(out, bytes, legacy_stream(stream),
                  [&] { return forward(Call::mem_alloc_async, out, bytes, stream); });
}

int cuMemAllocAsync_ptsz(CuAddress* out, std::size_t bytes, CuStream stream) {
  return allocate(out, bytes, per_thread_stream(stream),
                  [&] { return forward(Call::mem_alloc_async_ptsz, out, bytes, stream); });
}

int cuMemAllocFromPoolAsync(CuAddress* out, std::size_t bytes, CuPool pool, CuStream stream) {
  return allocate_from(pool, out, bytes, legacy_stream(stream), [&] {
    return forward(Call::mem_alloc_from_pool_async, out, bytes, pool, stream);
  });
}

int cuMemAllocFromPoolAsync_ptsz(CuAddress* out, std::size_t bytes, CuPool pool, CuStream stream) {
  return allocate_from(pool, out, bytes, per_thread_stream(stream), [&] {
    return forward(Call::mem_alloc_from_pool_async_ptsz, out, bytes, pool, stream);
  });
}

int cuMemFreeAsync(CuAddress address, CuStream stream) {
  return free_block(address, legacy_stream(stream), "cuMemFreeAsync",
                    [&] { return forward(Call::mem_free_async, address, stream); });
}

int cuMemFreeAsync_ptsz(CuAddress address, CuStream stream) {
  return free_block(address, per_thread_stream(stream), "cuMemFreeAsync",
                    [&] { return forward(Call::mem_free_async_ptsz, address, stream); });
}

int cuMemPoolCreate(CuPool* out, const CuPoolProps* properties) {
  const int result = forward(Call::mem_pool_create, out, properties);
  if (result == kCuSuccess)
    if (DriverGuard* const guard = driver_guard()) {
      const InternalScope scope;
      guard->memory.pool_created(*out, *properties);
    }
  return result;
}

int cuMemPoolDestroy(CuPool pool) {
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->memory.pool_destroyed(pool);
  }
  return forward(Call::mem_pool_destroy, pool);
}

int cuMemGetAddressRange_v2(CuAddress* base, std::size_t* bytes, CuAddress address) {
  if (const auto block = find(address)) {
    if (base != nullptr) *base = block->address;
    if (bytes != nullptr) *bytes = block->bytes;
    return kCuSuccess;
  }
  return forward(Call::mem_get_address_range, base, bytes, address);
}

// Adds the memory that the guard keeps for later blocks: without the guard it would be free, and
// the guard releases it if the driver has no other memory. Programs choose sizes by this number.
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const int result = forward(Call::mem_get_info, free, total);
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard_in_use();
  if (result != kCuSuccess || guard == nullptr || free == nullptr || total == nullptr)
    return result;
  const InternalScope scope;
  *free = std::min(*free + guard->memory.kept_bytes(), *total);
  return result;
}

int cuPointerGetAttribute(void* out, int attribute, CuAddress address) {
  if (const auto block = find(address))
    if (attribute_of(*block, attribute, out)) return kCuSuccess;
  return forward(Call::pointer_get_attribute, out, attribute, address);
}

int cuPointerGetAttributes(unsigned count, int* attributes, void** out, CuAddress address) {
  const int result = forward(Call::pointer_get_attributes, count, attributes, out, address);
  if (result != kCuSuccess || attributes == nullptr || out == nullptr) return result;
  if (const auto block = find(address))
    for (unsigned i = 0; i < count; ++i) attribute_of(*block, attributes[i], out[i]);
  return result;
}

int cuIpcGetMemHandle(void* out, CuAddress address) {
  const int result = forward(Call::ipc_get_mem_handle, out, address);
  if (result != kCuSuccess && find(address)) recorder().count(Counter::ipc_refused);
  return result;
}

int cuMemPoolExportPointer(void* out, CuAddress address) {
  const int result = forward(Call::mem_pool_export_pointer, out, address);
  if (result != kCuSuccess && find(address)) recorder().count(Counter::ipc_refused);
  return result;
}

int cuMemAllocManaged(CuAddress* out, std::size_t bytes, unsigned flags) {
  return count_plain(with_room([&] { return forward(Call::mem_alloc_managed, out, bytes, flags); }),
                     Counter::left_out_managed);
}

int cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return count_plain(forward(Call::mem_alloc_host, out, bytes), Counter::left_out_pinned);
}

int cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return count_plain(forward(Call::mem_host_alloc, out, bytes, flags), Counter::left_out_pinned);
}

int cuMemCreate(CuMemoryHandle* out, std::size_t bytes, const CuMemAllocationProp* properties,
                unsigned long long flags) {
  std::optional<CuDevice> device;
  if (properties != nullptr && properties->location.type == kCuLocationDevice)
    device = properties->location.id;
  return count_plain(
      with_room([&] { return forward(Call::mem_create, out, bytes, properties, flags); }, device),
      Counter::left_out_mapped);
}

int cuCtxEnablePeerAccess(CuContext context, unsigned flags) {
  const int result = forward(Call::ctx_enable_peer_access, context, flags);
  if (result != kCuSuccess) return result;
  if (DriverGuard* const guard = driver_guard()) {
    const InternalScope scope;
    guard->memory.peer_enabled(context);
  }
  return result;
}

int cuCtxDestroy_v2(CuContext context) {
  context_gone(context, true);
  const int result = forgetting_kernels([&] { return forward(Call::ctx_destroy, context); });
  if (result == kCuSuccess) context_gone(context, false);
  return result;
}

int cuDevicePrimaryCtxReset_v2(CuDevice device) {
  const CuContext context = primary_context(device);
  if (context != nullptr) context_gone(context, true);
  const int result = forgetting_kernels([&] { return forward(Call::primary_reset, device); });
  if (result == kCuSuccess && context != nullptr) context_gone(context, false);
  return result;
}

int cuDevicePrimaryCtxRetain(CuContext* out, CuDevice device) {
  const int result = forward(Call::primary_retain, out, device);
  if (result == kCuSuccess)
    if (DriverGuard* const guard = driver_guard()) {
      const InternalScope scope;
      guard->memory.primary_retained(device);
    }
  return result;
}

int cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  // The last release destroys the context and with it the guard's memory there.
  const CuContext context = primary_context(device);
  DriverGuard* const guard = driver_guard_in_use();
  if (context != nullptr && guard->memory.primary_releases(device)) context_gone(context, true);
  const int result = forgetting_kernels([&] { return forward(Call::primary_release, device); });
  if (result == kCuSuccess && context != nullptr && primary_context(device) == nullptr)
    context_gone(context, false);
  return result;
}

}  // namespace redzone::interpose
