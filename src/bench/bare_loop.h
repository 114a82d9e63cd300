// A workload without a harness: one process, one device, the plain allocator, inputs filled, calls
// made, one synchronization per trial.
//
// The process that runs the loop and the benchmark exchange lines over a socket: each request "MIX
// MILLISECONDS\n" is answered by "ok PLANS TRIALS CALLS MAPPING_CALLS SECONDS\n" or "error
// REASON\n"; "phases MILLISECONDS\n" by phases_line(); before the first request the loop sends
// "ready HASH\n", the hash of its workload. Kernels are compiled and memory is mapped in the first
// pass of each mix.
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
  async,     // one trial per plan: as written, asynchronous
  screen,    // the trials of the screen: gated as written, blocking in reverse order
  launches,  // as many launches as in each trial of `async`, of a kernel that does nothing, and one
             // synchronization: the floor
};

// The trials of a plan in such a loop: plain memory, no reference.
std::vector<TrialSpec> bare_trials(const Plan& plan, const TargetSpec& spec, const Oracle& screen,
                                   Mix mix);

// Answers requests until the other end of `socket_fd` is closed. Returns the exit code for main().
int serve_bare_loop(int socket_fd, device::Device& device, const Registry& registry,
                    const Workload& workload, const Oracle& screen);

// The loop in its own process.
class BareProcess {
 public:
  // `command` must run serve_bare_loop() for `workload`. A harness error with the process's output
  // if it is not ready within `deadline`.
  static Result<BareProcess> start(const exec::WorkerCommand& command, const Workload& workload,
                                   std::chrono::milliseconds deadline);

  // Runs the whole list of plans repeatedly for at least `time`. A harness error if a plan did not
  // complete, or after `deadline`; the process is unusable then.
  Result<Tally> run(Mix mix, std::chrono::milliseconds time, std::chrono::milliseconds deadline);
  // See measure_phases().
  Result<std::vector<PhaseColumn>> phases(std::chrono::milliseconds time,
                                          std::chrono::milliseconds deadline);

 private:
  explicit BareProcess(LineProcess process) : process_(std::move(process)) {}

  LineProcess process_;
};

}  // namespace redzone::bench
