#include "interpose/fake_driver.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interpose/fake_state.h"

// NOLINTBEGIN: the names and the types are the driver's
using namespace redzone::fake;

namespace {

CuAddress map_pages(std::size_t bytes, int protection) {
  // Aligned as the driver's addresses are.
  void* at = mmap(nullptr, bytes + kGranularity, protection,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return 0;
  return (reinterpret_cast<CuAddress>(at) + kGranularity - 1) / kGranularity * kGranularity;
}

int allocate_plain(CuAddress* out, std::size_t bytes) {
  State& s = state();
  if (bytes == 0 || out == nullptr) return kCuInvalidValue;
  if (s.used + bytes > s.limit) return kCuOutOfMemory;
  *out = map_pages(bytes, PROT_READ | PROT_WRITE);
  s.plain[*out] = bytes;
  s.used += bytes;
  return kCuSuccess;
}

int free_plain(CuAddress address) {
  State& s = state();
  const auto it = s.plain.find(address);
  if (it == s.plain.end()) return kCuInvalidValue;
  s.used -= it->second;
  munmap(host(address), it->second);
  s.plain.erase(it);
  return kCuSuccess;
}

}  // namespace

FAKE_EXPORT int cuInit(unsigned) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuDeviceGet(CuDevice* out, int) {
  FAKE_CALL();
  *out = 0;
  return 0;
}
FAKE_EXPORT int cuDeviceGetAttribute(int* out, int attribute, CuDevice) {
  FAKE_CALL();
  *out = attribute == kCuAttributeVirtualMemory && state().virtual_memory ? 1 : 0;
  return 0;
}
FAKE_EXPORT int cuDeviceTotalMem_v2(std::size_t* out, CuDevice) {
  FAKE_CALL();
  *out = state().limit;
  return 0;
}
FAKE_EXPORT int cuCtxCreate_v2(CuContext* out, unsigned, CuDevice) {
  FAKE_CALL();
  set_current(*out = kContext);
  return 0;
}
// It is gone, whatever it returns.
FAKE_EXPORT int cuCtxDestroy_v2(CuContext context) {
  const std::lock_guard lock(state().mutex);
  const int result = begin(__func__, true);
  end_context(context);
  set_current(nullptr);
  return result == kCaptureUnsupported ? 0 : result;
}
FAKE_EXPORT int cuCtxGetCurrent(CuContext* out) {
  *out = current();
  return 0;
}
FAKE_EXPORT int cuCtxSetCurrent(CuContext context) {
  set_current(context);
  return 0;
}
FAKE_EXPORT int cuCtxGetDevice(CuDevice* out) {
  *out = current() == kSecondContext ? 1 : 0;
  return current() == nullptr ? kCuInvalidContext : 0;
}
FAKE_EXPORT int cuCtxSynchronize() {
  FAKE_CALL(true);
  const CuContext context = current();
  wait_until(lock, __func__, [&] {
    run_all();
    const auto& all = state().all_streams;
    return std::all_of(all.begin(), all.end(), [&](const auto& stream) {
      return stream->context != context || stream->work.empty();
    });
  });
  return sticky_of(context);
}
FAKE_EXPORT int cuCtxSynchronize_v2(CuContext context) {
  const CuContext before = current();
  set_current(context);
  const int result = cuCtxSynchronize();
  set_current(before);
  return result;
}
FAKE_EXPORT int cuCtxEnablePeerAccess(CuContext, unsigned) {
  FAKE_CALL(true);
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxRetain(CuContext* out, CuDevice) {
  FAKE_CALL();
  ++state().primary;
  *out = kContext;
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxRelease_v2(CuDevice) {
  const std::lock_guard lock(state().mutex);
  if (state().primary == 0) return kCuInvalidContext;
  if (--state().primary == 0) end_context(kContext);
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxGetState(CuDevice, unsigned* flags, int* active) {
  const std::lock_guard lock(state().mutex);
  *flags = 0;
  *active = state().primary != 0 ? 1 : 0;
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxReset_v2(CuDevice) {
  const std::lock_guard lock(state().mutex);
  begin(__func__, true);
  end_context(kContext);
  return 0;
}

FAKE_EXPORT int cuMemAddressReserve(CuAddress* out, std::size_t bytes, std::size_t, CuAddress,
                                    unsigned long long) {
  FAKE_CALL(true);
  *out = map_pages(bytes, PROT_NONE);
  state().reserved[*out] = bytes;
  return 0;
}
FAKE_EXPORT int cuMemAddressFree(CuAddress address, std::size_t bytes) {
  FAKE_CALL(true);
  const auto it = state().reserved.find(address);
  if (it == state().reserved.end() || it->second != bytes) return kCuInvalidValue;
  state().reserved.erase(it);
  return 0;
}
FAKE_EXPORT int cuMemCreate(CuMemoryHandle* out, std::size_t bytes, const CuMemAllocationProp* p,
                            unsigned long long) {
  FAKE_CALL(true);
  State& s = state();
  if (bytes == 0 || bytes % kGranularity != 0 || p->type != kCuAllocationPinned ||
      p->location.type != kCuLocationDevice)
    return kCuInvalidValue;
  if (s.used + bytes > s.limit) return kCuOutOfMemory;
  s.used += bytes;
  s.created[*out = s.next_handle++] = bytes;
  s.files[*out] = memfd_create("fake device memory", MFD_CLOEXEC);
  if (ftruncate(s.files[*out], static_cast<off_t>(bytes)) != 0) return kCuOutOfMemory;
  return 0;
}
FAKE_EXPORT int cuMemRelease(CuMemoryHandle handle) {
  FAKE_CALL(true);
  const auto it = state().created.find(handle);
  if (it == state().created.end()) return kCuInvalidValue;
  state().used -= it->second;
  state().created.erase(it);
  close(state().files[handle]);  // what is mapped stays
  state().files.erase(handle);
  return 0;
}
FAKE_EXPORT int cuMemMap(CuAddress address, std::size_t bytes, std::size_t, CuMemoryHandle handle,
                         unsigned long long) {
  FAKE_CALL(true);
  if (state().created.count(handle) == 0 || state().created[handle] != bytes)
    return kCuInvalidValue;
  for (const auto& [at, size] : state().reserved)
    if (address >= at && address + bytes <= at + size) {
      state().mappings[address] = handle;
      return 0;
    }
  return kCuInvalidValue;
}
FAKE_EXPORT int cuMemUnmap(CuAddress address, std::size_t bytes) {
  FAKE_CALL(true);
  const auto it = state().mapped.find(address);
  if (it == state().mapped.end() || it->second != bytes) return kCuInvalidValue;
  mmap(host(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  state().mapped.erase(it);
  state().mappings.erase(address);
  return 0;
}
FAKE_EXPORT int cuMemSetAccess(CuAddress address, std::size_t bytes, const CuMemAccessDesc* access,
                               std::size_t count) {
  FAKE_CALL(true);
  for (std::size_t i = 0; i < count; ++i) {
    if (access[i].flags != kCuAccessReadWrite) return kCuInvalidValue;
    state().accessors[address].insert(access[i].location.id);
  }
  // Once for each device that may access it; the memory is the same for all addresses.
  const auto file = state().files.find(state().mappings[address]);
  if (file == state().files.end()) return kCuInvalidValue;
  mmap(host(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->second, 0);
  state().mapped[address] = bytes;
  return 0;
}
FAKE_EXPORT int cuMemGetAllocationGranularity(std::size_t* out, const CuMemAllocationProp*, int) {
  FAKE_CALL();
  *out = kGranularity;
  return 0;
}

FAKE_EXPORT int cuMemAlloc_v2(CuAddress* out, std::size_t bytes) {
  FAKE_CALL();
  return allocate_plain(out, bytes);
}
// Of a version to come, with parameters of its own.
FAKE_EXPORT int cuMemAlloc_v3(std::size_t bytes, CuAddress* out, const char* name) {
  FAKE_CALL();
  return name == nullptr ? kCuInvalidValue : allocate_plain(out, bytes);
}
FAKE_EXPORT int cuMemAllocPitch_v2(CuAddress* out, std::size_t* pitch, std::size_t width,
                                   std::size_t height, unsigned) {
  FAKE_CALL(true);
  *pitch = (width + 511) / 512 * 512;
  return allocate_plain(out, *pitch * height);
}
FAKE_EXPORT int cuMemFree_v2(CuAddress address) {
  FAKE_CALL();
  run_all();
  if (const int failed = sticky_of(current())) return failed;
  return free_plain(address);
}
FAKE_EXPORT int cuMemAllocAsync(CuAddress* out, std::size_t bytes, CuStream) {
  FAKE_CALL();
  return allocate_plain(out, bytes);
}
FAKE_EXPORT int cuMemAllocAsync_ptsz(CuAddress* out, std::size_t bytes, CuStream) {
  FAKE_CALL();
  return allocate_plain(out, bytes);
}
FAKE_EXPORT int cuMemAllocFromPoolAsync(CuAddress* out, std::size_t bytes, CuPool, CuStream) {
  FAKE_CALL();
  return allocate_plain(out, bytes);
}
FAKE_EXPORT int cuMemAllocFromPoolAsync_ptsz(CuAddress* out, std::size_t bytes, CuPool, CuStream) {
  FAKE_CALL();
  return allocate_plain(out, bytes);
}
FAKE_EXPORT int cuMemPoolCreate(CuPool* out, const void*) {
  FAKE_CALL(true);
  *out = reinterpret_cast<CuPool>(state().next_pool += 0x100);
  return 0;
}
FAKE_EXPORT int cuMemPoolDestroy(CuPool) {
  FAKE_CALL(true);
  return 0;
}
FAKE_EXPORT int cuMemPoolExportPointer(void*, CuAddress address) {
  FAKE_CALL();
  return state().plain.count(address) != 0 ? 0 : kCuInvalidValue;
}
FAKE_EXPORT int cuDeviceGetDefaultMemPool(CuPool* out, CuDevice device) {
  FAKE_CALL();
  *out = reinterpret_cast<CuPool>(reinterpret_cast<std::uintptr_t>(kDefaultPool) +
                                  static_cast<unsigned>(device));
  return 0;
}
FAKE_EXPORT int cuMemFreeAsync(CuAddress address, CuStream stream) {
  FAKE_CALL();
  if (state().plain.count(address) == 0) return kCuInvalidValue;
  return give(stream, [=] { return free_plain(address); });
}
FAKE_EXPORT int cuMemFreeAsync_ptsz(CuAddress address, CuStream stream) {
  return cuMemFreeAsync(address, stream == nullptr ? kThreadStream : stream);
}
FAKE_EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CALL();
  *total = state().limit;
  *free = state().limit - state().used;
  return 0;
}
FAKE_EXPORT int cuMemGetAddressRange_v2(CuAddress* base, std::size_t* bytes, CuAddress address) {
  FAKE_CALL();
  for (const auto& [at, size] : state().plain)
    if (address >= at && address < at + size) {
      *base = at;
      *bytes = size;
      return 0;
    }
  return kCuInvalidValue;
}
FAKE_EXPORT int cuPointerGetAttribute(void* out, int attribute, CuAddress address) {
  FAKE_CALL();
  if (!is_mapped(address, 1)) return kCuInvalidValue;
  if (attribute == 2) *static_cast<unsigned*>(out) = 2;  // memory of a device
  if (attribute == kCuPointerContext) *static_cast<CuContext*>(out) = nullptr;
  return 0;
}
FAKE_EXPORT int cuPointerGetAttributes(unsigned count, int* attributes, void** out,
                                       CuAddress address) {
  for (unsigned i = 0; i < count; ++i)
    if (const int failed = cuPointerGetAttribute(out[i], attributes[i], address)) return failed;
  return 0;
}
FAKE_EXPORT int cuIpcGetMemHandle(void*, CuAddress address) {
  FAKE_CALL();
  return state().plain.count(address) != 0 ? 0 : kCuInvalidValue;
}
FAKE_EXPORT int cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  FAKE_CALL(true);
  *out = state().pinned.emplace_back(std::make_unique<unsigned char[]>(bytes)).get();
  return 0;
}
FAKE_EXPORT int cuMemFreeHost(void* at) {
  FAKE_CALL(true);
  return std::erase_if(state().pinned, [&](const auto& one) { return one.get() == at; }) == 1
             ? 0
             : kCuInvalidValue;
}
FAKE_EXPORT int cuMemAllocManaged(CuAddress* out, std::size_t bytes, unsigned) {
  FAKE_CALL(true);
  return allocate_plain(out, bytes);
}

// Of these only the result matters.
FAKE_EXPORT int cuMemcpy(CuAddress, CuAddress, std::size_t) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpyAsync(CuAddress, CuAddress, std::size_t, CuStream) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpyPeer(CuAddress, CuContext, CuAddress, CuContext, std::size_t) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpy3DPeerAsync(const void*, CuStream) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpyAtoD_v2(CuAddress, void*, std::size_t, std::size_t) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpyBatchAsync_v2(CuAddress*, CuAddress*, std::size_t*, std::size_t count,
                                      void*, std::size_t*, std::size_t, CuStream) {
  FAKE_CALL();
  return count == 0 ? kCuInvalidValue : 0;
}
FAKE_EXPORT int cuStreamWriteValue64_v2(CuStream, CuAddress, std::uint64_t, unsigned) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpy2D_v2(const void*) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemcpy3D_v2(const void*) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemsetD32_v2(CuAddress, unsigned, std::size_t) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuMemsetD2D16_v2(CuAddress, std::size_t, unsigned short, std::size_t, std::size_t) {
  FAKE_CALL();
  return 0;
}

FAKE_EXPORT int cuGetExportTable(const void**, const void*) {
  FAKE_CALL();
  return kCuInvalidValue;
}

namespace {

// Other addresses for the same calls.
int private_allocate(CuAddress* out, std::size_t bytes) {
  return cuMemAlloc_v2(out, bytes);
}
int private_free(CuAddress address) {
  return cuMemFree_v2(address);
}

}  // namespace

FAKE_EXPORT int cuGetProcAddress_v2(const char* name, void** out, int version, std::uint64_t flags,
                                    int* status) {
  FAKE_CALL();
  const std::string base(name);
  // The second version of this one is that of CUDA 13.
  const bool first_only = base == "cuCtxSynchronize" && version < 13000;
  std::vector<std::string> tried;
  if (version >= 99000) tried.push_back(base + "_v3");
  if (base == "cuGetProcAddress") {
    if (version >= 12000) tried.emplace_back("cuGetProcAddress_v2");
  } else {
    if ((flags & kCuPerThreadStreams) != 0)
      for (const char* suffix : {"_v2_ptsz", "_v2_ptds", "_ptsz"}) tried.push_back(base + suffix);
    if (!first_only) tried.push_back(base + "_v2");
    tried.push_back(base);
  }
  *out = nullptr;
  static void* const self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  for (const auto& symbol : tried)
    if (*out == nullptr) *out = dlvsym(self, symbol.c_str(), "FAKE");
  if (state().private_entries && base == "cuMemAlloc")
    *out = reinterpret_cast<void*>(private_allocate);
  if (state().private_entries && base == "cuMemFree") *out = reinterpret_cast<void*>(private_free);
  if (status != nullptr) *status = *out == nullptr ? 1 : 0;
  return *out == nullptr ? kCuNotFound : 0;
}

// NOLINTEND
