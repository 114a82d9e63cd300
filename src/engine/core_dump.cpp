#include "engine/core_dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "core/temporary_folder.h"
#include "core/terminal.h"
#include "exec/pool.h"
#include "sanitizer/cuda_gdb.h"

namespace redzone::engine {
namespace {

// A stuck driver must not stop a campaign.
constexpr int kGdbSeconds = 10;
constexpr std::size_t kMostOutput = 64 * 1024;

using sanitizer::kCoreDump;

Attribution dump_said(std::string detail) {
  return {.source = std::string(kCoreDump), .detail = std::move(detail)};
}

// The output of the command, until it ends or `stop` returns true. The exit status is ignored,
// because cuda-gdb sometimes crashes at its end.
std::string output_of(exec::Runner& runner, const std::string& command,
                      const std::function<bool()>& stop) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string output;
  if (!pipe) return output;
  const int fd = ::fileno(pipe.get());
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> part;
  runner.wait_until([&] {
    while (output.size() < kMostOutput) {
      const ssize_t n = ::read(fd, part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return stop && stop();
      if (n <= 0) return true;
      output.append(part.data(), static_cast<std::size_t>(n));
    }
    return true;
  });
  return output;
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
  if (stop && stop()) return {dump_said("no time was left to read the core dump")};
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return {dump_said("the driver wrote no core dump")};
  return {sanitizer::read_cuda_gdb(
      output_of(runner,
                fmt::format("timeout -s KILL {} {} -batch -ex {} 2>&1 < /dev/null", kGdbSeconds,
                            shell_quoted(cuda_gdb_), shell_quoted("target cudacore " + file)),
                [&] { return (interrupted_ && interrupted_()) || (stop && stop()); }))};
}

}  // namespace redzone::engine
