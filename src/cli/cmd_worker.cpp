// `redzone worker`: what the driver starts; never typed by people.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>

#include "cli/commands.h"
#include "cli/flags.h"
#include "device/device.h"
#include "exec/trial/device_trial_host.h"
#include "exec/worker_loop.h"

namespace redzone::cli {
namespace {

class WorkerCommandLine final : public Command {
 public:
  std::string_view name() const override { return "worker"; }
  std::string_view synopsis() const override {
    return "redzone worker --socket-fd N --black-box-fd M";
  }
  std::string_view summary() const override { return "runs trials for a driver (internal)"; }
  bool internal() const override { return true; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_device_flag(flags);
    add_plugin_flag(flags);
    flags.add_options()("socket-fd", po::value<int>()->required(), "the driver")(
        "black-box-fd", po::value<int>()->required(), "the page that survives this process");
  }
  Result<int> run(const po::variables_map& flags) override;
};

Result<std::unique_ptr<device::Device>> open_device(const std::string& name) {
  if (name == "host") return device::open_host_device();
  auto device = device::open_cuda_device();
  if (!device) return harness_error(device.error().code + ": " + device.error().detail);
  return std::move(*device);
}

Result<int> WorkerCommandLine::run(const po::variables_map& flags) {
  void* page = mmap(nullptr, sizeof(device::BlackBox), PROT_READ | PROT_WRITE, MAP_SHARED,
                    flags["black-box-fd"].as<int>(), 0);
  if (page == MAP_FAILED) return harness_error("cannot map the black box");
  auto& box = *static_cast<device::BlackBox*>(page);  // for as long as the process lives

  // Loading a kernel on first use waits for the device, which a gated trial holds.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const std::string name = flags["device"].as<std::string>();
  auto opened = open_device(name);
  if (!opened) return tl::unexpected(opened.error());
  std::vector<std::filesystem::path> plugins;
  if (flags.count("plugin") != 0)
    for (const auto& p : flags["plugin"].as<std::vector<std::string>>()) plugins.emplace_back(p);
  auto registry = Registry::load_in_worker(plugins);
  if (!registry) return tl::unexpected(registry.error());
  registry->preload();
  const std::string nvrtc = name == "cuda" ? device::probe_cuda().nvrtc : "";
  exec::DeviceTrialHost host(std::move(*opened), *registry, &box, nvrtc);
  return exec::worker_loop(flags["socket-fd"].as<int>(), host, box);
}

}  // namespace

std::unique_ptr<Command> make_worker() {
  return std::make_unique<WorkerCommandLine>();
}

}  // namespace redzone::cli
