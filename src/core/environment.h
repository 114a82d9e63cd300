// Where a finding occurred, and where the code that ran came from: what a replay needs.
#pragma once

#include <string>
#include <string_view>

#include "core/target_origin.h"

namespace redzone {

// Where a finding occurred. The cause of a failure that does not recur is often found here.
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

// Why a run of a plan that passes says nothing about a failure that was recorded there; "" if it
// does. Before 0.2.0 a data seed drew other values.
std::string other_data_than(const Environment& recorded);

}  // namespace redzone
