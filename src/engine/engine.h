// The environment of a command that runs trials: targets, workers on a device, oracles.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "campaign/compile_ahead.h"
#include "campaign/memcheck_attributor.h"
#include "campaign/self_proof.h"
#include "campaign/triage.h"
#include "engine/core_dump.h"
#include "engine/options.h"
#include "engine/sanitized.h"
#include "engine/site.h"
#include "exec/pool.h"
#include "exec/tiered.h"

namespace redzone::engine {

class Engine {
 public:
  // Loads the targets, starts the workers and waits for the first worker. A requested tool that is
  // unavailable is a harness error.
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options);

  const Site& site() const { return *site_; }
  // Native workers, and workers under compute-sanitizer for trials that require it.
  exec::Executor& executor() { return *tiers_; }
  std::chrono::milliseconds deadline() const { return deadline_; }
  bool interrupted() const { return interrupted_ && interrupted_(); }

  // Checks that the oracles, and the requested tool, catch planted bugs here. With `only`, uses
  // that allocator and the guard arena; otherwise all allocators.
  Result<campaign::SelfProof> prove(std::optional<Allocator> only = {});
  // Checks that the tool, which must not be none, catches a planted bug here.
  Result<void> prove_tool(SanitizerTool tool);

  campaign::TriageOptions triage_options() const;
  // Compiles kernels of upcoming plans; null if kernels are not compiled ahead.
  campaign::CompileAhead* compilers() const { return ahead_.get(); }
  // A line for people about the plans of the finished campaign that were not compiled ahead: how
  // many, or why none was. "" if all were.
  std::string not_compiled_ahead() const;

 private:
  Engine() = default;
  Result<void> start_workers(const EngineOptions& options);

  std::function<bool()> interrupted_;
  SanitizerTool sanitizer_ = SanitizerTool::none;
  Registry registry_;
  oracles::Catalog catalog_, catalog_at_once_;
  std::size_t spares_ = 1;
  std::chrono::milliseconds deadline_{2000};
  std::unique_ptr<exec::Pool> pool_;
  std::unique_ptr<CoreDumpAttributor> core_dump_;  // null if faults write no core dump
  std::unique_ptr<SanitizedPools> sanitized_;
  std::unique_ptr<exec::TieredExecutor> tiers_;
  std::unique_ptr<campaign::MemcheckAttributor> memcheck_;  // null: not for this device
  std::optional<Site> site_;
  std::unique_ptr<campaign::CompileAhead> ahead_;  // null: see compilers()
  std::string no_compilers_;  // why kernels are not compiled ahead although requested
};

}  // namespace redzone::engine
