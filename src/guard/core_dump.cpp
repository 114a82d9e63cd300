#include "guard/core_dump.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/terminal.h"
#include "sanitizer/cuda_gdb.h"
#include "sanitizer/fault_access.h"

namespace redzone::guard {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kGdbTime{60}, kAllGdbTime{120};
constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr const char* kDumpName = "core.";

// Its exit status is ignored, because cuda-gdb sometimes crashes at its end.
std::string output_of_gdb(const std::string& cuda_gdb, const fs::path& dump,
                          std::chrono::seconds limit) {
  std::string command =
      fmt::format("timeout -s KILL {} {} -nx -batch", limit.count(), shell_quoted(cuda_gdb));
  for (const std::string& one : sanitizer::core_dump_commands(dump.string()))
    command += " -ex " + shell_quoted(one);
  // Nothing of it is guarded.
  command = "env -u LD_PRELOAD " + command + " 2>&1 < /dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string out;
  std::array<char, 4096> part;
  for (std::size_t n = 0; pipe && out.size() < kMostOutput &&
                          (n = std::fread(part.data(), 1, part.size(), pipe.get())) != 0;)
    out.append(part.data(), n);
  return out;
}

// Ctrl-C ends the tool, which gets it as well, and not this process, whose report would be lost.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    struct sigaction nothing = {};
    nothing.sa_handler = [](int) {};  // unlike SIG_IGN, not inherited by the tool
    nothing.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &nothing, &before_);
  }
  ~WithoutInterrupts() { ::sigaction(SIGINT, &before_, nullptr); }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;

 private:
  struct sigaction before_ = {};
};

Access access_of(redzone::Access access) {
  return access == redzone::Access::read    ? Access::read
         : access == redzone::Access::write ? Access::write
                                            : Access::unknown;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> dump_environment(const fs::path& folder) {
  for (const char* const name :
       {sanitizer::kDumpSwitch, sanitizer::kDumpFlagsVariable, sanitizer::kDumpFileVariable})
    if (std::getenv(name) != nullptr) return {};
  return {{sanitizer::kDumpSwitch, "1"},
          {sanitizer::kDumpFlagsVariable, std::string(sanitizer::kDumpFlags) + ",skip_abort"},
          {sanitizer::kDumpFileVariable, (folder / kDumpName).string() + "%p"}};
}

void complete(ProcessRecord& process, const std::string& output) {
  const auto error =
      std::find_if(process.findings.begin(), process.findings.end(),
                   [](const Finding& f) { return f.kind == FindingKind::device_error; });
  if (error == process.findings.end()) return;
  const Attribution said = sanitizer::read_cuda_gdb(output);
  error->exception = said.detail;
  error->kernel = said.kernel;
  error->location = said.location;
  if (said.kernel.empty()) return;
  const auto is_named = [&](const KernelLaunch& launch) {
    return sanitizer::bare_kernel(launch.kernel) == said.kernel;
  };
  // With core dumps the driver may have told that the launch has completed: then it is among the
  // last.
  for (const auto* launches : {&process.unfinished, &process.launches}) {
    // One that is not known any more may be of that name, too.
    if (error->launch.ordinal != 0 || process.unfinished_lost != 0) break;
    if (std::count_if(launches->begin(), launches->end(), is_named) == 1)
      error->launch = *std::find_if(launches->begin(), launches->end(), is_named);
  }
  const auto access = sanitizer::read_fault_access(output);
  error->instruction = access.instruction;
  error->access = access_of(access.access);
  if (!access.address) return;
  error->address = *access.address;
  if (auto near = neighbour_of(process, error->address)) {
    error->block = near->block;
    error->side = near->side;
    error->distance_bytes = near->distance_bytes;
    error->allocated = std::move(near->allocated);
    error->freed = std::move(near->freed);
    error->python_allocated = std::move(near->python_allocated);
    error->python_freed = std::move(near->python_freed);
  }
}

void read_core_dumps(std::vector<ProcessRecord>& processes, const std::string& cuda_gdb) {
  if (cuda_gdb.empty()) return;
  const WithoutInterrupts guard;
  const auto end = std::chrono::steady_clock::now() + kAllGdbTime;
  for (ProcessRecord& process : processes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::seconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const fs::path dump = process.file.parent_path() / (kDumpName + std::to_string(process.pid));
    std::error_code error;
    if (fs::is_regular_file(dump, error))
      complete(process, output_of_gdb(cuda_gdb, dump, std::min(left, kGdbTime)));
  }
}

}  // namespace redzone::guard
