#include "exec/fault_attribution.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <limits>

#include "core/check_failure.h"
#include "core/error.h"
#include "core/host_place.h"
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

// True in the target's constructor or destructor.
bool outside_calls(const device::BlackBox& box) {
  return box.phase == device::Phase::constructing || box.phase == device::Phase::destroying;
}

// The place in the target's host code; "" if it is unknown, or if a kernel runs.
std::string_view host_place(const device::BlackBox& box) {
  switch (box.phase) {
    case device::Phase::constructing:
      return kInConstructor;
    case device::Phase::destroying:
      return kInDestructor;
    case device::Phase::running:
      return box.kernel[0] == '\0' && box.call_begun != box.call_ended ? kInRun : "";
    default:
      return "";
  }
}

// The call whose host code the worker was in when it ended, or whose kernel ran on the host
// device's core.
std::int32_t call_at_death(const device::BlackBox& box, const TrialContext& trial) {
  std::int32_t call = -1;
  if (outside_calls(box)) return call;
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
  if (outside_calls(box)) return call;
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
  if (!outside_calls(box)) fault.kernel = valid_utf8(box.kernel);
  fault.detail = host_place(box);
  return fault;
}

Fault fault_from_record(const device::BlackBox& box, const TrialContext& trial,
                        std::string_view output) {
  const device::FaultRecord& record = box.fault;
  const bool misaligned = (record.valid & device::kFaultOfAlignment) != 0;
  const bool in_thread = (record.valid & device::kFaultOfHostCode) == 0;
  Fault fault = fault_of(misaligned ? std::string(kMisalignedCode) : signal_name(record.signal),
                         call_at_death(box, trial), box);
  fault.buffer = valid_utf8(record.buffer);
  fault.side = enumerator(record.side, Side::inside);
  fault.access = enumerator(record.access, Access::write);
  // The smallest integer has no absolute value.
  if (record.distance_bytes != std::numeric_limits<std::int64_t>::min())
    fault.distance_bytes = record.distance_bytes;
  if (auto frame = python_frame(output); !frame.empty())
    fault.detail = std::move(frame);
  else if (in_thread)
    fault.detail =
        fmt::format("block ({}, {}, {}), thread ({}, {}, {})", record.block[0], record.block[1],
                    record.block[2], record.thread[0], record.thread[1], record.thread[2]);
  if (!fault.kernel.empty()) fault.detail += (fault.detail.empty() ? "in " : " of ") + fault.kernel;
  if (fault.call >= 0) fault.known_by = "host device";
  return fault;
}

// The message does not name the call, so that plans that could not be judged for the same reason
// are counted together.
std::string of_reference(const TrialContext& trial, std::string_view what) {
  return fmt::format("target '{}': reference() {}", trial.target, what);
}

Observation mistake_of_reference(const TrialContext& trial, std::string_view what,
                                 std::string_view output) {
  Observation seen;
  seen.end = End::spec_error;
  seen.message = with_output(of_reference(trial, what), output);
  return seen;
}

// The observation if a reference ended the worker: a mistake of the target's author, like a
// reference that throws. Nullopt if a signal from outside ended the worker.
std::optional<Observation> reference_crashed(const Exit& exit, const device::BlackBox& box,
                                             const TrialContext& trial, std::string_view output) {
  std::string how = "ended the worker, which " + describe(exit);
  switch (exit.signal) {
    case 0:
      if (box.fault.valid != 0 && exit.code == device::kFaultExit)
        how = "crashed with " + signal_name(box.fault.signal);
      break;
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return std::nullopt;  // sent from outside
    default:
      how = "crashed with " + signal_name(exit.signal);
  }
  return mistake_of_reference(trial, how, output);
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
  const bool check_failed = exit.signal == 0 && exit.code == kCheckFailedExit &&
                            output.find(kCheckFailedText) != output.npos;
  if (comparing && !check_failed)
    if (auto crashed = reference_crashed(exit, box, trial, output)) return *std::move(crashed);
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
      if (check_failed) {
        seen.end = End::worker_error;
        return seen;
      }
      seen.end = End::exited;
      seen.fault = fault_of("exit", call_at_death(box, trial), box);
      return seen;
    case SIGKILL:
      if (exit.out_of_memory) {
        seen.end = End::out_of_memory;
        seen.message += "; most likely the kernel killed it for lack of memory";
        return seen;
      }
      if (!comparing) break;  // if another process sent it, the failure does not recur
      [[fallthrough]];
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      seen.end = End::worker_error;
      seen.message += "; nothing in the harness sent it";
      return seen;
    default:
      break;
  }
  seen.end = End::fault;
  seen.fault = fault_of(signal_name(exit.signal), call_at_death(box, trial), box);
  if (!outside_calls(box) && !output.empty()) seen.fault->detail = output;
  return seen;
}

Observation observe_hang(const device::BlackBox& box, const TrialContext& trial,
                         std::chrono::milliseconds deadline) {
  if (box.phase == device::Phase::comparing)
    return mistake_of_reference(trial, fmt::format("did not end within {} ms", deadline.count()),
                                "");
  // Memory has been allocated and fills have been enqueued, but no call of the target has begun.
  // Work that the target's constructor enqueued may delay the fills.
  if (!trial.under_tool && box.phase == device::Phase::preparing && box.call_begun < 0)
    return worker_error(
        fmt::format("target '{}': its tensors were not filled within {} ms of "
                    "its constructor",
                    trial.target, deadline.count()));
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
