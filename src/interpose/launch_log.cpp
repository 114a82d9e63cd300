#include "interpose/launch_log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace redzone::interpose {
namespace {

std::uint32_t this_thread() {
  static thread_local constinit std::uint32_t known __attribute__((tls_model("initial-exec"))) = 0;
  if (known == 0) known = static_cast<std::uint32_t>(::gettid());
  return known;
}

// Keys in the list `extra` of cuLaunchKernel().
void* const kBufferPointer = reinterpret_cast<void*>(1);
void* const kBufferSize = reinterpret_cast<void*>(2);
constexpr int kMostExtra = 8;  // words; further ones are not read

// Copies the arguments from the buffer that `extra` points to; returns their size.
std::size_t copy_buffer(void** extra, unsigned char* to) {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; i + 1 < kMostExtra && extra[i] != nullptr; i += 2) {
    if (extra[i] == kBufferPointer) buffer = extra[i + 1];
    if (extra[i] == kBufferSize) bytes = *static_cast<const std::size_t*>(extra[i + 1]);
  }
  if (buffer == nullptr) return 0;
  bytes = std::min(bytes, kArgumentBytes);
  std::memcpy(to, buffer, bytes);
  return bytes;
}

void set_name(char (&to)[kKernelNameBytes], const char* name) {
  std::strncpy(to, name, kKernelNameBytes - 1);
}

}  // namespace

LaunchLog::LaunchLog(const Driver& driver, Recorder& recorder, const char* kernels)
    : driver_(driver), recorder_(recorder), filter_(kernels) {}

LaunchRecord* LaunchLog::slot_of(std::uint64_t launch) const {
  LaunchRecord* const all = recorder_.launches();
  if (all == nullptr || launch == 0) return nullptr;
  LaunchRecord& slot = all[launch % kLaunchesKept];
  return slot.ordinal == launch ? &slot : nullptr;
}

void LaunchLog::ask(void* handle, Kernel& kernel) const {
  kernel.asked = true;
  const char* name = nullptr;
  if (kernel.handle != Handle::kernel && driver_.get_function_name != nullptr &&
      driver_.get_function_name(&name, handle) == kCuSuccess) {
    kernel.handle = Handle::function;
  } else if (kernel.handle != Handle::function && driver_.get_kernel_name != nullptr &&
             driver_.get_kernel_name(&name, handle) == kCuSuccess) {
    kernel.handle = Handle::kernel;
  }
  if (name != nullptr) set_name(kernel.name, name);
  const auto parameter = kernel.handle == Handle::function ? driver_.get_function_parameter
                         : kernel.handle == Handle::kernel ? driver_.get_kernel_parameter
                                                           : nullptr;
  std::size_t offset = 0, bytes = 0;
  int result = kCuSuccess;
  while (parameter != nullptr && kernel.parameters < kParametersKept &&
         (result = parameter(handle, kernel.parameters, &offset, &bytes)) == kCuSuccess &&
         offset + bytes <= kArgumentBytes) {
    kernel.offsets[kernel.parameters] = static_cast<std::uint16_t>(offset);
    kernel.sizes[kernel.parameters++] = static_cast<std::uint16_t>(bytes);
    kernel.argument_bytes = static_cast<std::uint32_t>(offset + bytes);
  }
  // The driver loads the function at its first launch, so query again later.
  if (result == kCuFunctionNotLoaded) kernel.asked = false;
}

LaunchLog::Kernel& LaunchLog::kernel_of(void* handle) {
  Kernel& kernel = kernels_[handle];
  if (!kernel.asked) ask(handle, kernel);
  return kernel;
}

bool LaunchLog::is_named(const Call& call) {
  if (filter_.names_all() || call.kind == LaunchKind::graph) return true;
  const std::lock_guard lock(mutex_);
  Kernel& kernel = kernel_of(call.kernel);
  if (!kernel.named) kernel.named = filter_.names(kernel.name);
  return *kernel.named;
}

std::uint64_t LaunchLog::begin(const Call& call, bool captured, std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t launch = ++last_;
  LaunchRecord* const all = recorder_.launches();
  if (all == nullptr) return launch;
  LaunchRecord& slot = all[launch % kLaunchesKept];
  lose(slot);
  slot.ordinal = 0;
  slot.returned = 0;
  std::atomic_thread_fence(std::memory_order_release);
  CuContext context = nullptr;
  driver_.get_context(&context);
  slot.state = captured ? LaunchState::captured : LaunchState::calling;
  slot.kind = call.kind;
  slot.context = reinterpret_cast<std::uint64_t>(context);
  slot.stream = reinterpret_cast<std::uint64_t>(call.stream);
  slot.blocks = blocks;
  slot.thread = this_thread();
  std::copy_n(call.grid, 3, slot.grid);
  std::copy_n(call.block, 3, slot.block);
  slot.shared_bytes = call.shared_bytes;
  slot.parameters = slot.argument_bytes = slot.pointers_found = 0;
  slot.name[0] = '\0';
  if (call.kind == LaunchKind::kernel) {
    const Kernel& kernel = kernel_of(call.kernel);
    std::memcpy(slot.name, kernel.name, std::strlen(kernel.name) + 1);
    if (call.parameters != nullptr) {
      for (std::uint32_t i = 0; i < kernel.parameters; ++i)
        std::memcpy(slot.arguments + kernel.offsets[i], call.parameters[i], kernel.sizes[i]);
      slot.argument_bytes = kernel.argument_bytes;
    } else if (call.extra != nullptr) {
      slot.argument_bytes = static_cast<std::uint32_t>(copy_buffer(call.extra, slot.arguments));
    }
    if (slot.argument_bytes >= kernel.argument_bytes) slot.parameters = kernel.parameters;
    std::copy_n(kernel.offsets, slot.parameters, slot.offsets);
    std::copy_n(kernel.sizes, slot.parameters, slot.sizes);
  }
  std::atomic_thread_fence(std::memory_order_release);
  slot.ordinal = launch;
  return launch;
}

void LaunchLog::end(std::uint64_t launch, int result) {
  const std::lock_guard lock(mutex_);
  ++returned_;
  LaunchRecord* const slot = slot_of(launch);
  if (slot == nullptr) {
    const auto lost = lost_calls_.find(launch);
    if (lost == lost_calls_.end()) return;
    if (result == kCuSuccess) {
      Lost& of = lost_[lost->second];
      ++of.launches;
      of.returned = returned_;
    }
    lost_calls_.erase(lost);
    return;
  }
  slot->returned = returned_;
  if (result != kCuSuccess)
    slot->state = LaunchState::refused;
  else if (slot->state == LaunchState::calling)
    slot->state = LaunchState::launched;
}

void LaunchLog::lose(const LaunchRecord& launch) {
  const LostKey key{launch.context, launch.stream, launch.thread};
  if (launch.ordinal == 0) return;
  if (launch.state == LaunchState::calling) lost_calls_.emplace(launch.ordinal, key);
  if (launch.state != LaunchState::launched) return;
  Lost& of = lost_[key];
  ++of.launches;
  of.returned = std::max(of.returned, launch.returned);
}

std::uint64_t LaunchLog::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::uint64_t LaunchLog::returned() const {
  const std::lock_guard lock(mutex_);
  return returned_;
}

bool LaunchLog::Wait::is_for(std::uint64_t its_context, std::uint64_t its_stream,
                             std::uint32_t its_thread) const {
  return its_context == context &&
         (!stream || (its_stream == reinterpret_cast<std::uint64_t>(*stream) &&
                      (*stream != kThreadStream || its_thread == thread)));
}

void LaunchLog::completed(CuContext context, std::optional<CuStream> stream, std::uint64_t until) {
  const std::lock_guard lock(mutex_);
  complete({reinterpret_cast<std::uint64_t>(context), stream, this_thread()}, until);
}

void LaunchLog::complete(const Wait& wait, std::uint64_t until) {
  for (std::uint64_t n = 0; n < kLaunchesKept && n < last_; ++n) {
    LaunchRecord* const slot = slot_of(last_ - n);
    if (slot != nullptr && slot->state == LaunchState::launched && slot->returned <= until &&
        wait.is_for(slot->context, slot->stream, slot->thread))
      slot->state = LaunchState::completed;
  }
  std::erase_if(lost_, [&](const auto& one) {
    const auto& [context, stream, thread] = one.first;
    return one.second.returned <= until && wait.is_for(context, stream, thread);
  });
}

void LaunchLog::record_begins(CuEvent event) {
  const std::lock_guard lock(mutex_);
  events_.record_begins(event);
}

void LaunchLog::record_ends(CuEvent event, CuStream stream, std::uint64_t until, bool marks) {
  CuContext context = nullptr;
  driver_.get_context(&context);
  const std::lock_guard lock(mutex_);
  events_.record_ends(event,
                      marks ? std::optional(EventMarks::Mark{context, stream, this_thread(), until})
                            : std::nullopt);
}

std::optional<EventMarks::Mark> LaunchLog::mark_of(CuEvent event) const {
  const std::lock_guard lock(mutex_);
  return events_.mark_of(event);
}

void LaunchLog::passed(const EventMarks::Mark& mark) {
  const std::lock_guard lock(mutex_);
  complete({reinterpret_cast<std::uint64_t>(mark.context), mark.stream, mark.thread}, mark.until);
}

void LaunchLog::event_gone(CuEvent event) {
  const std::lock_guard lock(mutex_);
  events_.forget(event);
}

void LaunchLog::stream_gone(CuStream stream) {
  const auto gone = reinterpret_cast<std::uint64_t>(stream);
  const std::lock_guard lock(mutex_);
  for (std::uint64_t n = 0; n < kLaunchesKept && n < last_; ++n)
    if (LaunchRecord* const slot = slot_of(last_ - n); slot != nullptr && slot->stream == gone)
      slot->stream = 0;
  const auto renamed = [&](LostKey key) {
    std::get<1>(key) = 0;
    return key;
  };
  for (auto it = lost_.begin(); it != lost_.end();) {
    if (std::get<1>(it->first) != gone || gone == 0) {
      ++it;
      continue;
    }
    Lost& to = lost_[renamed(it->first)];
    to.launches += it->second.launches;
    to.returned = std::max(to.returned, it->second.returned);
    it = lost_.erase(it);
  }
  for (auto& [launch, key] : lost_calls_)
    if (std::get<1>(key) == gone) key = renamed(key);
}

void LaunchLog::looked_up(void* kernel, Handle handle, const char* name) {
  const std::lock_guard lock(mutex_);
  Kernel& known = kernels_[kernel];
  known = {};
  known.handle = handle;
  set_name(known.name, name);
}

void LaunchLog::met(void* kernel, Handle handle) {
  const std::lock_guard lock(mutex_);
  Kernel& known = kernels_[kernel];
  if (known.handle != Handle::unknown && known.handle != handle) known = {};
  known.handle = handle;
  if (known.parameters == 0) known.asked = false;
}

void LaunchLog::function_of(void* function, void* kernel) {
  const std::lock_guard lock(mutex_);
  const auto at = kernels_.find(kernel);
  Kernel out;
  if (at != kernels_.end()) out = at->second;
  out.handle = Handle::function;
  out.asked = false;  // query the driver for its parameters
  out.named.reset();
  out.parameters = out.argument_bytes = 0;
  kernels_[function] = out;
}

void LaunchLog::forget_kernels() {
  const std::lock_guard lock(mutex_);
  kernels_.clear();
}

}  // namespace redzone::interpose
