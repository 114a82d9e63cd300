#include "engine/core_dump.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/temporary_folder.h"
#include "core/tool_output.h"
#include "exec/pool.h"
#include "sanitizer/cuda_gdb.h"

namespace redzone::engine {
namespace {

// cuda-gdb is killed after this time, since a stuck driver must not stop a campaign.
constexpr ToolLimits kGdbLimits{.time = std::chrono::seconds(10), .bytes = 64 * 1024};

using sanitizer::kCoreDump;

Attribution dump_said(std::string detail) {
  return {.source = std::string(kCoreDump), .detail = std::move(detail)};
}

}  // namespace

void CoreDumpAttributor::run(exec::Runner& runner, const Plan& plan, const TrialSpec& trial,
                             const std::string& file, const std::function<bool()>& stop) const {
  exec::PoolOptions options;
  options.command.argv = {
      "/usr/bin/env", fmt::format("{}=1", sanitizer::kDumpSwitch),
      fmt::format("{}={}", sanitizer::kDumpFlagsVariable, sanitizer::kDumpFlags),
      fmt::format("{}={}", sanitizer::kDumpFileVariable, file)};
  options.command.argv.insert(options.command.argv.end(), worker_.argv.begin(), worker_.argv.end());
  options.workers = 1;
  options.spares = 0;
  options.what = "core dump worker";
  exec::Pool pool(std::move(options));
  pool.submit({.id = 0, .plan = plan, .trials = {trial}, .deadline = deadline_, .will_lose = true});
  runner.wait_until([&] {
    pool.next(std::chrono::milliseconds(0));
    return pool.in_flight() == 0 || (interrupted_ && interrupted_()) || (stop && stop());
  });
}

std::vector<Attribution> CoreDumpAttributor::attribute(exec::Runner& runner, const Plan& plan,
                                                       const TrialSpec& trial,
                                                       const Signature& signature,
                                                       const std::function<bool()>& stop) {
  const bool of_device =
      signature.kind == FailKind::illegal_access || signature.kind == FailKind::misaligned ||
      (signature.kind == FailKind::fault && signature.where.starts_with("CUDA_ERROR_"));
  if (!of_device) return {};
  if (cuda_gdb_.empty()) return {dump_said("cuda-gdb was not found")};
  const auto folder = TemporaryFolder::create("core");
  if (!folder)
    return {dump_said("no temporary folder for the core dump: " + folder.error().message)};
  const std::string file = (folder->path() / "core").string();
  run(runner, plan, trial, file, stop);
  if (interrupted_ && interrupted_())
    return {dump_said("interrupted before the core dump was read")};
  if (stop && stop()) return {dump_said("no time was left to read the core dump")};
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return {dump_said("the driver wrote no core dump")};
  const std::string command = "target cudacore " + file;
  auto gdb = ToolOutput::start(sanitizer::cuda_gdb_words(cuda_gdb_, {&command, 1}), kGdbLimits);
  if (!gdb) return {dump_said(gdb.error().message)};
  runner.wait_until(
      [&] { return gdb->is_complete() || (interrupted_ && interrupted_()) || (stop && stop()); });
  // The exit status is ignored, because cuda-gdb sometimes crashes at its end.
  Attribution said = sanitizer::read_cuda_gdb(gdb->text());
  if (!said.kernel.empty()) return {std::move(said)};
  if (interrupted_ && interrupted_())
    return {dump_said("interrupted before the core dump was read")};
  if (gdb->is_over_time()) return {dump_said("cuda-gdb did not end in time")};
  return {std::move(said)};
}

}  // namespace redzone::engine
