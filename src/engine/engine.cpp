#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "campaign/tool_proof.h"
#include "core/log.h"
#include "core/plan_text.h"
#include "device/variant_hook.h"
#include "engine/tools.h"

namespace redzone::engine {
namespace {

// A finding should be attributed within ten seconds; the deadline under the tool is twenty times
// this value.
constexpr std::chrono::milliseconds kMemcheckDeadline{250};

// The dry-run device requests the same kernels and needs no GPU.
constexpr DeviceKind kCompileOn = DeviceKind::dry_run;

// Half of the cores: the processes of the device use the others.
std::size_t compilers_by_cores() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

// `registry` outlives the result.
std::unique_ptr<campaign::CompileAhead> make_compilers(const Registry& registry,
                                                       int compute_capability,
                                                       std::size_t compilers) {
  exec::PoolOptions pool;
  pool.command = own_worker_command(kCompileOn, registry);
  pool.command.argv.push_back("--compile-for");
  pool.command.argv.push_back(std::to_string(compute_capability));
  pool.workers = compilers;
  pool.jobs_per_worker = 1;
  pool.spares = 0;
  pool.what = "compile worker";
  campaign::CompileAheadOptions options;
  options.workers = compilers;
  options.start = [pool] { return std::make_unique<exec::Pool>(pool); };
  options.knows = [&registry](const TargetSpec& spec) {
    const TargetEntry* entry = registry.find(spec.name, kCompileOn);
    return entry != nullptr && entry->spec.needs_nvrtc;
  };
  return std::make_unique<campaign::CompileAhead>(std::move(options));
}

std::unique_ptr<CoreDumpAttributor> make_core_dump(exec::WorkerCommand worker,
                                                   std::chrono::milliseconds deadline,
                                                   std::function<bool()> interrupted) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) worker.argv[0] = self.string();  // absolute, since env starts the worker
  return std::make_unique<CoreDumpAttributor>(std::move(worker), find_tool("cuda-gdb"), deadline,
                                              std::move(interrupted));
}

oracles::Catalog catalog_with(const EngineOptions& options, std::vector<ModeAxis> axes) {
  if (!traits_of(options.device).execution.runs_kernels) return oracles::Catalog::dry();
  return oracles::Catalog({}, options.sanitizer, options.screen, std::move(axes));
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options) {
  std::unique_ptr<Engine> engine(new Engine);
  engine->interrupted_ = options.interrupted;
  RZ_TRY_ASSIGN(auto registry, load_targets(options));
  engine->registry_ = std::move(registry);
  engine->deadline_ = options.trial_deadline();
  engine->sanitizer_ = options.sanitizer;
  auto axes = mode_axes_with(traits_of(options.device).execution.seed_decides);
  engine->catalog_ = catalog_with(options, axes);
  engine->catalog_at_once_ = catalog_with(options, mode_axes_at_once(std::move(axes)));
  RZ_TRY(engine->start_workers(options));
  const exec::Hello& worker = engine->site().worker();
  const std::size_t compilers = options.compilers.value_or(compilers_by_cores());
  if (traits_of(options.device).targets.needs_nvrtc && options.workload == Workload::campaign &&
      compilers > 0 && !worker.nvrtc.empty()) {
    engine->no_compilers_ = device::no_compiling_ahead();
    if (engine->no_compilers_.empty())
      engine->ahead_ = make_compilers(engine->registry_, worker.compute_capability, compilers);
  }
  return engine;
}

Result<void> Engine::start_workers(const EngineOptions& options) {
  const DeviceTraits& device = traits_of(options.device);
  exec::PoolOptions pool = pool_options(options, registry_);
  sanitized_ = std::make_unique<SanitizedPools>(device, pool.command, options.interrupted);
  if (options.sanitizer != SanitizerTool::none)
    if (const std::string no_tool = sanitized_->problem(options.sanitizer); !no_tool.empty())
      return harness_error(fmt::format("--{} {}: {}",
                                       is_check(options.sanitizer) ? "checks" : "sanitizer",
                                       name_of(options.sanitizer), no_tool));
  spares_ = pool.spares;
  const std::size_t warm = pool.workers;
  if (device.tools.core_dumps && !has_python(registry_))
    core_dump_ = make_core_dump(pool.command, deadline_, options.interrupted);
  const auto start_deadline = pool.start_deadline;
  pool_ = std::make_unique<exec::Pool>(std::move(pool));
  exec::TieredOptions tiers;
  tiers.sanitized = [pools = sanitized_.get()](SanitizerTool tool) { return pools->open(tool); };
  tiers.interrupted = options.interrupted;
  tiers_ = std::make_unique<exec::TieredExecutor>(*pool_, std::move(tiers));
  // Other devices catch a bad access directly, and report everything that memcheck would report.
  if (device.tools.compute_sanitizer)
    memcheck_ = std::make_unique<campaign::MemcheckAttributor>(
        sanitized_->problem(SanitizerTool::memcheck), kMemcheckDeadline);
  RZ_TRY_ASSIGN(auto hello, pool_->wait_ready(2 * start_deadline));
  log::info("engine: device {}, {} warm workers", hello.device, warm);
  site_.emplace(
      options.device, registry_, catalog_, std::move(hello),
      [pools = sanitized_.get()](SanitizerTool tool) { return pools->problem(tool); },
      &catalog_at_once_);
  return {};
}

Result<void> Engine::prove_tool(SanitizerTool tool) {
  return campaign::prove_tool(*tiers_, catalog_, site().find_spec(), tool);
}

Result<campaign::SelfProof> Engine::prove(std::optional<Allocator> only) {
  const auto begun = std::chrono::steady_clock::now();
  // Prove the tool first, because a useless tool would invalidate the proofs of the oracles that
  // depend on it.
  const bool with_tool = sanitizer_ != SanitizerTool::none;
  if (with_tool)
    if (const auto tool = prove_tool(sanitizer_); !tool)
      return harness_error("self-proof failed: " + tool.error().message);
  campaign::SelfProofOptions options{.deadline = deadline_, .stop = interrupted_};
  options.seeded_schedules = site().traits().execution.seed_decides == SeedDecides::interleaving;
  if (only) options.allocators = {*only};
  auto proof = campaign::prove(*tiers_, catalog_, site().find_spec(), options);
  if (!proof || !with_tool) return proof;
  ++proof->caught;
  proof->took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begun);
  return proof;
}

campaign::TriageOptions Engine::triage_options() const {
  auto options = engine::triage_options(site().traits(), deadline_, spares_, has_python(registry_),
                                        interrupted_);
  options.spec_calls = site().registry().spec_calls();
  if (core_dump_) options.attributors.push_back(core_dump_.get());
  if (memcheck_ != nullptr) options.attributors.push_back(memcheck_.get());
  return options;
}

std::string Engine::not_compiled_ahead() const {
  if (!no_compilers_.empty()) return fmt::format("no kernel was compiled ahead: {}", no_compilers_);
  if (ahead_ == nullptr || ahead_->failures().plans == 0) return "";
  return fmt::format("{} plans were not, or only partly, compiled ahead; the first: {}",
                     ahead_->failures().plans, ahead_->failures().why);
}

}  // namespace redzone::engine
