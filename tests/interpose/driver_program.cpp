// A program that uses the driver, in the way and for the deed that its arguments name. Exits with
// 0 unless the driver answers other than a program may expect.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/driver_program.h"
#include "interpose/fake_driver.h"

using redzone::interpose::CuAddress;
using redzone::interpose::CuContext;
using redzone::interpose::CuEvent;
using redzone::interpose::CuGraph;
using redzone::interpose::CuMemAllocationProp;
using redzone::interpose::CuMemoryHandle;
using redzone::interpose::CuPool;
using redzone::interpose::CuPoolProps;
using redzone::interpose::CuStream;

namespace {

// What the deeds below call, however the program came by it.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*create_context)(CuContext*, unsigned, int) = nullptr;
  int (*destroy_context)(CuContext) = nullptr;
  int (*synchronize)() = nullptr;
  int (*allocate)(CuAddress*, std::size_t) = nullptr;
  int (*allocate_async)(CuAddress*, std::size_t, CuStream) = nullptr;
  int (*allocate_pitch)(CuAddress*, std::size_t*, std::size_t, std::size_t, unsigned) = nullptr;
  int (*free)(CuAddress) = nullptr;
  int (*free_async)(CuAddress, CuStream) = nullptr;
  int (*range)(CuAddress*, std::size_t*, CuAddress) = nullptr;
  int (*attribute)(void*, int, CuAddress) = nullptr;
  int (*begin_capture)(CuStream, int) = nullptr;
  int (*end_capture)(CuStream, CuGraph*) = nullptr;
  int (*create_stream)(CuStream*, unsigned) = nullptr;
  int (*destroy_stream)(CuStream) = nullptr;
  decltype(&fakeLaunchWrite) launch_write = nullptr;
  decltype(&fakeLaunchRead) launch_read = nullptr;
  decltype(&fakePlainBlocks) plain_blocks = nullptr;
  decltype(&fakeSetPrivateEntries) set_private_entries = nullptr;
  decltype(&fakeSetVirtualMemory) set_virtual_memory = nullptr;
  decltype(&fakeSetEager) set_eager = nullptr;
};

// `find(symbol, name)`: by its symbol, or by the name that cuGetProcAddress knows.
template <class Find>
Driver fill(Find find) {
  Driver d;
  const auto take = [&](auto& out, const char* symbol, const char* name) {
    out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(find(symbol, name));
    check(out != nullptr, symbol);
  };
  take(d.init, "cuInit", "cuInit");
  take(d.create_context, "cuCtxCreate_v2", "cuCtxCreate");
  take(d.destroy_context, "cuCtxDestroy_v2", "cuCtxDestroy");
  take(d.synchronize, "cuCtxSynchronize", "cuCtxSynchronize");
  take(d.allocate, "cuMemAlloc_v2", "cuMemAlloc");
  take(d.allocate_async, "cuMemAllocAsync", "cuMemAllocAsync");
  take(d.allocate_pitch, "cuMemAllocPitch_v2", "cuMemAllocPitch");
  take(d.free, "cuMemFree_v2", "cuMemFree");
  take(d.free_async, "cuMemFreeAsync", "cuMemFreeAsync");
  take(d.range, "cuMemGetAddressRange_v2", "cuMemGetAddressRange");
  take(d.attribute, "cuPointerGetAttribute", "cuPointerGetAttribute");
  take(d.begin_capture, "cuStreamBeginCapture_v2", "cuStreamBeginCapture");
  take(d.end_capture, "cuStreamEndCapture", "cuStreamEndCapture");
  take(d.create_stream, "cuStreamCreate", "cuStreamCreate");
  take(d.destroy_stream, "cuStreamDestroy_v2", "cuStreamDestroy");
  return d;
}

using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);

Driver by_proc_address(void* library) {
  const auto first = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  CHECK(first != nullptr);
  void* own = nullptr;
  int status = 0;
  CHECK(first("cuGetProcAddress", &own, 12000, 0, &status) == 0);
  const auto request = reinterpret_cast<GetProcAddress>(own);
  return fill([&](const char*, const char* name) {
    void* out = nullptr;
    CHECK(request(name, &out, 12080, 1, &status) == 0);
    return out;
  });
}

Driver by_dlsym(void* library) {
  return fill([&](const char* symbol, const char*) { return dlsym(library, symbol); });
}

#ifdef LINKED
// NOLINTBEGIN: the driver's names
extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v2(CuContext*, unsigned, int);
int cuCtxDestroy_v2(CuContext);
int cuCtxSynchronize();
int cuMemAlloc_v2(CuAddress*, std::size_t);
int cuMemAllocAsync(CuAddress*, std::size_t, CuStream);
int cuMemAllocPitch_v2(CuAddress*, std::size_t*, std::size_t, std::size_t, unsigned);
int cuMemFree_v2(CuAddress);
int cuMemFreeAsync(CuAddress, CuStream);
int cuMemGetAddressRange_v2(CuAddress*, std::size_t*, CuAddress);
int cuPointerGetAttribute(void*, int, CuAddress);
int cuStreamBeginCapture_v2(CuStream, int);
int cuStreamEndCapture(CuStream, CuGraph*);
int cuStreamCreate(CuStream*, unsigned);
int cuStreamDestroy_v2(CuStream);
}
// NOLINTEND
Driver by_link() {
  Driver d;
  d.init = cuInit, d.create_context = cuCtxCreate_v2, d.destroy_context = cuCtxDestroy_v2;
  d.synchronize = cuCtxSynchronize, d.allocate = cuMemAlloc_v2, d.allocate_async = cuMemAllocAsync;
  d.allocate_pitch = cuMemAllocPitch_v2, d.free = cuMemFree_v2, d.free_async = cuMemFreeAsync;
  d.range = cuMemGetAddressRange_v2, d.attribute = cuPointerGetAttribute;
  d.begin_capture = cuStreamBeginCapture_v2, d.end_capture = cuStreamEndCapture;
  d.create_stream = cuStreamCreate, d.destroy_stream = cuStreamDestroy_v2;
  return d;
}
#else
Driver by_link() {
  return {};
}
#endif

Driver driver_by(const std::string& way, void* library) {
  Driver d = way == "link"    ? by_link()
             : way == "dlsym" ? by_dlsym(library)
                              : by_proc_address(library);
  const auto take = [&](auto& out, const char* name) {
    out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(dlsym(library, name));
  };
  take(d.launch_write, "fakeLaunchWrite");
  take(d.launch_read, "fakeLaunchRead");
  take(d.plain_blocks, "fakePlainBlocks");
  take(d.set_private_entries, "fakeSetPrivateEntries");
  take(d.set_virtual_memory, "fakeSetVirtualMemory");
  take(d.set_eager, "fakeSetEager");
  d.set_eager(true);
  return d;
}

// What a program may ask of its memory, whether it is guarded or not.
void use(const Driver& d) {
  CuAddress at = 0, base = 0, pitched = 0, ordered = 0;
  std::size_t bytes = 0, pitch = 0;
  CHECK(d.allocate(&at, 1000) == 0 && at % 256 == 0);
  CHECK(d.range(&base, &bytes, at + 500) == 0 && base == at && bytes == 1000);
  unsigned type = 0;
  CHECK(d.attribute(&type, 2, at) == 0 && type == 2);
  CHECK(d.allocate_pitch(&pitched, &pitch, 100, 4, 4) == 0 && pitch == 512);
  CHECK(d.allocate_async(&ordered, 64, nullptr) == 0);
  CHECK(d.launch_write(ordered, 64, 1, nullptr) == 0);
  CHECK(d.free_async(ordered, nullptr) == 0);
  CHECK(d.allocate(&base, 0) == 1 && d.allocate(nullptr, 1) != 0);
  CHECK(d.free(0x1234) == 1);
  CHECK(d.synchronize() == 0);
  CHECK(d.free(pitched) == 0 && d.free(at) == 0);
}

void ask_for_table(const Driver& d, void* library) {
  const auto ask =
      reinterpret_cast<int (*)(const void**, const void*)>(dlsym(library, "cuGetExportTable"));
  const void* table = nullptr;
  CHECK(ask != nullptr && ask(&table, "no such table") != 0);
  use(d);
}

void overrun(const Driver& d) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0);
  d.launch_write(at, 4100, 1, nullptr);
  std::_Exit(d.synchronize() == 700 ? 7 : 0);
}

// Nothing that follows would tell the program.
void overrun_at_the_end(const Driver& d) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0);
  d.launch_write(at, 4100, 1, nullptr);
}

// A kernel that comes after the free of what it reads.
void after_free(const Driver& d) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0);
  d.launch_write(at, 4096, 1, nullptr);
  CHECK(d.free(at) == 0);
  d.launch_read(at, 4, nullptr);
  std::_Exit(d.synchronize() == 700 ? 7 : 0);
}

// A kernel that comes after a free in the order of a stream, and after a wait for that.
void after_ordered_free(const Driver& d) {
  CuAddress at = 0;
  CHECK(d.allocate_async(&at, 4096, nullptr) == 0);
  CHECK(d.free_async(at, nullptr) == 0 && d.synchronize() == 0);
  d.launch_read(at, 4, nullptr);
  std::_Exit(d.synchronize() == 700 ? 7 : 0);
}

// Into the slack of a block that is never freed. A function of its own in every backtrace.
__attribute__((noinline)) void dirty(const Driver& d) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 1000) == 0);
  d.launch_write(at, 1004, 1, nullptr);
  CHECK(d.synchronize() == 0);
}

void capture(const Driver& d) {
  CuStream stream = nullptr;
  CuGraph graph = nullptr;
  CuAddress before = 0, ordered = 0;
  CHECK(d.create_stream(&stream, 1) == 0);
  CHECK(d.allocate(&before, 100) == 0);
  CHECK(d.begin_capture(stream, 0) == 0);
  CHECK(d.begin_capture(stream, 0) != 0);
  CHECK(d.allocate_async(&ordered, 100, stream) == 0);
  CHECK(d.free(before) == 0);
  CHECK(d.end_capture(stream, &graph) == 0);
}

// A stream is destroyed while it captures; what comes after is guarded as before.
void abandon_capture(const Driver& d) {
  CuStream stream = nullptr;
  CuAddress before = 0, after = 0;
  CHECK(d.create_stream(&stream, 1) == 0);
  CHECK(d.allocate(&before, 100) == 0);
  CHECK(d.begin_capture(stream, 0) == 0);
  CHECK(d.free(before) == 0);
  CHECK(d.destroy_stream(stream) == 0);
  CHECK(d.allocate(&after, 100000) == 0);
}

// The program learns of an error by a call that the guard does not see; `next` is its next call.
template <class Next>
void overrun_seen_elsewhere(const Driver& d, void* library, Next next) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0);
  d.launch_write(at, 4100, 1, nullptr);
  const auto unseen = reinterpret_cast<int (*)()>(dlvsym(library, "cuCtxSynchronize", "FAKE"));
  CHECK(unseen != nullptr);
  unseen();
  std::_Exit(next(at) == 700 ? 7 : 0);
}

using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   CuStream, void**, void**);

int call(const std::string& name, void* library, CuAddress at) {
  char byte = 0;
  if (name == "cuLaunchKernel")
    return lookup<Launch>(library, "cuLaunchKernel")(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                                                     nullptr);
  if (name == "cuMemcpyDtoHAsync")
    return lookup<int(void*, CuAddress, std::size_t, CuStream)>(library, "cuMemcpyDtoHAsync_v2")(
        &byte, at, 1, nullptr);
  if (name == "cuMemcpy2D") return lookup<int(const void*)>(library, "cuMemcpy2D_v2")(nullptr);
  CuContext context = nullptr;
  lookup<int(CuContext*)>(library, "cuCtxGetCurrent")(&context);
  return lookup<int(CuContext)>(library, "cuCtxSynchronize_v2")(context);
}

// Launches the named kernel over a block of 1,000 bytes: `bytes` of it, `times`, and the last one
// with `last` bytes. By cuLaunchKernelEx if `extended`.
int launch(const Driver& d, void* library, bool extended, std::size_t bytes, int times,
           std::size_t last) {
  void* kernel = nullptr;
  CHECK(lookup<int(void**, void*, const char*)>(library, "cuModuleGetFunction")(
            &kernel, nullptr, "_Z9fakeWritePhmi") == 0);
  CuAddress at = 0;
  CHECK(d.allocate(&at, 1000) == 0);
  for (int i = 0; i < times; ++i) {
    std::size_t count = i + 1 == times ? last : bytes;
    int value = 1;
    void* arguments[] = {&at, &count, &value};
    const redzone::interpose::CuLaunchConfig config{{4, 1, 1}, {32, 1, 1}, 0, nullptr};
    const int result = extended
                           ? lookup<int(const void*, void*, void**, void**)>(
                                 library, "cuLaunchKernelEx")(&config, kernel, arguments, nullptr)
                           : lookup<Launch>(library, "cuLaunchKernel")(kernel, 4, 1, 1, 32, 1, 1, 0,
                                                                       nullptr, arguments, nullptr);
    if (result != 0) return result;
  }
  return d.synchronize();
}

// The kernel that writes, as a program comes by it that asks for no name, or for a CUkernel.
void* kernel_by(const std::string& way, void* library) {
  void* both[2] = {};
  const auto enumerated = [&](const char* name) {
    CHECK(lookup<int(void**, unsigned, void*)>(library, name)(both, 2, nullptr) == 0);
    return both[0];
  };
  if (way == "kernels") return enumerated("cuLibraryEnumerateKernels");
  void* out = nullptr;
  if (way == "kernel_function") {
    CHECK(lookup<int(void**, void*, const char*)>(library, "cuLibraryGetKernel")(
              &both[0], nullptr, "_Z9fakeWritePhmi") == 0);
    CHECK(lookup<int(void**, void*)>(library, "cuKernelGetFunction")(&out, both[0]) == 0);
    return out;
  }
  out = enumerated("cuModuleEnumerateFunctions");
  if (way == "loaded") CHECK(lookup<int(void*)>(library, "cuFuncLoad")(out) == 0);
  return out;
}

// Launches it twice, the second time after an event for which the program waits.
void launch_and_wait(const Driver& d, void* library, const std::string& way, bool names) {
  lookup<void(bool)>(library, "fakeSetKernelNames")(names);
  void* const kernel = kernel_by(way, library);
  CuAddress at = 0;
  CuEvent event = nullptr;
  CHECK(d.allocate(&at, 1000) == 0);
  CHECK(lookup<int(CuEvent*, unsigned)>(library, "cuEventCreate")(&event, 0) == 0);
  std::size_t bytes = 8;
  int value = 1;
  void* arguments[] = {&at, &bytes, &value};
  for (const bool first : {true, false}) {
    CHECK(lookup<Launch>(library, "cuLaunchKernel")(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                                                    nullptr) == 0);
    if (first) CHECK(lookup<int(CuEvent, CuStream)>(library, "cuEventRecord")(event, nullptr) == 0);
  }
  CHECK(lookup<int(CuEvent)>(library, "cuEventSynchronize")(event) == 0);
  raise(SIGKILL);  // its launches are in the report
}

// The handle of a kernel comes back for one of a single parameter, behind which nothing can be
// read.
void launch_reused(const Driver& d, void* library, CuContext context) {
  const auto launch_kernel = lookup<Launch>(library, "cuLaunchKernel");
  void* kernel = nullptr;
  CHECK(lookup<int(void**, void*, const char*)>(library, "cuModuleGetFunction")(
            &kernel, nullptr, "_Z9fakeWritePhmi") == 0);
  CuAddress at = 0;
  CHECK(d.allocate(&at, 1000) == 0);
  std::size_t bytes = 8;
  int value = 1;
  void* arguments[] = {&at, &bytes, &value};
  CHECK(launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == 0);
  constexpr int refused = 1;
  lookup<void(const char*, int, int)>(library, "fakeFail")("cuCtxDestroy_v2", refused, 1);
  CHECK(d.destroy_context(context) == refused && d.create_context(&context, 0, 0) == 0);
  lookup<void(void*, const char*)>(library, "fakeReuseKernel")(kernel, "_Z5otherPv");
  constexpr std::size_t page = 4096;
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && mprotect(static_cast<char*>(pages) + page, page, PROT_NONE) == 0);
  auto** const one = reinterpret_cast<void**>(static_cast<char*>(pages) + page) - 1;
  *one = &at;
  CHECK(launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, one, nullptr) == 0);
  raise(SIGKILL);  // its launches are in the report
}

// Many mistakes of one place, and another one after them.
void repeat_a_mistake(const Driver& d, void* library) {
  constexpr int times = 100, invalid_value = 1;
  for (int i = 0; i < times; ++i) {
    CuAddress at = 0;
    CHECK(d.allocate(&at, 1000) == 0 && d.free(at) == 0 && d.free(at) == invalid_value);
  }
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0 && touch("cuMemcpy", library, at, 5000) == 0);
}

void touch_block(const Driver& d, void* library, const std::string& name, std::size_t beyond) {
  CuAddress at = 0;
  CHECK(d.allocate(&at, 4096) == 0);
  CHECK(touch(name, library, at, 4096 + beyond) == 0);
  CHECK(d.synchronize() == 0 && d.free(at) == 0);
}

// The capture of the thread's stream, by each of its names.
void capture_thread_stream(const Driver& d, void* library) {
  CuGraph graph = nullptr;
  CuAddress before = 0, after = 0;
  CHECK(d.allocate(&before, 100) == 0);
  CHECK(lookup<int(CuStream, int)>(library, "cuStreamBeginCapture_v2_ptsz")(nullptr, 0) == 0);
  CHECK(d.end_capture(redzone::interpose::kThreadStream, &graph) == 0);
  CHECK(d.allocate(&after, 100000) == 0);
  CHECK(d.free(before) == 0);
}

void allocate_from_pools(const Driver& d, void* library) {
  const auto from =
      lookup<int(CuAddress*, std::size_t, CuPool, CuStream)>(library, "cuMemAllocFromPoolAsync");
  const auto create = lookup<int(CuPool*, const CuPoolProps*)>(library, "cuMemPoolCreate");
  CuPoolProps properties;
  properties.type = 1;
  properties.location = {1, 0};
  CuPool device = nullptr, host = nullptr;
  CHECK(create(&device, &properties) == 0);
  properties.location.type = 2;
  CHECK(create(&host, &properties) == 0);
  CuAddress first = 0, second = 0;
  CHECK(from(&first, 100, device, nullptr) == 0);
  const int before = d.plain_blocks();
  CHECK(from(&second, 100, host, nullptr) == 0);
  CHECK(d.plain_blocks() == before + 1);
  char handle[64];
  lookup<int(void*, CuAddress)>(library, "cuMemPoolExportPointer")(handle, first);
  CHECK(d.free_async(first, nullptr) == 0 && d.free_async(second, nullptr) == 0);
}

// Memory that the program has freed is there for all that the driver allocates.
void use_freed_memory(const Driver& d, void* library) {
  constexpr std::size_t mib = std::size_t{1} << 20, bytes = 70 * mib;
  lookup<void(std::size_t)>(library, "fakeLimitMemory")(100 * mib);
  const auto free_again = [&] {
    CuAddress at = 0;
    CHECK(d.allocate(&at, bytes) == 0 && d.free(at) == 0 && d.synchronize() == 0);
  };
  free_again();
  std::size_t free = 0, total = 0;
  CHECK(lookup<int(std::size_t*, std::size_t*)>(library, "cuMemGetInfo_v2")(&free, &total) == 0);
  CHECK(free >= bytes && free <= total);
  CuMemAllocationProp properties;
  properties.type = 1;
  properties.location = {1, 0};
  CuMemoryHandle handle = 0;
  CHECK(lookup<int(CuMemoryHandle*, std::size_t, const CuMemAllocationProp*, unsigned long long)>(
            library, "cuMemCreate")(&handle, bytes, &properties, 0) == 0);
  CHECK(lookup<int(CuMemoryHandle)>(library, "cuMemRelease")(handle) == 0);
  free_again();
  CuAddress managed = 0;
  CHECK(lookup<int(CuAddress*, std::size_t, unsigned)>(library, "cuMemAllocManaged")(
            &managed, bytes, 1) == 0);
  constexpr int out_of_memory = 2;
  CHECK(lookup<int(CuAddress*, std::size_t, unsigned)>(library, "cuMemAllocManaged")(
            &managed, bytes, 1) == out_of_memory);
}

// A function that has other parameters from a later version of CUDA on.
void use_newer_version(const Driver& d, void* library) {
  void* function = nullptr;
  int status = 0;
  CHECK(lookup<int(const char*, void**, int, std::uint64_t, int*)>(library, "cuGetProcAddress_v2")(
            "cuMemAlloc", &function, 99000, 0, &status) == 0);
  CuAddress at = 0;
  CHECK(reinterpret_cast<int (*)(std::size_t, CuAddress*, const char*)>(function)(100, &at, "x") ==
        0);
  CHECK(at != 0);
  use(d);
}

// The canary of a block that is lost with its context.
void release_primary(const Driver& d, void* library) {
  const auto retain = lookup<int(CuContext*, int)>(library, "cuDevicePrimaryCtxRetain");
  const auto release = lookup<int(int)>(library, "cuDevicePrimaryCtxRelease_v2");
  CuContext primary = nullptr;
  CHECK(retain(&primary, 0) == 0 && retain(&primary, 0) == 0);
  dirty(d);
  CHECK(release(0) == 0 && release(0) == 0);
}

// A child may use a driver that its parent has only looked up.
int use_in_child(const Driver& d) {
  const pid_t child = fork();
  if (child == 0) {
    CuContext context = nullptr;
    CHECK(d.init(0) == 0 && d.create_context(&context, 0, 0) == 0);
    use(d);
    std::exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "", deed = argc > 2 ? argv[2] : "";
  if (way == "absent")
    return dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == nullptr && dlerror() != nullptr ? 0 : 3;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 4;
  }
  const Driver d = driver_by(way, library);
  CuContext context = nullptr;
  if (deed == "fork") return use_in_child(d);
  if (deed == "private") d.set_private_entries(true);
  if (deed == "novmm") d.set_virtual_memory(false);
  CHECK(d.init(0) == 0 && d.create_context(&context, 0, 0) == 0);
  if (deed == "next")
    CHECK(dlsym(RTLD_NEXT, "cuMemAlloc_v2") != nullptr);
  else if (deed == "overrun")
    overrun(d);
  else if (deed == "unseen")
    overrun_at_the_end(d);
  else if (deed == "free_tells")
    overrun_seen_elsewhere(d, library, [&](CuAddress at) { return d.free(at); });
  else if (deed == "allocate_tells")
    overrun_seen_elsewhere(d, library, [&](CuAddress at) { return d.allocate(&at, 100); });
  else if (deed == "call_tells")
    overrun_seen_elsewhere(d, library, [&](CuAddress at) { return call(argv[3], library, at); });
  else if (deed == "touch")
    touch_block(d, library, argv[3], std::strtoul(argv[4], nullptr, 10));
  else if (deed == "launch_killed") {
    launch(d, library, false, 1000, 3, 1000);
    raise(SIGKILL);
  } else if (deed == "launch_found") {
    launch_and_wait(d, library, argv[3], std::string(argv[4]) == "names");
  } else if (deed == "launch_reused") {
    launch_reused(d, library, context);
  } else if (deed == "launch" || deed == "launch_ex")
    return launch(d, library, deed == "launch_ex", 1000, std::atoi(argv[3]),
                  std::strtoul(argv[4], nullptr, 10)) == 0
               ? 0
               : 7;
  else if (deed == "thread_capture")
    capture_thread_stream(d, library);
  else if (deed == "pools")
    allocate_from_pools(d, library);
  else if (deed == "repeat")
    repeat_a_mistake(d, library);
  else if (deed == "newer")
    use_newer_version(d, library);
  else if (deed == "room")
    use_freed_memory(d, library);
  else if (deed == "release")
    release_primary(d, library);
  else if (deed == "tables")
    ask_for_table(d, library);
  else if (deed == "after_free")
    after_free(d);
  else if (deed == "after_ordered_free")
    after_ordered_free(d);
  else if (deed == "dirty")
    dirty(d);
  else if (deed == "quick") {
    dirty(d);
    std::quick_exit(0);
  } else if (deed == "capture")
    capture(d);
  else if (deed == "abandon")
    abandon_capture(d);
  else if (deed == "private")
    use(driver_by("proc", library));
  else if (deed != "none")
    use(d);
  if (deed == "destroy") CHECK(d.destroy_context(context) == 0);
  return 0;
}
