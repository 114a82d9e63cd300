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

// Ctrl-C must end cuda-gdb but not this process, whose report would be lost. cuda-gdb is in another
// process group and does not get the signal. The signal stays pending here, any() sees it, and the
// destructor discards it. Correct only in a process with one thread. An ignored signal stays
// ignored.
class HeldInterrupts {
 public:
  HeldInterrupts() {
    struct sigaction action = {};
    ::sigaction(SIGINT, nullptr, &action);
    held_ = action.sa_handler != SIG_IGN;
    ::sigemptyset(&interrupt_);
    ::sigaddset(&interrupt_, SIGINT);
    if (held_) ::pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
  }
  ~HeldInterrupts() {
    if (!held_) return;
    constexpr timespec kNoWait = {};
    ::sigtimedwait(&interrupt_, nullptr, &kNoWait);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  bool any() const {
    sigset_t pending;
    ::sigpending(&pending);
    return held_ && ::sigismember(&pending, SIGINT) != 0;
  }

 private:
  bool held_ = false;
  sigset_t interrupt_ = {}, before_ = {};
};

// The first error of the device in the process; null if it has none.
Finding* device_error_of(ProcessRecord& process) {
  const auto error =
      std::find_if(process.findings.begin(), process.findings.end(),
                   [](const Finding& f) { return f.kind == FindingKind::device_error; });
  return error == process.findings.end() ? nullptr : &*error;
}

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
  Finding* const error = device_error_of(process);
  if (error == nullptr) return;
  const Attribution said = sanitizer::read_cuda_gdb(output);
  error->exception = said.detail;
  error->kernel = said.kernel;
  error->location = said.location;
  if (said.kernel.empty()) return;
  const auto is_named = [&](const KernelLaunch& launch) {
    return sanitizer::bare_kernel(launch.kernel) == said.kernel;
  };
  // With core dumps the driver may have reported the launch as completed; then it is in `launches`.
  for (const auto* launches : {&process.unfinished, &process.launches}) {
    // A launch that is no longer recorded may have had this kernel, too.
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

bool read_core_dumps(std::vector<ProcessRecord>& processes, const std::string& cuda_gdb) {
  if (cuda_gdb.empty()) return true;
  const HeldInterrupts held;
  const auto end = std::chrono::steady_clock::now() + kAllGdbTime;
  for (ProcessRecord& process : processes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    const fs::path dump = process.file.parent_path() / (kDumpName + std::to_string(process.pid));
    std::error_code error;
    if (!fs::is_regular_file(dump, error)) continue;
    auto gdb = ToolOutput::start(
        sanitizer::cuda_gdb_words(cuda_gdb, sanitizer::core_dump_commands(dump.string())),
        {.time = std::min<std::chrono::milliseconds>(left, kGdbTime), .bytes = kMostOutputBytes});
    if (gdb) gdb->wait([&] { return held.any(); });
    if (held.any()) return false;
    // The exit status is ignored, because cuda-gdb sometimes crashes at its end.
    if (gdb) complete(process, gdb->text());
    Finding* const found = device_error_of(process);
    if (found == nullptr || !found->kernel.empty()) continue;
    if (!gdb) found->exception = gdb.error().message;
    if (gdb && gdb->is_over_time()) found->exception = "cuda-gdb did not end in time";
  }
  return true;
}

}  // namespace redzone::guard
