#include "guard/core_dump.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/tool_output.h"
#include "sanitizer/cuda_gdb.h"
#include "sanitizer/fault_access.h"

namespace redzone::guard {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kGdbTime{60}, kAllGdbTime{120};
constexpr std::size_t kMostOutputBytes = std::size_t{1} << 20;
constexpr const char* kDumpName = "core.";

// Ctrl-C ends the tool, and not this process, whose report would be lost: the signal stays pending
// on this thread, the only one of this process, and is discarded at the end.
class HeldInterrupts {
 public:
  HeldInterrupts() {
    ::sigemptyset(&interrupt_);
    ::sigaddset(&interrupt_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
  }
  ~HeldInterrupts() {
    constexpr timespec kNoWait = {};
    ::sigtimedwait(&interrupt_, nullptr, &kNoWait);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  static bool any() {
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGINT) != 0;
  }

 private:
  sigset_t interrupt_, before_;
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
  const HeldInterrupts held;
  const auto end = std::chrono::steady_clock::now() + kAllGdbTime;
  for (ProcessRecord& process : processes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || HeldInterrupts::any()) return;
    const fs::path dump = process.file.parent_path() / (kDumpName + std::to_string(process.pid));
    std::error_code error;
    if (!fs::is_regular_file(dump, error)) continue;
    auto gdb = ToolOutput::start(
        sanitizer::cuda_gdb_words(cuda_gdb, sanitizer::core_dump_commands(dump.string())),
        {.time = std::min<std::chrono::milliseconds>(left, kGdbTime), .bytes = kMostOutputBytes});
    if (!gdb) return;
    gdb->wait([] { return HeldInterrupts::any(); });
    // The exit status is ignored, because cuda-gdb sometimes crashes at its end.
    complete(process, gdb->text());
  }
}

}  // namespace redzone::guard
