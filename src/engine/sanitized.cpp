#include "engine/sanitized.h"

#include <fmt/format.h>

#include "core/plan_text.h"
#include "engine/tools.h"
#include "target/registry.h"

namespace redzone::engine {

std::string SanitizedPools::problem() const {
  if (!device_.tools.compute_sanitizer)
    return fmt::format("compute-sanitizer cannot check the {} device", device_.name);
  if (command_.argv.at(1) != "worker") return "workers of Python files do not run under a tool";
  if (find_tool("compute-sanitizer").empty()) return "compute-sanitizer was not found";
  return "";
}

Result<std::unique_ptr<exec::Executor>> SanitizedPools::open(SanitizerTool tool) {
  if (auto why = problem(); !why.empty()) return harness_error(std::move(why));
  if (logs_ == nullptr) {
    RZ_TRY_ASSIGN(auto logs, TemporaryFolder::create("sanitizer"));
    logs_ = std::make_unique<TemporaryFolder>(std::move(logs));
  }
  exec::PoolOptions options;
  options.command = command_;
  options.command.argv.at(1) = "sanitized-worker";
  options.command.argv.insert(options.command.argv.end(),
                              {"--sanitizer", std::string(name_of(tool)), "--compute-sanitizer",
                               find_tool("compute-sanitizer"), "--logs", logs_->path().string()});
  options.workers = 1;
  options.spares = 0;
  // The tool inspects every module when it is loaded.
  options.start_deadline = std::chrono::seconds(120);
  options.term_grace = std::chrono::seconds(1);
  options.most_failed_starts = 2;
  options.interrupted = interrupted_;
  options.what = fmt::format("{} worker", name_of(tool));
  return std::make_unique<exec::Pool>(std::move(options));
}

}  // namespace redzone::engine
