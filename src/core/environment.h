// Where a finding was seen, and what brings along the code that ran: what its replay needs.
#pragma once

#include <string>
#include <string_view>

namespace redzone {

// Where a finding was seen. A repro is only worth as much as this says: the root cause of a failure
// that does not recur is often here.
struct Environment {
  std::string device;          // "host", "NVIDIA H100 80GB HBM3"
  std::string driver;          // "580.159.04", "" on the host
  int compute_capability = 0;  // 90
  std::string toolkit;         // CUDA toolkit (nvcc, ptxas) the code was built with, or
                               // toolkit_of_package()
  std::string nvrtc;           // version that compiled lazily, "" when not used
  std::string host;            // kernel and CPU, as `uname -srm` gives it
  std::string code_hash;       // of the plugin file, or of the package, that ran
  std::string redzone_version;

  bool operator==(const Environment&) const = default;
};

// What made the code of a package, and its folder, so that a finding can say what it needs.
std::string toolkit_of_package(std::string_view compiled_by, std::string_view folder);
// The folder that is named there; "" where the code was no package's.
std::string package_of(const Environment& environment);

// For Environment::toolkit: what made the code of a plugin, and its file.
std::string toolkit_of_plugin(std::string_view made_by, std::string_view file);
// The file that is named there; "" for a plugin that ships, and for a package.
std::string plugin_of(const Environment& environment);

}  // namespace redzone
