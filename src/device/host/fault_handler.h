// Turns a fatal signal into a fault record: which buffer, which side, how far, which thread.
//
// A bad access of a kernel is a real SIGSEGV, at native speed and without instrumentation. The
// handler maps the address to the nearest watched buffer, writes the record into the black box
// (without a black box, one line to stderr), and ends the process with kFaultExit, because the
// memory of the trial cannot be trusted any more. Signals in host code of a target are recorded in
// the same way, and so are termination signals that the process sends to itself.
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

// State for the handler. The device uses plain stores, because a fault is handled on the same
// thread.
struct FaultContext {
  BlackBox* box = nullptr;
  std::vector<NamedRange> watched;      // in the order of naming
  FindOtherBlock find_other = nullptr;  // may be null
  const std::byte* arena_begin = nullptr;
  const std::byte* arena_end = nullptr;
  const std::byte* stacks_begin = nullptr;  // stacks of kernel threads
  const std::byte* stacks_end = nullptr;
  const host::Thread* thread = nullptr;  // null outside a kernel
  const char* kernel = "";
  std::int32_t call = -1;                   // call of the kernel
  const std::byte* shared_begin = nullptr;  // dynamic shared memory of the running block
  const std::byte* shared_end = nullptr;

  // Records the kernel that runs from now on until end_kernel(). If the kernel does not return, the
  // record stays in the black box. `name` must live until end_kernel().
  void begin_kernel(const char* name, std::int32_t of_call);
  void end_kernel();
};

// Remembers where the stack of the calling thread ends, so that an overflow of it is recorded as
// one. FaultHandler does so for the thread that constructs it.
void note_stack_of_thread();

// Installs the handlers for its lifetime. If a process has several, the latest one handles, and
// they must be destroyed in reverse order. The alternate stack is set for the constructing thread.
class FaultHandler {
 public:
  explicit FaultHandler(const FaultContext& context);
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

 private:
  std::unique_ptr<std::byte[]> stack_;
  const FaultContext* old_context_;
  pid_t old_process_;  // the process whose faults the outer handler records
  stack_t old_stack_ = {};
  std::vector<struct sigaction> old_, old_own_;
};

}  // namespace redzone::device
