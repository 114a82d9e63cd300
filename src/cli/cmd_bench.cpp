// `redzone bench`: what the harness costs and how soon it finds the puzzles; and, internally, the
// process that runs a workload without a harness.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "bench/bare_loop.h"
#include "bench/bench.h"
#include "bench/tma.h"
#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "core/utc.h"
#include "engine/options.h"
#include "engine/plans.h"
#include "engine/sanitized.h"
#include "engine/tools.h"
#include "sanitizer/command.h"
#include "sanitizer/log_folder.h"
#include "store/environment.h"

namespace redzone::cli {
namespace {

constexpr const char* kBareCommand = "bench-bare";

class Bench final : public Command {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view synopsis() const override { return "redzone bench [options]"; }
  std::string_view summary() const override {
    return "measure throughput against bare calls and memcheck, detection, and the cost of a fault";
  }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    flags.add_options()("quick", po::bool_switch(), "fewer plans and puzzles, under a minute")(
        "part", po::value<std::vector<std::string>>()->composing(),
        "throughput, detection, faults, modes, launcher or tma alone; may be given several times")(
        "out", po::value<std::string>(), "write the report to this file as JSON, too")(
        "commit", po::value<std::string>()->default_value("unknown"),
        "what this was built from, for the report");
    add_device_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_worker_flags(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

class BenchBare final : public Command {
 public:
  std::string_view name() const override { return kBareCommand; }
  std::string_view synopsis() const override {
    return "redzone bench-bare --workload NAME --socket-fd N --black-box-fd M";
  }
  std::string_view summary() const override {
    return "runs a workload without a harness (internal)";
  }
  bool internal() const override { return true; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_device_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    flags.add_options()("workload", po::value<std::string>()->required(), "which plans")(
        "quick", po::bool_switch(), "fewer of them")("socket-fd", po::value<int>()->required(),
                                                     "the benchmark")(
        "black-box-fd", po::value<int>()->required(), "as for a worker; not used");
  }
  Result<int> run(const po::variables_map& flags) override;
};

Result<std::set<bench::Part>> parts_wanted(const po::variables_map& flags) {
  using enum bench::Part;
  const std::map<std::string, bench::Part> names = {
      {"throughput", throughput}, {"detection", detection}, {"faults", faults},
      {"modes", modes},           {"launcher", launcher},   {"tma", tma}};
  std::set<bench::Part> parts;
  if (flags.count("part") == 0) {
    for (const auto& [name, part] : names) parts.insert(part);
    return parts;
  }
  for (const auto& name : flags["part"].as<std::vector<std::string>>()) {
    const auto found = names.find(name);
    if (found == names.end())
      return usage_error(fmt::format(
          "--part {}: must be throughput, detection, faults, modes, launcher or tma", name));
    parts.insert(found->second);
  }
  return parts;
}

constexpr std::uint64_t kQuickDescriptors = 20000;

bench::Effort effort_for(bool quick) {
  bench::Effort effort;
  if (!quick) return effort;
  using std::chrono::milliseconds;
  effort.quick = true;
  effort.rounds = 1;
  effort.slice = milliseconds(300);
  effort.memcheck = milliseconds(4000);
  effort.seeds = {1};
  effort.detection = milliseconds(8000);
  effort.faults = 3;
  effort.mode_trials = 8;
  effort.launcher_trials = 8;
  effort.correct_calls = 500;
  effort.correct = milliseconds(8000);
  effort.descriptors = kQuickDescriptors;
  return effort;
}

std::string as_typed(const po::variables_map& flags, DeviceKind device) {
  std::string text = fmt::format("redzone bench --device {}{}", name_of(device),
                                 flags["quick"].as<bool>() ? " --quick" : "");
  if (flags.count("part") != 0)
    for (const auto& part : flags["part"].as<std::vector<std::string>>()) text += " --part " + part;
  return text;
}

// A column must not be lost to a file that cannot be written: found out before anything runs.
Result<void> check_writable(const po::variables_map& flags) {
  if (flags.count("out") == 0) return {};
  const auto& path = flags["out"].as<std::string>();
  if (!std::ofstream(path, std::ios::app)) return usage_error(path + ": cannot be written");
  return {};
}

// As a campaign runs it. Nobody reads the tool's text, which goes to a file in `logs`.
void add_memcheck(bench::Setup& setup, const sanitizer::LogFolder& logs) {
  if (setup.device != DeviceKind::cuda) {
    setup.why_no_memcheck = "memcheck sees nothing of the host device";
    return;
  }
  const std::string tool = engine::find_tool("compute-sanitizer");
  if (tool.empty())
    setup.why_no_memcheck = "compute-sanitizer was not found";
  else
    setup.memcheck_prefix =
        sanitizer::command_prefix(tool, SanitizerTool::memcheck, logs.path() / "memcheck");
}

// The worker command of the pool with another name: device and plugins are the same.
exec::WorkerCommand bare_command(exec::WorkerCommand command, std::string_view workload,
                                 bool quick) {
  command.argv.at(1) = kBareCommand;
  command.argv.insert(command.argv.end(), {"--workload", std::string(workload)});
  if (quick) command.argv.emplace_back("--quick");
  return command;
}

// The same on the device that runs no kernel.
bench::Setup setup_of_none(const bench::Setup& native, engine::EngineOptions options,
                           const oracles::Catalog& dry) {
  options.device = DeviceKind::none;
  bench::Setup setup{.device = options.device, .registry = native.registry, .catalog = dry};
  setup.pool = engine::pool_options(options, native.registry);
  setup.deadline = options.trial_deadline();
  setup.triage =
      engine::triage_options(options.device, setup.deadline, setup.pool.spares, native.stop);
  setup.simplify = native.simplify;
  setup.plans = [](const TargetSpec& spec, std::uint64_t seed) {
    return engine::generated_plans(spec, DeviceKind::none, {}, seed);
  };
  setup.stop = native.stop;
  setup.say = native.say;
  setup.effort = native.effort;
  // What it finds at all it finds in the first seconds.
  setup.effort.detection =
      std::min<std::chrono::milliseconds>(native.effort.detection, std::chrono::seconds(10));
  return setup;
}

Result<int> Bench::run(const po::variables_map& flags) {
  watch_interrupts();
  auto parts = parts_wanted(flags);
  if (!parts) return tl::unexpected(parts.error());
  if (auto writable = check_writable(flags); !writable) return tl::unexpected(writable.error());
  auto options = engine_options(flags, engine::Workload::campaign);
  if (!options) return tl::unexpected(options.error());
  if (options->device == DeviceKind::none)
    return usage_error("--device none: nothing runs on it that could be measured");
  const auto registry = engine::load_targets(*options);
  if (!registry) return tl::unexpected(registry.error());
  const oracles::Catalog catalog;
  const auto pool = engine::pool_options(*options, *registry);
  exec::Hello hello;
  {
    exec::PoolOptions one = pool;
    one.workers = 1;
    one.spares = 0;
    auto said = exec::Pool(one).wait_ready(std::chrono::seconds(60));
    if (!said) return tl::unexpected(said.error());
    hello = std::move(*said);
  }

  bench::Setup setup{.device = options->device, .registry = *registry, .catalog = catalog};
  setup.pool = pool;
  setup.deadline = options->trial_deadline();
  setup.triage =
      engine::triage_options(options->device, setup.deadline, pool.spares, options->interrupted);
  setup.simplify = engine::simplify_for();
  setup.plans = [&](const TargetSpec& spec, std::uint64_t seed) {
    return engine::generated_plans(spec, options->device, hello, seed);
  };
  setup.effort = effort_for(flags["quick"].as<bool>());
  setup.effort.parts = std::move(*parts);
  setup.bare_command = [&](std::string_view workload) {
    return bare_command(pool.command, workload, setup.effort.quick);
  };
  const auto logs = sanitizer::LogFolder::create();
  if (!logs) return tl::unexpected(logs.error());
  add_memcheck(setup, *logs);
  engine::SanitizedPools sanitized(options->device, pool.command, options->interrupted);
  setup.sanitized = [&](SanitizerTool tool) { return sanitized.open(tool); };
  setup.stop = options->interrupted;
  setup.say = [](const std::string& what) { print_note(fmt::format("bench: {}", what)); };

  const oracles::Catalog dry = oracles::Catalog::dry();
  const bench::Setup none = setup_of_none(setup, *options, dry);
  setup.none = &none;

  bench::Report report;
  report.environment = store::collect_environment(hello.device, hello.driver,
                                                  hello.compute_capability, hello.nvrtc, "");
  report.commit = flags["commit"].as<std::string>();
  report.command = as_typed(flags, options->device);
  report.date = utc_now();
  if (auto done = bench::run_benchmark(setup, report); !done) return tl::unexpected(done.error());
  report.interrupted = interrupted();
  const int exit = report.interrupted ? kInterrupted : kOk;
  print_result(bench::report_text(report));
  if (flags.count("out") == 0) return exit;
  const auto& path = flags["out"].as<std::string>();
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bench::report_json(report);
  out.close();
  if (!out) return harness_error(path + ": cannot be written");
  return exit;
}

Result<int> BenchBare::run(const po::variables_map& flags) {
  auto side = engine::open_worker_side(worker_side_options(flags));
  if (!side) return tl::unexpected(side.error());
  if (flags["workload"].as<std::string>() == bench::kDescriptorLoop)
    return bench::serve_descriptors(flags["socket-fd"].as<int>(), *side->device,
                                    effort_for(flags["quick"].as<bool>()).descriptors);
  const auto workload =
      bench::make_workload(flags["workload"].as<std::string>(), side->device->info().kind,
                           side->registry, flags["quick"].as<bool>());
  if (!workload) return tl::unexpected(workload.error());
  const oracles::Catalog catalog;
  return bench::serve_bare_loop(flags["socket-fd"].as<int>(), *side->device, side->registry,
                                *workload, catalog.screen());
}

}  // namespace

std::unique_ptr<Command> make_bench() {
  return std::make_unique<Bench>();
}
std::unique_ptr<Command> make_bench_bare() {
  return std::make_unique<BenchBare>();
}

}  // namespace redzone::cli
