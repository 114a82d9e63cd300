#include "interpose/fake_driver.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// NOLINTBEGIN: the names and the types are the driver's
using namespace redzone::interpose;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;
constexpr int kCaptureInvalidated = 901;
constexpr int kCaptureUnsupported = 900;

struct Stream {
  std::deque<std::function<int()>> work;
  std::uint64_t given = 0, done = 0;
  bool capturing = false;
};

struct Event {
  std::map<Stream*, std::uint64_t> after;  // passed once each has done so much
};

struct Failure {
  int code = 0, times = 0;
};

struct State {
  std::recursive_mutex mutex;
  std::map<CuAddress, std::size_t> reserved, plain, mapped;  // mapped: accessible
  std::map<CuAddress, std::set<CuDevice>> accessors;         // of what is mapped
  std::map<CuMemoryHandle, std::size_t> created;
  std::map<std::string, int> calls;
  std::map<std::string, Failure> failures;
  std::map<CuStream, Stream*> streams;
  // Kept until the process ends: a guard may hold handles of theirs across a reset.
  std::vector<std::unique_ptr<Stream>> all_streams;
  std::vector<std::unique_ptr<Event>> all_events;
  std::vector<std::unique_ptr<unsigned char[]>> pinned;
  std::size_t used = 0, limit = std::size_t{1} << 30;
  CuMemoryHandle next_handle = 1;
  int sticky = 0;
  bool invalidated = false, virtual_memory = true, eager = false, private_entries = false,
       primary = false;
};

State& state() {
  static auto* const all = new State;
  return *all;
}

// Not the addresses of anything: contexts are only compared. The second one is of device 1.
const CuContext kContext = reinterpret_cast<CuContext>(0x1000);
const CuContext kSecondContext = reinterpret_cast<CuContext>(0x2000);
thread_local CuContext current = nullptr;

// Counts the call; nonzero: planted, or an error of the context.
int begin(const char* name, bool invalidates_captures = false) {
  State& s = state();
  ++s.calls[name];
  if (auto it = s.failures.find(name); it != s.failures.end() && it->second.times > 0) {
    --it->second.times;
    return it->second.code;
  }
  if (invalidates_captures)
    for (const auto& [handle, stream] : s.streams)
      if (stream->capturing) {
        s.invalidated = true;
        return kCaptureUnsupported;
      }
  return s.sticky;
}

#define FAKE_CALL(...)                       \
  const std::lock_guard lock(state().mutex); \
  if (const int failed = begin(__func__ __VA_OPT__(, ) __VA_ARGS__)) return failed

Stream& stream_of(CuStream handle) {
  auto& at = state().streams[handle == nullptr ? kLegacyStream : handle];
  if (at == nullptr) at = state().all_streams.emplace_back(std::make_unique<Stream>()).get();
  return *at;
}

void run(Stream& stream, std::uint64_t until) {
  while (stream.done < until && !stream.work.empty()) {
    auto work = std::move(stream.work.front());
    stream.work.pop_front();
    // Work that waits for another stream runs that one's, which may fail.
    const int failed = state().sticky == 0 ? work() : 0;
    if (state().sticky == 0) state().sticky = failed;
    ++stream.done;
  }
}

void run_all() {
  for (const auto& [handle, stream] : state().streams) run(*stream, stream->given);
}

int give(CuStream handle, std::function<int()> work) {
  Stream& stream = stream_of(handle);
  if (stream.capturing) return kCuSuccess;  // a node of a graph that nobody launches
  stream.work.push_back(std::move(work));
  ++stream.given;
  return kCuSuccess;
}

bool is_mapped(CuAddress address, std::size_t bytes) {
  // The driver gives out parts of mapped granules, so a plain block ends at none of its own.
  for (const auto* map : {&state().mapped, &state().plain}) {
    auto it = map->upper_bound(address);
    if (it == map->begin()) continue;
    --it;
    const std::size_t whole = (it->second + kGranularity - 1) / kGranularity * kGranularity;
    if (address + bytes <= it->first + whole) return true;
  }
  return false;
}

unsigned char* host(CuAddress address) {
  return reinterpret_cast<unsigned char*>(address);
}

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

int begin_capture(CuStream stream) {
  stream_of(stream).capturing = true;
  state().invalidated = false;
  return kCuSuccess;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

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
  *out = current = kContext;
  return 0;
}
FAKE_EXPORT int cuCtxDestroy_v2(CuContext) {
  FAKE_CALL(true);
  current = nullptr;
  return 0;
}
FAKE_EXPORT int cuCtxGetCurrent(CuContext* out) {
  *out = current;
  return 0;
}
FAKE_EXPORT int cuCtxSetCurrent(CuContext context) {
  current = context;
  return 0;
}
FAKE_EXPORT int cuCtxGetDevice(CuDevice* out) {
  *out = current == kSecondContext ? 1 : 0;
  return current == nullptr ? kCuInvalidContext : 0;
}
FAKE_EXPORT int cuCtxSynchronize() {
  FAKE_CALL(true);
  run_all();
  return state().sticky;
}
FAKE_EXPORT int cuCtxEnablePeerAccess(CuContext, unsigned) {
  FAKE_CALL(true);
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxRetain(CuContext* out, CuDevice) {
  FAKE_CALL();
  state().primary = true;
  *out = kContext;
  return 0;
}
FAKE_EXPORT int cuDevicePrimaryCtxReset_v2(CuDevice) {
  FAKE_CALL(true);
  state().primary = false;
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
  return 0;
}
FAKE_EXPORT int cuMemRelease(CuMemoryHandle handle) {
  FAKE_CALL(true);
  const auto it = state().created.find(handle);
  if (it == state().created.end()) return kCuInvalidValue;
  state().used -= it->second;
  state().created.erase(it);
  return 0;
}
FAKE_EXPORT int cuMemMap(CuAddress address, std::size_t bytes, std::size_t, CuMemoryHandle handle,
                         unsigned long long) {
  FAKE_CALL(true);
  if (state().created.count(handle) == 0 || state().created[handle] != bytes)
    return kCuInvalidValue;
  for (const auto& [at, size] : state().reserved)
    if (address >= at && address + bytes <= at + size) return 0;
  return kCuInvalidValue;
}
FAKE_EXPORT int cuMemUnmap(CuAddress address, std::size_t bytes) {
  FAKE_CALL(true);
  const auto it = state().mapped.find(address);
  if (it == state().mapped.end() || it->second != bytes) return kCuInvalidValue;
  mmap(host(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  state().mapped.erase(it);
  return 0;
}
FAKE_EXPORT int cuMemSetAccess(CuAddress address, std::size_t bytes, const CuMemAccessDesc* access,
                               std::size_t count) {
  FAKE_CALL(true);
  for (std::size_t i = 0; i < count; ++i) {
    if (access[i].flags != kCuAccessReadWrite) return kCuInvalidValue;
    state().accessors[address].insert(access[i].location.id);
  }
  mprotect(host(address), bytes, PROT_READ | PROT_WRITE);
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
FAKE_EXPORT int cuMemAllocPitch_v2(CuAddress* out, std::size_t* pitch, std::size_t width,
                                   std::size_t height, unsigned) {
  FAKE_CALL(true);
  *pitch = (width + 511) / 512 * 512;
  return allocate_plain(out, *pitch * height);
}
FAKE_EXPORT int cuMemFree_v2(CuAddress address) {
  FAKE_CALL();
  run_all();
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
FAKE_EXPORT int cuMemFreeAsync(CuAddress address, CuStream stream) {
  FAKE_CALL();
  if (state().plain.count(address) == 0) return kCuInvalidValue;
  return give(stream, [=] { return free_plain(address); });
}
FAKE_EXPORT int cuMemFreeAsync_ptsz(CuAddress address, CuStream stream) {
  return cuMemFreeAsync(address, stream == nullptr ? kThreadStream : stream);
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
FAKE_EXPORT int cuMemAllocManaged(CuAddress* out, std::size_t bytes, unsigned) {
  FAKE_CALL(true);
  return allocate_plain(out, bytes);
}

FAKE_EXPORT int cuMemsetD8Async(CuAddress address, unsigned char value, std::size_t bytes,
                                CuStream stream) {
  // A capture of the legacy stream is not allowed, and work on it waits for captured streams.
  FAKE_CALL(stream == nullptr || stream == kLegacyStream);
  return give(stream, [=] {
    if (!is_mapped(address, bytes)) return int{kCuIllegalAddress};
    std::memset(host(address), value, bytes);
    return 0;
  });
}
FAKE_EXPORT int cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] {
    if (!is_mapped(from, bytes)) return int{kCuIllegalAddress};
    std::memcpy(to, host(from), bytes);
    return 0;
  });
}
FAKE_EXPORT int cuMemcpyDtoH_v2(void* to, CuAddress from, std::size_t bytes) {
  FAKE_CALL(true);
  run_all();
  if (state().sticky != 0) return state().sticky;
  if (!is_mapped(from, bytes)) return kCuInvalidValue;
  std::memcpy(to, host(from), bytes);
  return 0;
}
FAKE_EXPORT int cuMemcpyHtoD_v2(CuAddress to, const void* from, std::size_t bytes) {
  FAKE_CALL(true);
  run_all();
  if (state().sticky != 0) return state().sticky;
  if (!is_mapped(to, bytes)) return kCuInvalidValue;
  std::memcpy(host(to), from, bytes);
  return 0;
}

FAKE_EXPORT int cuStreamCreate(CuStream* out, unsigned) {
  FAKE_CALL();
  auto* const made = state().all_streams.emplace_back(std::make_unique<Stream>()).get();
  *out = reinterpret_cast<CuStream>(made);
  state().streams[*out] = made;
  return 0;
}
FAKE_EXPORT int cuStreamDestroy_v2(CuStream handle) {
  FAKE_CALL();
  // Its work is still done; the object stays for the events that were recorded in it.
  stream_of(handle).capturing = false;
  return 0;
}
FAKE_EXPORT int cuStreamSynchronize(CuStream handle) {
  FAKE_CALL(true);
  Stream& stream = stream_of(handle);
  run(stream, stream.given);
  return state().sticky;
}
FAKE_EXPORT int cuStreamQuery(CuStream handle) {
  FAKE_CALL(true);
  return stream_of(handle).work.empty() ? 0 : kCuNotReady;
}
FAKE_EXPORT int cuStreamWaitEvent(CuStream handle, CuEvent event, unsigned) {
  FAKE_CALL();
  const auto after = reinterpret_cast<Event*>(event)->after;
  return give(handle, [after] {
    for (const auto& [stream, count] : after) run(*stream, count);
    return 0;
  });
}
FAKE_EXPORT int cuStreamBeginCapture_v2(CuStream stream, int) {
  FAKE_CALL();
  return begin_capture(stream);
}
FAKE_EXPORT int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  FAKE_CALL();
  stream_of(stream).capturing = false;
  *graph = nullptr;
  return state().invalidated ? kCaptureInvalidated : 0;
}
FAKE_EXPORT int cuEventCreate(CuEvent* out, unsigned) {
  FAKE_CALL(true);
  *out =
      reinterpret_cast<CuEvent>(state().all_events.emplace_back(std::make_unique<Event>()).get());
  return 0;
}
FAKE_EXPORT int cuEventRecord(CuEvent event, CuStream handle) {
  FAKE_CALL();
  Stream& stream = stream_of(handle);
  reinterpret_cast<Event*>(event)->after = {{&stream, stream.given}};
  return 0;
}
FAKE_EXPORT int cuCtxRecordEvent(CuContext, CuEvent event) {
  FAKE_CALL(true);
  auto& after = reinterpret_cast<Event*>(event)->after;
  after.clear();
  for (const auto& [handle, stream] : state().streams) after[stream] = stream->given;
  return 0;
}
FAKE_EXPORT int cuEventQuery(CuEvent event) {
  FAKE_CALL(true);
  for (const auto& [stream, count] : reinterpret_cast<Event*>(event)->after) {
    if (state().eager) run(*stream, count);
    if (stream->done < count) return kCuNotReady;
  }
  return state().sticky;
}
FAKE_EXPORT int cuEventSynchronize(CuEvent event) {
  FAKE_CALL(true);
  for (const auto& [stream, count] : reinterpret_cast<Event*>(event)->after) run(*stream, count);
  return state().sticky;
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
  std::vector<std::string> tried;
  if (base == "cuGetProcAddress") {
    if (version >= 12000) tried = {"cuGetProcAddress_v2"};
  } else {
    if ((flags & kCuPerThreadStreams) != 0)
      tried = {base + "_v2_ptsz", base + "_v2_ptds", base + "_ptsz"};
    tried.insert(tried.end(), {base + "_v2", base});
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

FAKE_EXPORT int fakeLaunchWrite(unsigned long long address, std::size_t bytes, int value,
                                CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] {
    if (!is_mapped(address, bytes)) return int{kCuIllegalAddress};
    std::memset(host(address), value, bytes);
    return 0;
  });
}
FAKE_EXPORT int fakeLaunchRead(unsigned long long address, std::size_t bytes, CuStream stream) {
  FAKE_CALL();
  return give(stream, [=] { return is_mapped(address, bytes) ? 0 : int{kCuIllegalAddress}; });
}
FAKE_EXPORT void fakeFail(const char* function, int code, int times) {
  state().failures[function] = {code, times};
}
FAKE_EXPORT int fakeCalls(const char* function) {
  const std::lock_guard lock(state().mutex);
  return state().calls[function];
}
FAKE_EXPORT void fakeSetEager(bool is) {
  const std::lock_guard lock(state().mutex);
  state().eager = is;
}
FAKE_EXPORT void fakeLimitMemory(std::size_t bytes) {
  state().limit = bytes;
}
FAKE_EXPORT void fakeSetVirtualMemory(bool has) {
  state().virtual_memory = has;
}
FAKE_EXPORT void fakeSetPrivateEntries(bool has) {
  state().private_entries = has;
}
FAKE_EXPORT bool fakeIsMapped(unsigned long long address, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  return is_mapped(address, bytes);
}
FAKE_EXPORT bool fakeCanAccess(unsigned long long address, int device) {
  const auto& all = state().accessors;
  const auto after = all.upper_bound(address);
  return is_mapped(address, 1) && after != all.begin() &&
         std::prev(after)->second.count(device) != 0;
}
FAKE_EXPORT int fakePlainBlocks() {
  return static_cast<int>(state().plain.size());
}
FAKE_EXPORT void fakeReset() {
  State& s = state();
  s.reserved.clear(), s.plain.clear(), s.mapped.clear(), s.accessors.clear(), s.created.clear(),
      s.calls.clear(), s.failures.clear(), s.streams.clear();
  s.used = 0, s.limit = std::size_t{1} << 30, s.sticky = 0;
  s.invalidated = s.eager = s.private_entries = s.primary = false;
  s.virtual_memory = true;
}
// NOLINTEND
