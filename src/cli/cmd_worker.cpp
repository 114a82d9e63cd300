// `redzone worker`: started by the driver, not by people.
#include <fcntl.h>
#include <sys/mman.h>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "device/devices.h"
#include "exec/worker_loop.h"
#include "trial/device_trial_host.h"

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
    add_package_flag(flags);
    flags.add_options()("socket-fd", po::value<int>()->required(), "the driver")(
        "black-box-fd", po::value<int>()->required(), "the page that survives this process")(
        "one-queue", po::bool_switch(), "its streams share one hardware queue")(
        "sanitizer-log", po::value<std::string>(), "where compute-sanitizer's text goes")(
        "compile-for", po::value<int>(),
        "with --device dry-run: kernels that are compiled at run time are, for this compute "
        "capability");
    add_sanitizer_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<int> WorkerCommandLine::run(const po::variables_map& flags, Results&) {
  void* page = mmap(nullptr, sizeof(device::BlackBox), PROT_READ | PROT_WRITE, MAP_SHARED,
                    flags["black-box-fd"].as<int>(), 0);
  if (page == MAP_FAILED) return harness_error("cannot map the black box");
  auto& box = *static_cast<device::BlackBox*>(page);  // lives as long as the process

  RZ_TRY_ASSIGN(const auto tool, sanitizer_flag(flags));
  std::optional<trial::SanitizerSource> sanitizer;
  if (tool != SanitizerTool::none) {
    if (flags.count("sanitizer-log") == 0) return usage_error("--sanitizer-log is missing");
    sanitizer = {tool, flags["sanitizer-log"].as<std::string>()};
  }
  RZ_TRY_ASSIGN(const auto options, worker_side_options(flags));
  RZ_TRY_ASSIGN(auto side, engine::open_worker_side(options));
  trial::DeviceTrialHost host(std::move(side.device), side.registry, &box,
                              device::look_for(options.device).nvrtc, std::move(sanitizer));
  return exec::worker_loop(flags["socket-fd"].as<int>(), host, box);
}

}  // namespace

std::unique_ptr<Command> make_worker() {
  return std::make_unique<WorkerCommandLine>();
}

}  // namespace redzone::cli
