// A program that allocates as PyTorch does through its pluggable allocator: by the functions of the
// preloaded library, with the types that PyTorch calls them with. Its first argument names a deed.
// Exits with 0 unless the functions answer other than PyTorch may expect, and with 9 without them.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "interpose/fake_driver.h"

using redzone::interpose::CuAddress;
using redzone::interpose::CuContext;
using redzone::interpose::CuGraph;
using redzone::interpose::CuStream;

namespace {

// Of the fake driver: those of devices 0 and 1.
const CuContext kPrimary = reinterpret_cast<CuContext>(0x1000);
const CuContext kOfOtherDevice = reinterpret_cast<CuContext>(0x2000);

using Pool = std::pair<unsigned long long, unsigned long long>;

void check(bool is, const char* what) {
  if (is) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(3);
}
#define CHECK(condition) check(condition, #condition)

template <class Function>
Function* find(void* library, const char* name) {
  void* const out = dlsym(library, name);
  check(out != nullptr, name);
  return reinterpret_cast<Function*>(out);
}

struct Allocator {
  std::function<void*(std::size_t, int, CuStream)> allocate =
      find<void*(std::size_t, int, CuStream)>(RTLD_DEFAULT, "redzone_guard_malloc");
  std::function<void(void*, std::size_t, int, CuStream)> free =
      find<void(void*, std::size_t, int, CuStream)>(RTLD_DEFAULT, "redzone_guard_free");
  std::function<void(void*, CuStream)> record_stream =
      find<void(void*, CuStream)>(RTLD_DEFAULT, "redzone_guard_record_stream");
  std::function<void(int, Pool, std::function<bool(CuStream)>)> begin_pool =
      find<void(int, Pool, std::function<bool(CuStream)>)>(RTLD_DEFAULT,
                                                           "redzone_guard_begin_pool");
  std::function<void(int, Pool)> end_pool =
      find<void(int, Pool)>(RTLD_DEFAULT, "redzone_guard_end_pool");
  std::function<void(int, Pool)> release_pool =
      find<void(int, Pool)>(RTLD_DEFAULT, "redzone_guard_release_pool");
};

CuAddress address(void* block) {
  return reinterpret_cast<CuAddress>(block);
}

// No context is current before: the allocator makes the device's own.
void use(const Allocator& a, void* library) {
  CHECK(a.allocate(0, 0, nullptr) == nullptr);
  void* const block = a.allocate(1000, 0, nullptr);
  CHECK(block != nullptr && address(block) % 256 == 0);
  CuContext primary = nullptr;
  CHECK(find<int(CuContext*, int)>(library, "cuDevicePrimaryCtxRetain")(&primary, 0) == 0);
  CHECK(find<int(CuContext)>(library, "cuCtxSetCurrent")(primary) == 0);
  CuStream side = nullptr;
  CHECK(find<int(CuStream*, unsigned)>(library, "cuStreamCreate")(&side, 1) == 0);
  a.record_stream(block, side);
  a.free(block, 1000, 0, nullptr);
  CHECK(find<int()>(library, "cuCtxSynchronize")() == 0);
}

// The slack of a tensor, which a thread frees for which `current` is the context.
void dirty(const Allocator& a, void* library, CuContext current) {
  void* const block = a.allocate(1000, 0, nullptr);
  CuContext primary = nullptr;
  CHECK(find<int(CuContext*, int)>(library, "cuDevicePrimaryCtxRetain")(&primary, 0) == 0);
  CHECK(find<int(CuContext)>(library, "cuCtxSetCurrent")(primary) == 0);
  find<decltype(fakeLaunchWrite)>(library, "fakeLaunchWrite")(address(block), 1004, 1, nullptr);
  if (current != primary) CHECK(find<int(CuContext)>(library, "cuCtxSetCurrent")(current) == 0);
  a.free(block, 1000, 0, nullptr);
}

void capture(const Allocator& a, void* library) {
  a.free(a.allocate(100, 0, nullptr), 100, 0, nullptr);
  CuContext primary = nullptr;
  CHECK(find<int(CuContext*, int)>(library, "cuDevicePrimaryCtxRetain")(&primary, 0) == 0);
  CHECK(find<int(CuContext)>(library, "cuCtxSetCurrent")(primary) == 0);
  CuStream stream = nullptr;
  CHECK(find<int(CuStream*, unsigned)>(library, "cuStreamCreate")(&stream, 1) == 0);
  const Pool pool{3, 5};
  int asked = 0;
  const std::function<bool(CuStream)> filter = [&](CuStream) { return ++asked > 0; };
  a.begin_pool(0, pool, filter);
  CHECK(find<int(CuStream, int)>(library, "cuStreamBeginCapture_v2")(stream, 0) == 0);
  void* const block = a.allocate(3000, 0, stream);
  CHECK(block != nullptr);
  a.free(block, 3000, 0, stream);
  CuGraph graph = nullptr;
  CHECK(find<int(CuStream, CuGraph*)>(library, "cuStreamEndCapture")(stream, &graph) == 0);
  a.end_pool(0, pool);
  const auto plain = find<decltype(fakePlainBlocks)>(library, "fakePlainBlocks");
  CHECK(plain() == 1);
  a.release_pool(0, pool);
  CHECK(plain() == 0);
}

// Two places in turn, whose stacks differ in one return address alone.
__attribute__((noinline)) void first(const Allocator& a, void** out) {
  *out = a.allocate(1000, 0, nullptr);
}
__attribute__((noinline)) void second(const Allocator& a, void** out) {
  *out = a.allocate(1000, 0, nullptr);
}
__attribute__((noinline)) void alternate(const Allocator& a, void* library) {
  CuContext primary = nullptr;
  CHECK(find<int(CuContext*, int)>(library, "cuDevicePrimaryCtxRetain")(&primary, 0) == 0);
  CHECK(find<int(CuContext)>(library, "cuCtxSetCurrent")(primary) == 0);
  const auto write = find<decltype(fakeLaunchWrite)>(library, "fakeLaunchWrite");
  for (int i = 0; i < 6; ++i) {
    void* block = nullptr;
    (i % 2 == 0 ? first : second)(a, &block);
    write(address(block), 1004, 1, nullptr);
    a.free(block, 1000, 0, nullptr);
  }
}

// PyTorch passes exceptions on, and takes a null pointer for memory.
void exhaust(const Allocator& a, void* library) {
  find<decltype(fakeLimitMemory)>(library, "fakeLimitMemory")(0);
  try {
    a.allocate(1000, 0, nullptr);
  } catch (const std::bad_alloc&) {
    return;
  }
  CHECK(false);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string deed = argc > 1 ? argv[1] : "";
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library != nullptr);
  if (dlsym(RTLD_DEFAULT, "redzone_guard_is_on") == nullptr) return 9;
  CHECK(find<int()>(RTLD_DEFAULT, "redzone_guard_is_on")() == 1);
  find<void(bool)>(library, "fakeSetEager")(true);
  const Allocator allocator;
  if (deed == "use") use(allocator, library);
  if (deed == "dirty") dirty(allocator, library, kPrimary);
  if (deed == "dirty_nowhere") dirty(allocator, library, nullptr);
  if (deed == "dirty_elsewhere") dirty(allocator, library, kOfOtherDevice);
  if (deed == "capture") capture(allocator, library);
  if (deed == "alternate") alternate(allocator, library);
  if (deed == "exhaust") exhaust(allocator, library);
  return 0;
}
