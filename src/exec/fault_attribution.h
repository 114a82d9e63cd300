// Fault attribution for a worker that died or hangs: the observation of its current trial.
//
// Pure functions of the exit status and the black box of the process. The contents of the box are
// untrusted.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/trial.h"
#include "device/black_box.h"

namespace redzone::exec {

// How a process ended: by a signal (then `code` is 0) or by itself.
struct Exit {
  int signal = 0;
  int code = 0;
  // It was killed by SIGKILL, and the kernel has killed a process for lack of memory since it
  // started, most likely this one, or does not count such processes.
  bool out_of_memory = false;
};

// The facts about the trial that attribution needs.
struct TrialContext {
  Launch launch = Launch::async;
  std::int32_t calls = 0;  // of the plan; call indices of the black box outside [0, calls) are
                           // ignored
  std::string_view target = {};
  bool under_tool = false;  // runs under a tool, which may take long, or hang, by itself
};

// "exited with code 3", "was killed by SIGSEGV".
std::string describe(const Exit& exit);

// The observation if the worker ended inside the trial. `output` is the tail of the worker's
// output.
//   device::kFaultExit, or a signal, with a valid fault record   fault, from the record
//   a signal that is not listed below                            fault, code = name of the signal
//   SIGKILL for lack of memory (Exit::out_of_memory)             out_of_memory
//   SIGKILL while the reference runs                             worker_error
//   SIGTERM, SIGINT, SIGHUP without a record                     worker_error
//   a failed RZ_CHECK (its exit code and text)                   worker_error
//   exit(n)                                                      exited
// While the target's reference runs, any end that the reference may have caused is a spec_error. In
// the target's constructor, destructor and run(), outside kernels, the fault's detail names the
// place (core/host_place.h).
Observation observe_exit(const Exit& exit, const device::BlackBox& box, const TrialContext& trial,
                         std::string_view output);

// The observation if the deadline passed: a hang, a spec_error while a reference runs, or, without
// a tool, a worker_error before the first call. `box` must have been read before the worker was
// terminated.
Observation observe_hang(const device::BlackBox& box, const TrialContext& trial,
                         std::chrono::milliseconds deadline);

Observation worker_error(std::string message);

}  // namespace redzone::exec
