// What a finding's environment has of this build and machine.
#pragma once

#include <string>
#include <string_view>

#include "core/environment.h"

namespace redzone {

// "0.1.0"
std::string_view redzone_version();

// The compilers that built this binary and its plugins: "nvcc 13.0.88, ptxas 13.0.88, g++ 12.2.0";
// only g++ without CUDA support.
std::string_view build_toolkit();

// `driver` and `nvrtc` are "" if absent; `compute_capability` is 90 for 9.0, 0 on the host.
// `code_hash` is the hash of the plugin that ran. The other members describe this build and
// machine.
Environment collect_environment(std::string device, std::string driver, int compute_capability,
                                std::string nvrtc, std::string code_hash);

}  // namespace redzone
