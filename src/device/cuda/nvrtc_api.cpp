#include "device/cuda/nvrtc_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace redzone::device::cuda {
namespace {

std::vector<std::string> candidates() {
  constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
  std::vector<std::string> folders = {""};  // the loader's own path
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      for (const char* lib : {"/lib64/", "/lib/"}) folders.push_back(std::string(home) + lib);
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("/usr/local/cuda/targets/x86_64-linux/lib/");
  std::vector<std::string> paths;
  for (const auto& folder : folders)
    for (const char* name : kNames) paths.push_back(folder + name);
  return paths;
}

template <class F>
bool set_function(void* library, const char* symbol, F& function) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  return function != nullptr;
}

bool bind_all(void* library, NvrtcApi& api) {
  return set_function(library, "nvrtcVersion", api.version) &&
         set_function(library, "nvrtcGetErrorString", api.error_string) &&
         set_function(library, "nvrtcCreateProgram", api.create) &&
         set_function(library, "nvrtcDestroyProgram", api.destroy) &&
         set_function(library, "nvrtcAddNameExpression", api.add_expression) &&
         set_function(library, "nvrtcCompileProgram", api.compile) &&
         set_function(library, "nvrtcGetProgramLogSize", api.log_size) &&
         set_function(library, "nvrtcGetProgramLog", api.log) &&
         set_function(library, "nvrtcGetLoweredName", api.lowered_name) &&
         set_function(library, "nvrtcGetCUBINSize", api.cubin_size) &&
         set_function(library, "nvrtcGetCUBIN", api.cubin);
}

tl::expected<NvrtcApi, std::string> load_nvrtc(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return tl::unexpected(std::string(dlerror()));
  NvrtcApi api;
  int major = 0, minor = 0;
  if (!bind_all(library, api) || api.version(&major, &minor) != NVRTC_SUCCESS)
    return tl::unexpected(path + " is not a usable NVRTC");
  api.path = path;
  api.version_text = fmt::format("{}.{}", major, minor);
  return api;
}

}  // namespace

tl::expected<NvrtcApi, std::string> load_nvrtc_api() {
  if (const char* path = std::getenv("REDZONE_NVRTC"); path != nullptr && *path != '\0') {
    auto api = load_nvrtc(path);
    if (!api) return tl::unexpected("NVRTC not found: REDZONE_NVRTC: " + api.error());
    return api;
  }
  std::string first_problem;
  for (const auto& path : candidates()) {
    auto api = load_nvrtc(path);
    if (api) return api;
    if (first_problem.empty()) first_problem = api.error();
  }
  return tl::unexpected("NVRTC not found: " + first_problem +
                        " (set REDZONE_NVRTC to the full path of libnvrtc.so)");
}

}  // namespace redzone::device::cuda
