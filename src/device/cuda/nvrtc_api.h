// NVRTC, loaded at run time.
#pragma once

#include <nvrtc.h>

#include <string>
#include <tl/expected.hpp>

namespace redzone::device::cuda {

// A plain table of functions; the library stays loaded until the process ends.
struct NvrtcApi {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy = nullptr;
  decltype(&::nvrtcAddNameExpression) add_expression = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;

  std::string path;          // as passed to the loader
  std::string version_text;  // "13.0"
};

// Searches, in this order, $REDZONE_NVRTC (a full path; nothing else is tried then), the loader's
// path, $CUDA_HOME and $CUDA_PATH, and the usual places of a toolkit. The error is one line that
// begins with "NVRTC not found".
tl::expected<NvrtcApi, std::string> load_nvrtc_api();

}  // namespace redzone::device::cuda
