#include "device/cuda/device_facts.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <sstream>

#include "device/cuda/cuda_error.h"
#include "device/cuda/region_source.h"

namespace redzone::device::cuda {
namespace {

// Digits with at least one dot: "580.159.04".
bool is_version(std::string_view word) {
  bool dot = false;
  for (char c : word) {
    if (c == '.')
      dot = true;
    else if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      return false;
  }
  return dot && word.front() != '.' && word.back() != '.';
}

}  // namespace

std::string version_in(std::string_view proc_text) {
  std::istringstream words{std::string(proc_text)};
  for (std::string word; words >> word;)
    if (is_version(word)) return word;
  return {};
}

std::string driver_version(const DriverApi& api) {
  std::ifstream file("/proc/driver/nvidia/version");
  std::stringstream text;
  text << file.rdbuf();
  if (std::string version = version_in(text.str()); !version.empty()) return version;
  int cuda = 0;
  if (api.driver_version(&cuda) != CUDA_SUCCESS) return {};
  return fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
}

Status<int> attribute(const DriverApi& api, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  const CUresult r = api.device_attribute(&value, which, device);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuDeviceGetAttribute"));
  return value;
}

Status<int> compute_capability(const DriverApi& api, CUdevice device) {
  return attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
      .and_then([&](int major) {
        return attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
            .map([&](int minor) { return 10 * major + minor; });
      });
}

Status<std::string> device_name(const DriverApi& api, CUdevice device) {
  char name[256] = {};
  const CUresult r = api.device_name(name, sizeof name - 1, device);
  if (r != CUDA_SUCCESS) return tl::unexpected(failure_of(api, r, "cuDeviceGetName"));
  return std::string(name);
}

Status<Info> describe(const DriverApi& api, CUdevice device) {
  Info info;
  info.kind = DeviceKind::cuda;
  info.driver = driver_version(api);
  RZ_TRY_ASSIGN(auto name, device_name(api, device));
  info.name = std::move(name);
  RZ_TRY_ASSIGN(auto capability, compute_capability(api, device));
  info.compute_capability = capability;
  if (auto r = api.device_total_mem(&info.memory_bytes, device); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuDeviceTotalMem"));
  RZ_TRY_ASSIGN(auto granularity, guard_granularity(api, device));
  info.granularity_bytes = granularity;

  const std::pair<CUdevice_attribute, std::int64_t*> limits[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &info.limits.grid[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &info.limits.grid[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &info.limits.grid[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &info.limits.block[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &info.limits.block[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &info.limits.block[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info.limits.threads_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info.limits.shared_bytes},
  };
  for (auto [which, limit] : limits) {
    RZ_TRY_ASSIGN(auto value, attribute(api, device, which));
    *limit = value;
  }
  RZ_TRY_ASSIGN(auto processors, attribute(api, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  info.multiprocessors = processors;
  RZ_TRY_ASSIGN(auto clusters, attribute(api, device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH));
  if (clusters == 0) info.limits.cluster = 1;
  return info;
}

}  // namespace redzone::device::cuda
