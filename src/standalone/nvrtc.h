// Compiles a target's kernels at run time, as Redzone does. Included in programs whose target has
// such kernels; these are linked with -lnvrtc.
#pragma once

#include <nvrtc.h>
#include <redzone/target.h>

#include <algorithm>
#include <string>
#include <vector>

#include "standalone/cuda.h"

namespace redzone::standalone {

// `kernel_header`: the text of <redzone/kernel.h>, which NVRTC cannot find elsewhere.
inline Compiled compile(const VariantRequest& request, int capability, const char* kernel_header) {
  const char* const header_name = "redzone/kernel.h";
  const std::string source(request.source);  // NVRTC needs a terminating zero
  nvrtcProgram program = nullptr;
  const auto check = [&](nvrtcResult result, const char* what) {
    if (result == NVRTC_SUCCESS) return;
    std::string why = std::string(request.name) + ": " + what + ": " + nvrtcGetErrorString(result);
    std::size_t bytes = 0;
    if (program != nullptr && nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS) {
      std::string log(bytes, '\0');
      if (nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS) why += "\n" + log;
    }
    throw Failed{why};
  };
  check(nvrtcCreateProgram(&program, source.c_str(), request.name, 1, &kernel_header, &header_name),
        "nvrtcCreateProgram");
  check(nvrtcAddNameExpression(program, request.expression.c_str()), "nvrtcAddNameExpression");
  const std::string architecture =
      "--gpu-architecture=sm_" + std::to_string(capability) + (capability == 90 ? "a" : "");
  std::vector<const char*> options{architecture.c_str()};
  const bool has_standard =
      std::any_of(request.options.begin(), request.options.end(), [](const std::string& option) {
        return option.rfind("-std", 0) == 0 || option.rfind("--std", 0) == 0;
      });
  if (!has_standard) options.push_back("--std=c++20");
  for (const std::string& option : request.options) options.push_back(option.c_str());
  check(nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()),
        "compilation");
  const char* lowered = nullptr;
  check(nvrtcGetLoweredName(program, request.expression.c_str(), &lowered), "nvrtcGetLoweredName");
  std::size_t bytes = 0;
  check(nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
  Compiled compiled{lowered, std::string(bytes, '\0')};
  check(nvrtcGetCUBIN(program, compiled.image.data()), "nvrtcGetCUBIN");
  nvrtcDestroyProgram(&program);
  return compiled;
}

}  // namespace redzone::standalone
