// Where a finding occurred, and where the code under test came from: the facts that a replay needs.
#pragma once

#include <string>
#include <string_view>

#include "core/target_origin.h"

namespace redzone {

// Where a finding occurred. If a failure does not recur, the cause is often a difference here.
struct Environment {
  std::string device;          // "host", "NVIDIA H100 80GB HBM3"
  std::string driver;          // "580.159.04", "" on the host
  int compute_capability = 0;  // 90
  std::string toolkit;         // what the code was built with: the CUDA toolkit (nvcc, ptxas),
                               // Triton, or the versions of Python and its modules
  std::string nvrtc;           // version that compiled at run time, "" when not used
  std::string host;            // kernel and CPU, as `uname -srm` gives it
  std::string code_hash;       // of the plugin file, or of the package, that ran
  std::string redzone_version;
  TargetOrigin origin = {};  // of the target's code

  bool operator==(const Environment&) const = default;
};

// Why a passing run of a plan proves nothing about a failure recorded in this environment; "" if it
// does prove something. Before 0.2.0 a data seed drew other values.
std::string other_data_than(const Environment& recorded);

}  // namespace redzone
