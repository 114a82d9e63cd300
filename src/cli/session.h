// What a command that runs something needs: targets, workers on a device, oracles.
#pragma once

#include <memory>

#include "campaign/compile_ahead.h"
#include "campaign/memcheck_attributor.h"
#include "campaign/self_proof.h"
#include "campaign/tool_proof.h"
#include "campaign/triage.h"
#include "cli/core_dump.h"
#include "cli/flags.h"
#include "cli/sanitized.h"
#include "exec/pool.h"
#include "exec/tiered.h"
#include "oracles/catalog.h"
#include "target/registry.h"

namespace redzone::cli {

enum class Workload {
  campaign,  // warm workers and spares
  replay,    // spares only
};

struct SessionOptions {
  DeviceKind device = DeviceKind::host;
  std::vector<std::filesystem::path> plugins;
  Workload workload = Workload::replay;
  std::optional<std::chrono::milliseconds> deadline;  // of a trial; absent: by device
  // Warm workers, or for a replay those that run at a time; absent: by device and cores.
  std::optional<std::size_t> workers;
  // Of a campaign on CUDA: processes that compile kernels of plans to come; absent: by cores.
  std::optional<std::size_t> compilers = {};
  // What trials run under besides; none: the tools are there for what asks for one.
  SanitizerTool sanitizer = SanitizerTool::none;
  oracles::ScreenOptions screen = {};
  std::vector<std::filesystem::path> packages = {};  // folders

  std::chrono::milliseconds trial_deadline() const;
};

// From --device, --plugin, --deadline and --workers, and --sanitizer and --compilers where the
// command has them.
Result<SessionOptions> session_options(const po::variables_map& flags, Workload workload);

// The crew of such a session. `registry` says which plugins have something for the device.
exec::PoolOptions pool_options(const SessionOptions& options, const Registry& registry);
// Of a campaign with that deadline of a trial and so many spare workers.
campaign::TriageOptions triage_options(DeviceKind device, std::chrono::milliseconds deadline,
                                       std::size_t spares);

class Session {
 public:
  // Loads the targets, starts the workers and waits for the first. A tool that is asked for and
  // cannot be had is a harness error.
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options);

  DeviceKind device() const { return device_; }
  const Registry& registry() const { return registry_; }
  const oracles::Catalog& catalog() const { return catalog_; }
  // Native workers, and those under compute-sanitizer for trials that ask for it.
  exec::Executor& executor() { return *tiers_; }
  // Why there is no compute-sanitizer here; "" where there seems to be one.
  std::string no_sanitizer() const { return sanitized_->problem(); }
  const exec::Hello& hello() const { return hello_; }
  std::chrono::milliseconds deadline() const { return deadline_; }

  // Shows that planted bugs are caught here, by the tool that was asked for, too; over `only` that
  // allocator beside the guard arena, or over all of them.
  Result<campaign::SelfProof> prove(std::optional<Allocator> only = {});
  // Shows that the tool, which is not none, catches a planted bug here.
  Result<void> prove_tool(SanitizerTool tool);

  Environment environment(const TargetEntry& target) const;
  campaign::TriageOptions triage_options() const;
  // Compiles kernels of plans to come; null where there is nothing to compile.
  campaign::CompileAhead* compilers() const { return ahead_.get(); }
  // Why nothing is, where it is wanted; "" elsewhere.
  const std::string& no_compilers() const { return no_compilers_; }

  // The target of `plan` on this device, with the plan completed and checked against it.
  Result<const TargetEntry*> check(Plan& plan, std::string_view where) const;
  // Why the oracle cannot judge on this device, if it cannot: it needs kernels that run.
  std::optional<std::string> cannot_judge(std::string_view oracle) const;
  // Why the target cannot run on this device, if it cannot.
  std::optional<std::string> cannot_run(const TargetSpec& spec) const;

 private:
  Session() = default;

  campaign::FindSpec find_spec() const;

  DeviceKind device_ = DeviceKind::host;
  SanitizerTool sanitizer_ = SanitizerTool::none;
  Registry registry_;
  oracles::Catalog catalog_;
  std::size_t spares_ = 1;
  std::chrono::milliseconds deadline_{2000};
  std::unique_ptr<exec::Pool> pool_;
  std::unique_ptr<CoreDumpAttributor> core_dump_;  // on CUDA
  std::unique_ptr<SanitizedPools> sanitized_;
  std::unique_ptr<exec::TieredExecutor> tiers_;
  std::unique_ptr<campaign::MemcheckAttributor> memcheck_;  // null on the host device
  exec::Hello hello_;
  std::unique_ptr<campaign::CompileAhead> ahead_;  // null: see compilers()
  std::string no_compilers_;
};

campaign::SimplifyFor simplify_for();

}  // namespace redzone::cli
