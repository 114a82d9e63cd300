#include "core/build_environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "core/build_versions.h"

namespace redzone {

std::string_view redzone_version() {
  return kRedzoneVersion;
}

std::string_view build_toolkit() {
  return kBuildToolkit;
}

Environment collect_environment(std::string device, std::string driver, int compute_capability,
                                std::string nvrtc, std::string code_hash) {
  Environment e;
  e.device = std::move(device);
  e.driver = std::move(driver);
  e.compute_capability = compute_capability;
  e.toolkit = kBuildToolkit;
  e.nvrtc = std::move(nvrtc);
  utsname machine{};
  if (::uname(&machine) == 0)
    e.host = fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine);
  e.code_hash = std::move(code_hash);
  e.redzone_version = kRedzoneVersion;
  return e;
}

}  // namespace redzone
