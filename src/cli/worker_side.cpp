#include "cli/worker_side.h"

#include <unistd.h>

#include <cstdlib>

#include "device/variant_hook.h"
#include "package/packages.h"

namespace redzone::cli {
namespace {

// Of a worker that compiles.
constexpr int kNiceness = 10;

Result<std::unique_ptr<device::Device>> open_device(const po::variables_map& flags) {
  const auto& name = flags["device"].as<std::string>();
  if (name == "host") return device::open_host_device();
  if (name == "none" && flags.count("compile-for") != 0) {
    [[maybe_unused]] const int niceness = ::nice(kNiceness);  // the trials of others come first
    return device::open_asking_device(device::compiling_hook(flags["compile-for"].as<int>()));
  }
  if (name == "none") return device::open_none_device();
  auto device = device::open_cuda_device();
  if (!device) return harness_error(device.error().code + ": " + device.error().detail);
  return std::move(*device);
}

}  // namespace

Result<WorkerSide> open_worker_side(const po::variables_map& flags) {
  // Loading a kernel on first use waits for the device, which a gated trial holds.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  WorkerSide side;
  side.device_name = flags["device"].as<std::string>();
  auto opened = open_device(flags);
  if (!opened) return tl::unexpected(opened.error());
  side.device = std::move(*opened);
  std::vector<std::filesystem::path> plugins;
  if (flags.count("plugin") != 0)
    for (const auto& p : flags["plugin"].as<std::vector<std::string>>()) plugins.emplace_back(p);
  auto registry = Registry::load_in_worker(plugins);
  if (!registry) return tl::unexpected(registry.error());
  if (flags.count("package") != 0) {
    std::vector<std::filesystem::path> packages;
    for (const auto& p : flags["package"].as<std::vector<std::string>>()) packages.emplace_back(p);
    if (auto added = package::add_packages(*registry, packages); !added)
      return tl::unexpected(added.error());
  }
  registry->preload();
  side.registry = std::move(*registry);
  return side;
}

}  // namespace redzone::cli
