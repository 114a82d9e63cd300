#include "cli/engine_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "core/device_traits.h"
#include "engine/origin.h"

namespace redzone::cli {
namespace {

// The values of a flag that may be repeated.
std::vector<std::filesystem::path> paths_of(const po::variables_map& flags, const char* name) {
  std::vector<std::filesystem::path> paths;
  if (flags.count(name) != 0)
    for (const auto& p : flags[name].as<std::vector<std::string>>()) paths.emplace_back(p);
  return paths;
}

void add_python(const po::variables_map& flags, engine::EngineOptions& options) {
  options.python_files = python_paths(flags);
  options.python = python_flag(flags);
}

}  // namespace

Result<engine::EngineOptions> engine_options(const po::variables_map& flags,
                                             engine::Workload workload) {
  engine::EngineOptions options;
  RZ_TRY_ASSIGN(auto device, chosen_device(flags));
  options.device = device;
  options.plugins = plugin_paths(flags);
  options.packages = package_paths(flags);
  add_python(flags, options);
  options.workload = workload;
  options.interrupted = [] { return interrupted(); };
  options.compiles = [](const std::string& target, std::chrono::milliseconds time) {
    if (isatty(STDERR_FILENO) != 0) clear_line();  // a status line may be shown there
    print_note(fmt::format("compiling {} ({} s so far): its first plans wait for it", target,
                           std::chrono::duration_cast<std::chrono::seconds>(time).count()));
  };
  RZ_TRY_ASSIGN(auto deadline, duration_flag(flags, "deadline"));
  options.deadline = deadline;
  if (flags.count("workers") != 0) {
    options.workers = flags["workers"].as<Count>().value;
    if (*options.workers < 1 || *options.workers > 64)
      return usage_error("--workers: must be in 1..64");
  }
  if (flags.count("compilers") != 0) {
    options.compilers = flags["compilers"].as<Count>().value;
    if (*options.compilers > 64) return usage_error("--compilers: must be in 0..64");
  }
  RZ_TRY_ASSIGN(auto sanitizer, sanitizer_flag(flags));
  options.sanitizer = sanitizer;
  return options;
}

Result<engine::EngineOptions> rerun_options(const po::variables_map& flags,
                                            const Environment& found_in) {
  auto options = engine_options(flags, engine::Workload::replay);
  if (options && flags["device"].defaulted())
    options->device = engine::device_of(found_in, options->device);
  return options;
}

Result<Registry> load_registry(const po::variables_map& flags, const Environment& found_in) {
  engine::EngineOptions options;
  if (!found_in.device.empty()) options.device = traits_of_device(found_in.device).kind;
  options.plugins = plugin_paths(flags);
  options.packages = package_paths(flags);
  add_python(flags, options);
  return engine::load_targets(options);
}

Result<worker::WorkerSideOptions> worker_side_options(const po::variables_map& flags) {
  RZ_TRY_ASSIGN(const auto device, parse_device_kind(flags["device"].as<std::string>()));
  worker::WorkerSideOptions options{.device = device};
  options.plugins = paths_of(flags, "plugin");
  options.packages = paths_of(flags, "package");
  if (flags.count("compile-for") != 0) options.compile_for = flags["compile-for"].as<int>();
  if (flags.count("one-queue") != 0) options.one_queue = flags["one-queue"].as<bool>();
  return options;
}

}  // namespace redzone::cli
