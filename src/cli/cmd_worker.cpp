// `redzone worker`: started by the driver, not by users.
#include <utility>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "worker_library/serve.h"

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
        "zygote", po::bool_switch(), "the driver asks it to fork workers")(
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
  RZ_TRY_ASSIGN(const auto tool, sanitizer_flag(flags));
  RZ_TRY_ASSIGN(auto side, worker_side_options(flags));
  worker::WorkerOptions options{.side = std::move(side),
                                .socket_fd = flags["socket-fd"].as<int>(),
                                .black_box_fd = flags["black-box-fd"].as<int>(),
                                .zygote = flags["zygote"].as<bool>()};
  if (tool != SanitizerTool::none) {
    options.sanitizer = trial::SanitizerSource{.tool = tool};
    if (!is_check(tool)) {
      if (flags.count("sanitizer-log") == 0) return usage_error("--sanitizer-log is missing");
      options.sanitizer->log = flags["sanitizer-log"].as<std::string>();
    }
  }
  return worker::serve(options);
}

}  // namespace

std::unique_ptr<Command> make_worker() {
  return std::make_unique<WorkerCommandLine>();
}

}  // namespace redzone::cli
