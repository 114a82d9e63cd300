// A workload without a harness around it: one process, one device, the plain allocator, inputs
// filled, calls made, one synchronization a trial.
//
// Two processes share this: the one that runs the loop and the benchmark that asks it to. They
// speak lines over a socket: "MIX MILLISECONDS\n" is answered by
// "ok PLANS TRIALS CALLS MAPPING_CALLS SECONDS\n" or "error REASON\n"; before the first of them the
// loop says "ready HASH\n", the hash of its workload. Kernels are compiled and memory is mapped in
// the first pass of each mix.
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
  async,   // one trial a plan: as written, asynchronous
  screen,  // the trials of the screen: gated as written, blocking in reverse order
};

// Answers until the other end of `socket_fd` is closed. The exit code for main().
int serve_bare_loop(int socket_fd, device::Device& device, const Registry& registry,
                    const Workload& workload, const Oracle& screen);

// The loop in a process of its own.
class BareProcess {
 public:
  // `command` ends up in serve_bare_loop() for `workload`. A harness error with the process's own
  // words when it is not ready within `deadline`.
  static Result<BareProcess> start(const exec::WorkerCommand& command, const Workload& workload,
                                   std::chrono::milliseconds deadline);

  // The whole list of plans, again and again, for at least `time`. A harness error when a plan did
  // not complete, or after `deadline`; the process is of no use then.
  Result<Tally> run(Mix mix, std::chrono::milliseconds time, std::chrono::milliseconds deadline);

 private:
  explicit BareProcess(LineProcess process) : process_(std::move(process)) {}

  LineProcess process_;
};

}  // namespace redzone::bench
