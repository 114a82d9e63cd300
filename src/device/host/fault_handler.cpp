#include "device/host/fault_handler.h"

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/near_fault.h"
#include "core/page.h"
#include "core/signal_line.h"
#include "core/trial.h"
#include "device/host/vector_access.h"

namespace redzone::device {

namespace {

// The only globals of the host device; needed because a signal handler receives no user argument.
const FaultContext* g_context = nullptr;
pid_t g_process = 0;  // the process whose faults are recorded; not a child that it forks

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
// Signals that are faults if the process sends them to itself and has no other handler for them.
constexpr int kOwnSignals[] = {SIGTERM, SIGINT, SIGHUP};
struct sigaction g_earlier[std::size(kSignals)] = {};  // handlers that were installed before the
                                                       // first FaultHandler
constexpr std::size_t kSignalStackBytes = 64 * 1024;

// The lowest address of this thread's own stack, which ends there at memory that faults; 0 if it
// is not known. This model of thread-local storage does not allocate at first use, which may be in
// the handler.
thread_local constinit std::uintptr_t t_stack_bottom __attribute__((tls_model("initial-exec"))) = 0;

// A frame may be larger than the memory that faults below a stack.
constexpr std::uintptr_t kMostFrameBytes = std::uintptr_t{64} << 20;

std::uintptr_t number(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

bool within(std::uintptr_t address, const void* begin, const void* end) {
  return address >= number(begin) && address < number(end);
}

struct Nearest {
  const char* name = "";
  Side side = Side::unknown;
  std::uintptr_t distance = UINTPTR_MAX;
};

// Distances count from 1: the first byte after a buffer is 1 byte after it.
Nearest seen_from(const char* name, std::uintptr_t address, const void* begin, const void* end) {
  if (address < number(begin)) return {name, Side::before, number(begin) - address};
  if (address >= number(end)) return {name, Side::after, address - number(end) + 1};
  return {name, Side::inside, 0};
}

// Whether an access of host code was meant for a frame that the stack of its thread has no room
// for: it is beyond the end of the stack, and in the frame or in the page below it.
bool overflows_stack(std::uintptr_t address, const void* machine_context) {
  const auto& registers = static_cast<const ucontext_t*>(machine_context)->uc_mcontext.gregs;
  const std::uintptr_t bottom = t_stack_bottom;
  const std::uintptr_t frame = std::min(static_cast<std::uintptr_t>(registers[REG_RSP]), bottom);
  return address < bottom && bottom - address <= kMostFrameBytes && address + kPageBytes >= frame;
}

// The result may point into `other` or `context`.
Nearest locate(const FaultContext& context, std::uintptr_t address, const void* machine_context,
               OtherBlock& other) {
  Nearest nearest;
  // A stack overflow is not an access to a buffer.
  if (within(address, context.stacks_begin, context.stacks_end) ||
      (context.thread == nullptr && overflows_stack(address, machine_context))) {
    nearest.name = kStackBuffer.data();
    nearest.distance = 0;
    return nearest;
  }
  if (context.find_other != nullptr &&
      context.find_other(reinterpret_cast<const void*>(address), other)) {
    return seen_from(other.name, address, other.begin, other.end);
  }
  for (std::size_t i = context.watched.size(); i-- > 0;) {
    const NamedRange& range = context.watched[i];
    const Nearest it = seen_from(range.name.c_str(), address, range.begin, range.end);
    if (it.distance < nearest.distance && may_mean(context.watched, i, context.call)) nearest = it;
  }
  if (context.thread != nullptr) {
    const Nearest it = seen_from(kSharedBuffer, address, context.shared_begin, context.shared_end);
    if (it.distance <= nearest.distance) nearest = it;
  }
  // An address in the arena can only belong to one of its buffers.
  const bool in_arena = within(address, context.arena_begin, context.arena_end);
  if (!in_arena && nearest.distance > kNearBytes) return {};
  return nearest;
}

// x86-64: bit 1 of the page fault's error code is set for a write.
Access access_of(const siginfo_t& info, const void* machine_context) {
  if (info.si_signo != SIGSEGV && info.si_signo != SIGBUS) return Access::unknown;
  if (info.si_code <= 0 || info.si_code == SI_KERNEL) return Access::unknown;
  const auto* user = static_cast<const ucontext_t*>(machine_context);
  return (user->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? Access::write : Access::read;
}

// A misaligned vector access: x86-64 reports it as a general protection fault, which has no
// address.
std::optional<VectorAccess> misaligned_access_of(const siginfo_t& info,
                                                 const void* machine_context) {
  if (info.si_signo != SIGSEGV || info.si_code != SI_KERNEL) return std::nullopt;
  const auto& registers = static_cast<const ucontext_t*>(machine_context)->uc_mcontext.gregs;
  const auto access =
      vector_access(reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]), registers);
  // The other cause of such a fault is an address that no memory can have.
  constexpr std::uintptr_t kEndOfMemory = std::uintptr_t{1} << 47;
  const bool possible = access && access->address < kEndOfMemory;
  return possible && access->address % 16 != 0 ? access : std::nullopt;
}

const char* name_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "SIGABRT";
  }
}

void print(const FaultRecord& record, const char* kernel) {
  static constexpr const char* kAccess[] = {"access", "read", "write"};
  static constexpr const char* kSide[] = {"at", "before", "after", "inside"};
  SignalLine line;
  line << "redzone: " << name_of_signal(record.signal);
  if ((record.valid & kFaultOfAlignment) != 0) line << ": misaligned";
  if (record.buffer[0] != '\0')
    line << ": " << kAccess[record.access] << " " << record.distance_bytes
         << (record.distance_bytes == 1 ? " byte " : " bytes ") << kSide[record.side] << " "
         << record.buffer;
  if (kernel[0] != '\0') line << " in " << kernel;
  if ((record.valid & kFaultOfHostCode) == 0)
    line << " block (" << record.block[0] << "," << record.block[1] << "," << record.block[2]
         << ") thread (" << record.thread[0] << "," << record.thread[1] << "," << record.thread[2]
         << ")";
  line.print(STDERR_FILENO);
}

void handle(int signal, siginfo_t* info, void* machine_context);

// Calls the handler that the process had before, which may print what it knows, as Python's handler
// prints the stack. A signal that it raises again stays blocked until _exit().
void call_earlier_handler(int signal, siginfo_t* info, void* machine_context) {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& earlier = g_earlier[i];
    if ((earlier.sa_flags & SA_SIGINFO) != 0)
      earlier.sa_sigaction(signal, info, machine_context);
    else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
      earlier.sa_handler(signal);
  }
}

// Reinstalls the earlier handler, which gets the signal once the current handler returns. A fault
// occurs again by itself, with its address, when its instruction runs again.
void hand_on(int signal, const siginfo_t& info) {
  struct sigaction earlier = {};
  earlier.sa_handler = SIG_DFL;
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal) earlier = g_earlier[i];
  sigaction(signal, &earlier, nullptr);
  const bool is_fault = info.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS ||
                                             signal == SIGFPE || signal == SIGILL);
  if (!is_fault) raise(signal);
}

void handle(int signal, siginfo_t* info, void* machine_context) {
  if (getpid() != g_process) return hand_on(signal, *info);
  const FaultContext& context = *g_context;
  FaultRecord record;
  record.signal = signal;
  const auto misaligned = misaligned_access_of(*info, machine_context);
  const Access access = misaligned ? misaligned->access : access_of(*info, machine_context);
  record.access = static_cast<std::uint32_t>(access);
  if (access != Access::unknown) {
    OtherBlock other;
    const Nearest nearest = locate(
        context, misaligned ? misaligned->address : number(info->si_addr), machine_context, other);
    copy_name(record.buffer, nearest.name);
    record.side = static_cast<std::uint32_t>(nearest.side);
    if (nearest.name[0] != '\0')
      record.distance_bytes = static_cast<std::int64_t>(nearest.distance);
  }
  const bool in_thread = context.thread != nullptr && context.kernel[0] != '\0';
  if (in_thread) {
    const host::Index3 b = context.thread->block_idx, t = context.thread->thread_idx;
    const std::uint32_t block[3] = {b.x, b.y, b.z}, thread[3] = {t.x, t.y, t.z};
    std::memcpy(record.block, block, sizeof block);
    std::memcpy(record.thread, thread, sizeof thread);
  }
  record.valid = misaligned ? kFaultOfAlignment : kFaultOfSignal;
  if (!in_thread) record.valid |= kFaultOfHostCode;
  if (context.box != nullptr)
    context.box->fault = record;
  else
    print(record, context.kernel);
  call_earlier_handler(signal, info, machine_context);
  _exit(kFaultExit);
}

// A signal from another process ends the process as it would without this handler.
void handle_own(int signal, siginfo_t* info, void* machine_context) {
  const bool own = info->si_code <= 0 && info->si_pid == getpid();
  if (own && getpid() == g_process) handle(signal, info, machine_context);
  hand_on(signal, *info);
}

}  // namespace

void FaultContext::begin_kernel(const char* name, std::int32_t of_call) {
  kernel = name;
  call = of_call;
  if (box == nullptr) return;
  copy_name(box->kernel, name);
  box->call_running = call;
}

void FaultContext::end_kernel() {
  kernel = "";
  call = -1;
  if (box == nullptr) return;
  box->kernel[0] = '\0';
  box->call_running = -1;
}

void note_stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &bottom, &bytes) == 0) t_stack_bottom = number(bottom);
  pthread_attr_destroy(&attributes);
}

FaultHandler::FaultHandler(const FaultContext& context)
    : stack_(new std::byte[kSignalStackBytes]), old_context_(g_context), old_process_(g_process) {
  g_context = &context;
  g_process = getpid();
  note_stack_of_thread();
  stack_t stack = {};
  stack.ss_sp = stack_.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, &old_stack_);
  struct sigaction action = {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction old = {};
    sigaction(kSignals[i], &action, &old);
    old_.push_back(old);
    // Ignores handlers of this class: only the latest of them handles.
    if ((old.sa_flags & SA_SIGINFO) == 0 || old.sa_sigaction != &handle) g_earlier[i] = old;
  }
  action.sa_sigaction = &handle_own;
  for (const int signal : kOwnSignals) {
    struct sigaction old = {};
    sigaction(signal, nullptr, &old);
    old_own_.push_back(old);
    if ((old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_DFL)
      sigaction(signal, &action, nullptr);
  }
}

FaultHandler::~FaultHandler() {
  for (std::size_t i = 0; i < old_.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  for (std::size_t i = 0; i < old_own_.size(); ++i) {
    struct sigaction now = {};
    sigaction(kOwnSignals[i], nullptr, &now);
    // Other code may have set a handler since then, for example a command that can be interrupted.
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &handle_own)
      sigaction(kOwnSignals[i], &old_own_[i], nullptr);
  }
  sigaltstack(&old_stack_, nullptr);
  g_context = old_context_;
  g_process = old_process_;
}

}  // namespace redzone::device
