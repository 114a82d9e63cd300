// Where a finding occurred, and where the code that ran came from: what a replay needs.
#pragma once

#include <string>
#include <string_view>

namespace redzone {

// Where a finding occurred. The cause of a failure that does not recur is often found here.
struct Environment {
  std::string device;          // "host", "NVIDIA H100 80GB HBM3"
  std::string driver;          // "580.159.04", "" on the host
  int compute_capability = 0;  // 90
  std::string toolkit;         // CUDA toolkit (nvcc, ptxas) the code was built with, or
                               // toolkit_of_package()
  std::string nvrtc;           // version that compiled at run time, "" when not used
  std::string host;            // kernel and CPU, as `uname -srm` gives it
  std::string code_hash;       // of the plugin file, or of the package, that ran
  std::string redzone_version;

  bool operator==(const Environment&) const = default;
};

// Why a run of a plan that passes says nothing about a failure that was recorded there; "" if it
// does. Before 0.2.0 a data seed drew other values.
std::string other_data_than(const Environment& recorded);

// Text for Environment::toolkit: the compiler of a package, and its folder.
std::string toolkit_of_package(std::string_view compiled_by, std::string_view folder);
// The folder in that text; "" if the code was not from a package.
std::string package_of(const Environment& environment);

// Text for Environment::toolkit: the compiler of a plugin, and its file.
std::string toolkit_of_plugin(std::string_view made_by, std::string_view file);
// The file in that text; "" for a plugin that ships with Redzone, and for a package.
std::string plugin_of(const Environment& environment);

}  // namespace redzone
