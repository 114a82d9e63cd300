#include "exec/fault_attribution.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <limits>

#include "core/check_failure.h"
#include "core/error.h"
#include "core/utf8.h"
#include "exec/python_frame.h"

namespace redzone::exec {

namespace {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// The box is untrusted: a call index outside the plan counts as unknown.
std::int32_t of_plan(std::int32_t call, const TrialContext& trial) {
  return call >= 0 && call < trial.calls ? call : -1;
}

// The call that the worker's host code was in when the worker ended, or whose kernel ran on the
// core.
std::int32_t call_at_death(const device::BlackBox& box, const TrialContext& trial) {
  std::int32_t call = -1;
  if (box.call_running >= 0)
    call = box.call_running;
  else if (box.call_begun != box.call_ended)
    call = box.call_begun;
  return of_plan(call, trial);
}

// The call to which a hang is attributed. On an asynchronous device several calls may be in flight:
// then the call is known only for a blocking launch, or if it is the only one so far.
std::int32_t call_of_hang(const device::BlackBox& box, const TrialContext& trial) {
  std::int32_t call = -1;
  if (box.call_running >= 0)
    call = box.call_running;
  else if (trial.launch == Launch::blocking || trial.calls == 1 ||
           box.call_begun == std::int64_t{box.call_ended} + 1)
    call = box.call_begun;
  return of_plan(call, trial);
}

template <class E>
E enumerator(std::uint32_t value, E last) {
  return value <= static_cast<std::uint32_t>(last) ? static_cast<E>(value) : E::unknown;
}

std::string with_output(std::string message, std::string_view output) {
  if (!output.empty()) message += fmt::format("; its output ends:\n{}", output);
  return message;
}

Fault fault_of(std::string code, std::int32_t call, const device::BlackBox& box) {
  Fault fault;
  fault.code = std::move(code);
  fault.call = call;
  fault.kernel = valid_utf8(box.kernel);
  return fault;
}

Fault fault_from_record(const device::BlackBox& box, const TrialContext& trial,
                        std::string_view output) {
  const device::FaultRecord& record = box.fault;
  const bool misaligned = record.valid == device::kFaultOfAlignment;
  Fault fault = fault_of(misaligned ? std::string(kMisalignedCode) : signal_name(record.signal),
                         call_at_death(box, trial), box);
  fault.buffer = valid_utf8(record.buffer);
  fault.side = enumerator(record.side, Side::inside);
  fault.access = enumerator(record.access, Access::write);
  // The smallest integer has no absolute value.
  if (record.distance_bytes != std::numeric_limits<std::int64_t>::min())
    fault.distance_bytes = record.distance_bytes;
  fault.detail = python_frame(output);
  if (fault.detail.empty())
    fault.detail =
        fmt::format("block ({}, {}, {}), thread ({}, {}, {})", record.block[0], record.block[1],
                    record.block[2], record.thread[0], record.thread[1], record.thread[2]);
  if (!fault.kernel.empty()) fault.detail += " of " + fault.kernel;
  if (fault.call >= 0) fault.known_by = "host device";
  return fault;
}

// A crash or hang while a reference runs is a mistake of the target's author, not a kernel's
// failure.
Observation reference_failed(const device::BlackBox& box, const TrialContext& trial,
                             std::string_view what) {
  const std::int32_t call = box.call_compared;
  const bool known = call >= 0 && call < trial.calls;
  return worker_error(fmt::format("the target's reference of {} {}",
                                  known ? fmt::format("call {}", call + 1) : "a call", what));
}

}  // namespace

std::string describe(const Exit& exit) {
  if (exit.signal != 0) return "was killed by " + signal_name(exit.signal);
  return fmt::format("exited with code {}", exit.code);
}

Observation observe_exit(const Exit& exit, const device::BlackBox& box, const TrialContext& trial,
                         std::string_view output) {
  Observation seen;
  const bool comparing = box.phase == device::Phase::comparing;
  if (comparing && exit.signal != SIGKILL)
    return reference_failed(box, trial,
                            with_output("ended the worker, which " + describe(exit), output));
  if (!comparing && box.fault.valid != 0 && (exit.signal != 0 || exit.code == device::kFaultExit)) {
    seen.end = End::fault;
    seen.fault = fault_from_record(box, trial, output);
    // The reason for an abort is in the output only, not in the record.
    if (box.fault.signal == SIGABRT) seen.message = with_output("the worker aborted", output);
    return seen;
  }
  seen.message = with_output("the worker " + describe(exit), output);
  switch (exit.signal) {
    case 0:
      if (exit.code == kCheckFailedExit && output.find(kCheckFailedText) != output.npos) {
        seen.end = End::worker_error;
        return seen;
      }
      seen.end = End::exited;
      seen.fault = fault_of("exit", call_at_death(box, trial), box);
      return seen;
    case SIGKILL:
      seen.end = End::out_of_memory;
      seen.message += "; nothing in the harness sent it: most likely the host is out of memory";
      return seen;
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      seen.end = End::worker_error;
      seen.message += "; it came from outside the harness";
      return seen;
    default:
      seen.end = End::fault;
      seen.fault = fault_of(signal_name(exit.signal), call_at_death(box, trial), box);
      seen.fault->detail = output;
      return seen;
  }
}

Observation observe_hang(const device::BlackBox& box, const TrialContext& trial,
                         std::chrono::milliseconds deadline) {
  if (box.phase == device::Phase::comparing)
    return reference_failed(box, trial, fmt::format("did not end within {} ms", deadline.count()));
  Observation seen;
  seen.end = End::hang;
  seen.message = fmt::format("did not end within {} ms", deadline.count());
  seen.fault = fault_of("hang", call_of_hang(box, trial), box);
  // If several calls are in flight, the kernel launched last need not be the one that hangs.
  if (seen.fault->call < 0) seen.fault->kernel.clear();
  return seen;
}

Observation worker_error(std::string message) {
  Observation seen;
  seen.end = End::worker_error;
  seen.message = std::move(message);
  return seen;
}

}  // namespace redzone::exec
