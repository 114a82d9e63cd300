// Kernels of the stand-in for libcuda.so.1: their names, their parameters and their launches. It
// runs none but those that fake_driver.h names.
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "interpose/fake_driver.h"
#include "interpose/fake_state.h"

// NOLINTBEGIN: the names and the types are the driver's
using namespace redzone::fake;

namespace {

struct Kernel {
  std::string name;
  std::vector<std::size_t> sizes;  // of the parameters
  bool is_function = true;         // rather than a CUkernel
  bool loaded = true;              // its parameters are known
};

// What the enumerations of each library and module give out.
constexpr const char* kAllNames[] = {"_Z9fakeWritePhmi", "_Z8fakeReadPhm"};

// By name; the handle of a kernel is its address.
Kernel* kernel_named(const std::string& name, bool is_function) {
  static std::map<std::pair<std::string, bool>, Kernel> all;
  auto& out = all[{name, is_function}];
  out.name = name;
  out.is_function = is_function;
  if (name == "_Z9fakeWritePhmi") out.sizes = {8, 8, 4};
  if (name == "_Z8fakeReadPhm") out.sizes = {8, 8};
  return &out;
}

int name_of(const char** out, void* handle, bool is_function) {
  auto* const kernel = static_cast<Kernel*>(handle);
  if (!state().kernel_names) return kCuNotSupported;
  if (kernel == nullptr || kernel->is_function != is_function) return kInvalidHandle;
  *out = kernel->name.c_str();
  return kCuSuccess;
}

int parameter_of(void* handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& sizes = static_cast<Kernel*>(handle)->sizes;
  if (!state().kernel_names) return kCuNotSupported;
  if (!static_cast<Kernel*>(handle)->loaded) return kCuFunctionNotLoaded;
  if (index >= sizes.size()) return kCuInvalidValue;
  *offset = index * 8;  // each is at most that long
  *bytes = sizes[index];
  return kCuSuccess;
}

template <class T>
T argument(void** all, std::size_t i) {
  T out;
  std::memcpy(&out, all[i], sizeof out);
  return out;
}

int launch(void* handle, CuStream stream, void** arguments) {
  auto* const kernel = static_cast<Kernel*>(handle);
  if (kernel != nullptr) kernel->loaded = true;
  if (kernel == nullptr || arguments == nullptr || kernel->sizes.size() < 2) return kCuSuccess;
  const auto address = argument<CuAddress>(arguments, 0);
  const auto bytes = argument<std::size_t>(arguments, 1);
  if (kernel->name == "_Z9fakeWritePhmi")
    return fakeLaunchWrite(address, bytes, argument<int>(arguments, 2), stream);
  return kernel->name == "_Z8fakeReadPhm" ? fakeLaunchRead(address, bytes, stream) : kCuSuccess;
}

}  // namespace

FAKE_EXPORT int cuModuleGetFunction(void** out, void*, const char* name) {
  FAKE_CALL();
  auto* const kernel = kernel_named(name, true);
  kernel->loaded = true;
  *out = kernel;
  return 0;
}
FAKE_EXPORT void fakeReuseKernel(void* handle, const char* name) {
  const std::lock_guard lock(state().mutex);
  auto& kernel = *static_cast<Kernel*>(handle);
  kernel.name = name;
  kernel.sizes = {8};
}
FAKE_EXPORT int cuModuleUnload(void*) {
  FAKE_CALL();
  return 0;
}
FAKE_EXPORT int cuLibraryGetKernel(void** out, void*, const char* name) {
  FAKE_CALL();
  *out = kernel_named(name, false);
  return 0;
}
FAKE_EXPORT int cuKernelGetFunction(void** out, void* kernel) {
  FAKE_CALL();
  *out = kernel_named(static_cast<Kernel*>(kernel)->name, true);
  return 0;
}
FAKE_EXPORT int cuLibraryGetKernelCount(unsigned* count, void*) {
  FAKE_CALL();
  *count = std::size(kAllNames);
  return 0;
}
FAKE_EXPORT int cuModuleGetFunctionCount(unsigned* count, void*) {
  FAKE_CALL();
  *count = std::size(kAllNames);
  return 0;
}
FAKE_EXPORT int cuLibraryEnumerateKernels(void** out, unsigned most, void*) {
  FAKE_CALL();
  for (unsigned i = 0; i < most && i < std::size(kAllNames); ++i)
    out[i] = kernel_named(kAllNames[i], false);
  return 0;
}
// Functions that nobody has asked for by name are loaded when they are launched, or by
// cuFuncLoad().
FAKE_EXPORT int cuModuleEnumerateFunctions(void** out, unsigned most, void*) {
  FAKE_CALL();
  for (unsigned i = 0; i < most && i < std::size(kAllNames); ++i) {
    auto* const kernel = kernel_named(kAllNames[i], true);
    kernel->loaded = false;
    out[i] = kernel;
  }
  return 0;
}
FAKE_EXPORT int cuFuncLoad(void* function) {
  FAKE_CALL();
  static_cast<Kernel*>(function)->loaded = true;
  return 0;
}
FAKE_EXPORT int cuFuncGetName(const char** out, void* function) {
  FAKE_CALL();
  return name_of(out, function, true);
}
FAKE_EXPORT int cuKernelGetName(const char** out, void* kernel) {
  FAKE_CALL();
  return name_of(out, kernel, false);
}
FAKE_EXPORT int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset,
                                   std::size_t* bytes) {
  FAKE_CALL();
  return parameter_of(function, index, offset, bytes);
}
FAKE_EXPORT int cuKernelGetParamInfo(void* kernel, std::size_t index, std::size_t* offset,
                                     std::size_t* bytes) {
  FAKE_CALL();
  return parameter_of(kernel, index, offset, bytes);
}
FAKE_EXPORT int cuLaunchKernel(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CuStream stream, void** arguments, void**) {
  FAKE_CALL();
  return launch(kernel, stream, arguments);
}
FAKE_EXPORT int cuLaunchKernelEx(const void* config, void* kernel, void** arguments, void**) {
  FAKE_CALL();
  return launch(kernel, static_cast<const CuLaunchConfig*>(config)->stream, arguments);
}
FAKE_EXPORT int cuGraphLaunch(void*, CuStream) {
  FAKE_CALL();
  return 0;
}
// NOLINTEND
