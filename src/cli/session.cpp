#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/interrupt.h"
#include "cli/origin.h"
#include "cli/tools.h"
#include "core/plan_text.h"
#include "core/validate.h"
#include "device/variant_hook.h"
#include "generators/simplify.h"
#include "package/packages.h"
#include "store/environment.h"
#include "target/capability.h"

namespace redzone::cli {
namespace {

// A finding is to be attributed within ten seconds; twenty times as much is given under the tool.
constexpr std::chrono::milliseconds kMemcheckDeadline{250};

// A fresh worker on the GPU takes a quarter of a second to come up, so several are kept waiting; on
// the host device a few milliseconds, so one a core is enough. One warm worker keeps a GPU busier
// than several, which take turns (bench/results: a third of the calls/s with four).
struct Crew {
  std::size_t workers;
  std::size_t spares;
  std::size_t recycle_after_plans;
};

Crew crew_for(DeviceKind device) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (device == DeviceKind::host) return {cores, cores, 200};
  if (device == DeviceKind::none) return {cores, cores, 20000};
  return {1, std::clamp<std::size_t>(cores / 2, 1, 8), 2000};
}

// With the plugins and packages that have something for the device.
exec::WorkerCommand worker_command(DeviceKind device, const Registry& registry) {
  exec::WorkerCommand command;
  command.argv = {"/proc/self/exe", "worker", "--device", std::string(name_of(device))};
  std::vector<std::filesystem::path> given;
  for (const auto& entry : registry.entries()) {
    if (registry.find(entry.spec.name, device) != &entry ||
        std::find(given.begin(), given.end(), entry.plugin) != given.end())
      continue;
    given.push_back(entry.plugin);
    command.argv.emplace_back(entry.is_package ? "--package" : "--plugin");
    command.argv.push_back(std::filesystem::absolute(entry.plugin).string());
  }
  return command;
}

// The processes of the device take what is left.
std::size_t compilers_by_cores() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

// `registry` outlives it.
std::unique_ptr<campaign::CompileAhead> make_compilers(const Registry& registry,
                                                       int compute_capability,
                                                       std::size_t compilers) {
  exec::PoolOptions pool;
  pool.command = worker_command(DeviceKind::none, registry);
  pool.command.argv.push_back("--compile-for");
  pool.command.argv.push_back(std::to_string(compute_capability));
  pool.workers = compilers;
  pool.jobs_per_worker = 1;
  pool.spares = 0;
  campaign::CompileAheadOptions options;
  options.workers = compilers;
  options.start = [pool] { return std::make_unique<exec::Pool>(pool); };
  options.knows = [&registry](const TargetSpec& spec) {
    const TargetEntry* entry = registry.find(spec.name, DeviceKind::none);
    return entry != nullptr && entry->spec.needs_nvrtc;
  };
  return std::make_unique<campaign::CompileAhead>(std::move(options));
}

std::unique_ptr<CoreDumpAttributor> make_core_dump(exec::WorkerCommand worker,
                                                   std::chrono::milliseconds deadline) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) worker.argv[0] = self.string();  // env stands between
  return std::make_unique<CoreDumpAttributor>(std::move(worker), find_tool("cuda-gdb"), deadline,
                                              [] { return interrupted(); });
}

}  // namespace

Result<SessionOptions> session_options(const po::variables_map& flags, Workload workload) {
  SessionOptions options;
  auto device = chosen_device(flags);
  if (!device) return tl::unexpected(device.error());
  options.device = *device;
  options.plugins = plugin_paths(flags);
  options.packages = package_paths(flags);
  options.workload = workload;
  auto deadline = duration_flag(flags, "deadline");
  if (!deadline) return tl::unexpected(deadline.error());
  options.deadline = *deadline;
  if (flags.count("workers") != 0) {
    options.workers = flags["workers"].as<Count>().value;
    if (*options.workers < 1 || *options.workers > 64)
      return usage_error("--workers: must be in 1..64");
  }
  if (flags.count("compilers") != 0) {
    options.compilers = flags["compilers"].as<Count>().value;
    if (*options.compilers > 64) return usage_error("--compilers: must be in 0..64");
  }
  auto sanitizer = sanitizer_flag(flags);
  if (!sanitizer) return tl::unexpected(sanitizer.error());
  options.sanitizer = *sanitizer;
  return options;
}

std::chrono::milliseconds SessionOptions::trial_deadline() const {
  return deadline.value_or(std::chrono::seconds(device == DeviceKind::cuda ? 5 : 2));
}

exec::PoolOptions pool_options(const SessionOptions& options, const Registry& registry) {
  const Crew crew = crew_for(options.device);
  exec::PoolOptions pool;
  pool.command = worker_command(options.device, registry);
  const bool replay = options.workload == Workload::replay;
  pool.workers = replay ? 0 : options.workers.value_or(crew.workers);
  pool.spares = replay ? options.workers.value_or(crew.spares) : crew.spares;
  pool.most_used = options.device == DeviceKind::cuda ? crew.spares : 0;
  pool.recycle_after_plans = crew.recycle_after_plans;
  pool.interrupted = [] { return interrupted(); };
  return pool;
}

campaign::TriageOptions triage_options(DeviceKind device, std::chrono::milliseconds deadline,
                                       std::size_t spares) {
  campaign::TriageOptions options;
  options.deadline = deadline;
  options.parallel = spares;
  options.reuse_workers = device == DeviceKind::cuda;
  options.schedules = device == DeviceKind::host;
  options.hang_deadline = std::chrono::milliseconds(device == DeviceKind::cuda ? 750 : 400);
  if (options.reuse_workers) {  // each fault costs a worker
    options.confirm_runs = 2;
    options.final_runs = 7;
    options.attribution_runs = 1;
  }
  // Nothing runs that a mode could matter to.
  if (device == DeviceKind::none) options.attribution_runs = 0;
  options.stop = [] { return interrupted(); };
  return options;
}

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->device_ = options.device;
  auto registry = Registry::load(options.plugins);
  if (!registry) return tl::unexpected(registry.error());
  if (auto added = package::add_packages(*registry, options.packages); !added)
    return tl::unexpected(added.error());
  session->registry_ = std::move(*registry);
  session->deadline_ = options.trial_deadline();
  exec::PoolOptions pool = pool_options(options, session->registry_);
  session->sanitized_ = std::make_unique<SanitizedPools>(options.device, pool.command);
  if (auto why = session->no_sanitizer(); !why.empty() && options.sanitizer != SanitizerTool::none)
    return harness_error(fmt::format("--sanitizer {}: {}", name_of(options.sanitizer), why));
  session->sanitizer_ = options.sanitizer;
  session->catalog_ = options.device == DeviceKind::none
                          ? oracles::Catalog::dry()
                          : oracles::Catalog({}, options.sanitizer, options.screen,
                                             options.device == DeviceKind::host);
  session->spares_ = pool.spares;
  if (session->device_ == DeviceKind::cuda)
    session->core_dump_ = make_core_dump(pool.command, session->deadline_);
  session->pool_ = std::make_unique<exec::Pool>(std::move(pool));
  exec::TieredOptions tiers;
  tiers.sanitized = [pools = session->sanitized_.get()](SanitizerTool tool) {
    return pools->open(tool);
  };
  tiers.interrupted = [] { return interrupted(); };
  session->tiers_ = std::make_unique<exec::TieredExecutor>(*session->pool_, std::move(tiers));
  // On the host device a bad access is caught in the act, with all that memcheck would say.
  if (options.device == DeviceKind::cuda)
    session->memcheck_ =
        std::make_unique<campaign::MemcheckAttributor>(session->no_sanitizer(), kMemcheckDeadline);
  auto hello = session->pool_->wait_ready(std::chrono::seconds(60));
  if (!hello) return tl::unexpected(hello.error());
  session->hello_ = *hello;
  const std::size_t compilers = options.compilers.value_or(compilers_by_cores());
  if (options.device == DeviceKind::cuda && options.workload == Workload::campaign &&
      compilers > 0 && !hello->nvrtc.empty()) {
    session->no_compilers_ = device::no_compiling_ahead();
    if (session->no_compilers_.empty())
      session->ahead_ = make_compilers(session->registry_, hello->compute_capability, compilers);
  }
  return session;
}

campaign::FindSpec Session::find_spec() const {
  return [this](std::string_view name) -> const TargetSpec* {
    const TargetEntry* entry = registry_.find(name, device_);
    return entry == nullptr ? nullptr : &entry->spec;
  };
}

Result<void> Session::prove_tool(SanitizerTool tool) {
  return campaign::prove_tool(*tiers_, catalog_, find_spec(), tool);
}

Result<campaign::SelfProof> Session::prove(std::optional<Allocator> only) {
  const auto begun = std::chrono::steady_clock::now();
  // First: a tool that is of no use would spoil the proofs of the oracles that ask it, too.
  const bool with_tool = sanitizer_ != SanitizerTool::none;
  if (with_tool)
    if (const auto tool = prove_tool(sanitizer_); !tool)
      return harness_error("self-proof failed: " + tool.error().message);
  campaign::SelfProofOptions options{.deadline = deadline_, .stop = [] { return interrupted(); }};
  options.seeded_schedules = device_ == DeviceKind::host;
  if (only) options.allocators = {*only};
  auto proof = campaign::prove(*tiers_, catalog_, find_spec(), options);
  if (!proof || !with_tool) return proof;
  ++proof->caught;
  proof->took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begun);
  return proof;
}

Environment Session::environment(const TargetEntry& target) const {
  auto environment =
      store::collect_environment(hello_.device, hello_.driver, hello_.compute_capability,
                                 target.spec.needs_nvrtc ? hello_.nvrtc : "", target.code_hash);
  environment.toolkit = toolkit_of(target, environment.toolkit);
  return environment;
}

campaign::TriageOptions Session::triage_options() const {
  auto options = cli::triage_options(device_, deadline_, spares_);
  if (core_dump_) options.attributors.push_back(core_dump_.get());
  if (memcheck_ != nullptr) options.attributors.push_back(memcheck_.get());
  return options;
}

Result<const TargetEntry*> Session::check(Plan& plan, std::string_view where) const {
  auto entry = registry_.require(plan.target, device_);
  if (!entry) return usage_error(fmt::format("{}: {}", where, entry.error().message));
  complete(plan, (*entry)->spec);
  if (auto valid = validate(plan, (*entry)->spec, where); !valid)
    return tl::unexpected(valid.error());
  return *entry;
}

std::optional<std::string> Session::cannot_judge(std::string_view oracle) const {
  if (catalog_.find(oracle) != nullptr || oracles::Catalog().find(oracle) == nullptr)
    return std::nullopt;
  const std::string_view needs = catalog_.is_dry()
                                     ? "kernels that run, and device {} runs none"
                                     : "schedules drawn from a seed, and device {} draws none";
  return fmt::format("the oracle '{}' needs ", oracle) +
         fmt::format(fmt::runtime(needs), name_of(device_));
}

std::optional<std::string> Session::cannot_run(const TargetSpec& spec) const {
  if (device_ != DeviceKind::cuda) return std::nullopt;
  if (spec.needs_nvrtc && hello_.nvrtc.empty()) return "NVRTC is not installed";
  return capability_problem(spec, hello_.compute_capability);
}

campaign::SimplifyFor simplify_for() {
  return [](const TargetSpec& spec) -> campaign::Simplify {
    return {[&spec](const Plan& plan) -> campaign::PlanStream {
              auto candidates =
                  std::make_shared<generators::Simplifications>(generators::simplify(plan, spec));
              return [candidates] { return candidates->next(); };
            },
            [&spec](const Plan& a, const Plan& b) { return generators::simpler(a, b, spec); }};
  };
}

}  // namespace redzone::cli
