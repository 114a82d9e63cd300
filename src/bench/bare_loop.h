// Runs a workload without a harness: one process, one device, the plain allocator; fills inputs,
// makes calls, and synchronizes once per trial.
//
// The benchmark and the process that runs the loop exchange lines over a socket. The answer to the
// request "MIX MILLISECONDS\n" is "ok PLANS TRIALS CALLS MAPPING_CALLS SECONDS\n" or "error
// REASON\n"; to "phases MILLISECONDS\n" it is phases_line(). Before the first request the loop
// sends "ready HASH\n" with the hash of its workload. The first pass of each mix compiles kernels
// and maps memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/line_process.h"
#include "bench/report.h"
#include "bench/workload.h"
#include "device/device.h"

namespace redzone::bench {

enum class Mix : std::uint8_t {
  async,   // one trial per plan: as written, asynchronous
  screen,  // the trials of the screen: gated as written, blocking in reverse order
  // As many launches as in each trial of `async`, but of a kernel that does nothing, and one
  // synchronization: the lower bound
  launches,
};

// The trials of a plan in this loop: plain memory, no reference.
std::vector<TrialSpec> bare_trials(const Plan& plan, const TargetSpec& spec, const Oracle& screen,
                                   Mix mix);

// Answers requests until the other end of `socket_fd` is closed. Returns the exit code for main().
int serve_bare_loop(int socket_fd, device::Device& device, const Registry& registry,
                    const Workload& workload, const Oracle& screen);

// Runs the loop in a separate process.
class BareProcess {
 public:
  // `command` must run serve_bare_loop() for `workload`. Returns a harness error with the process's
  // output if it is not ready within `deadline`.
  static Result<BareProcess> start(const exec::WorkerCommand& command, const Workload& workload,
                                   std::chrono::milliseconds deadline);

  // Runs the whole list of plans repeatedly for at least `time`. Returns a harness error if a plan
  // did not complete, or after `deadline`; the process is then unusable.
  Result<Tally> run(Mix mix, std::chrono::milliseconds time, std::chrono::milliseconds deadline);
  // See measure_phases().
  Result<std::vector<PhaseColumn>> phases(std::chrono::milliseconds time,
                                          std::chrono::milliseconds deadline);

 private:
  explicit BareProcess(LineProcess process) : process_(std::move(process)) {}

  LineProcess process_;
};

}  // namespace redzone::bench
