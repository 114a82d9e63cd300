// Turns a fatal signal into a fault record: which buffer, which side, how far, which thread.
//
// A bad access of a kernel is a real SIGSEGV, at native speed and with no instrumentation. The
// handler maps the address to the nearest watched buffer, writes the record into the black box (or
// one line to stderr without one), and ends the process with kFaultExit: the memory of the trial
// cannot be trusted any more. Signals in host code of a target are recorded in the same way, also
// those that end a process and that it sends to itself.
#pragma once

#include <redzone/host_thread.h>
#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/black_box.h"
#include "device/device.h"

namespace redzone::device {

// State for the handler. The device uses plain stores; a fault is handled on the same thread.
struct FaultContext {
  BlackBox* box = nullptr;
  std::vector<NamedRange> watched;      // the latest last
  FindOtherBlock find_other = nullptr;  // may be null
  const std::byte* arena_begin = nullptr;
  const std::byte* arena_end = nullptr;
  const std::byte* stacks_begin = nullptr;  // of kernel threads
  const std::byte* stacks_end = nullptr;
  const host::Thread* thread = nullptr;  // null outside a kernel
  const char* kernel = "";
  std::int32_t call = -1;                   // of the kernel
  const std::byte* shared_begin = nullptr;  // dynamic shared memory of the running block
  const std::byte* shared_end = nullptr;

  // What runs from now on, until end_kernel(): it stays in the black box if it does not return.
  // `name` must live as long.
  void begin_kernel(const char* name, std::int32_t of_call);
  void end_kernel();
};

// Installs the handlers for its lifetime. If a process has several, the latest one handles, and
// they must be destroyed in reverse order. The alternate stack is that of the constructing thread.
class FaultHandler {
 public:
  explicit FaultHandler(const FaultContext& context);
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

 private:
  std::unique_ptr<std::byte[]> stack_;
  const FaultContext* old_context_;
  pid_t old_process_;  // whose faults the outer device records
  stack_t old_stack_ = {};
  std::vector<struct sigaction> old_, old_own_;
};

}  // namespace redzone::device
