// Launches of kernels and graphs, and the names of kernels that the program looks up.
#include <algorithm>

#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_errors.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"

namespace redzone::interpose {
namespace {

using Launch = LaunchLog::Call;

// Waits for the launch if the settings request it; returns the result of the wait.
int wait_for_launch(DriverGuard& guard, CuStream stream, std::uint64_t launch) {
  const bool checks = settings().check == Check::each_launch;
  // Do not wait during a capture, because a wait could invalidate it.
  if ((!checks && settings().launch != LaunchMode::blocking) || guard.memory.capturing())
    return kCuSuccess;
  const std::uint64_t returned = guard.launches.returned();
  const int result = guard.driver.synchronize_stream(stream);
  if (result != kCuSuccess) return result;
  const InternalScope scope;
  CuContext context = nullptr;
  guard.driver.get_context(&context);
  guard.launches.completed(context, stream, returned);
  if (checks) guard.memory.check_after(launch);
  return kCuSuccess;
}

template <class Forward>
int launch(const Launch& call, const char* name, Forward forward_call) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard();
  if (guard == nullptr) return forward_call();
  std::uint64_t number = 0;
  bool captured = false, named = false;
  {
    const InternalScope scope;
    captured = guard->memory.captures(call.stream);
    named = guard->launches.is_named(call);
    if (!named) recorder().count(Counter::launches_unnamed);
    if (named && !captured) guard->holds.before_launch(call.stream);
    number = guard->launches.begin(call, captured, guard->memory.blocks());
    recorder().count(Counter::launches);
  }
  int result = forward_call();
  {
    const InternalScope scope;
    guard->launches.end(number, result);
  }
  if (result == kCuSuccess && named && !captured)
    result = wait_for_launch(*guard, call.stream, number);
  return checked(result, name);
}

Launch call_of(const void* config, void* kernel, void** parameters, void** extra,
               CuStream (*stream_of)(CuStream)) {
  Launch out;
  out.kernel = kernel;
  out.parameters = parameters;
  out.extra = extra;
  if (config == nullptr) return out;
  const auto& from = *static_cast<const CuLaunchConfig*>(config);
  for (int i = 0; i < 3; ++i) {
    out.grid[i] = from.grid[i];
    out.block[i] = from.block[i];
  }
  out.shared_bytes = from.shared_bytes;
  out.stream = stream_of(from.stream);
  return out;
}

// cuLaunchKernel and related functions; `extra` only for those that have it.
template <class... Extra>
int launch_grid(Call call, const char* name, CuStream (*stream_of)(CuStream), void* kernel,
                unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, CuStream stream, void** arguments,
                Extra... extra) {
  const CuLaunchConfig config{{x, y, z}, {block_x, block_y, block_z}, shared_bytes, stream};
  void** more = nullptr;
  ((more = extra), ...);
  return launch(call_of(&config, kernel, arguments, more, stream_of), name, [&] {
    return forward(call, kernel, x, y, z, block_x, block_y, block_z, shared_bytes, stream,
                   arguments, extra...);
  });
}

void note_lookup(int result, void* const* out, LaunchLog::Handle handle, const char* name) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard();
  if (result != kCuSuccess || guard == nullptr || out == nullptr || name == nullptr) return;
  const InternalScope scope;
  guard->launches.looked_up(*out, handle, name);
}

// Records the handles that an enumeration has written.
template <class Count>
void note_met(int result, void* const* handles, unsigned most, LaunchLog::Handle handle,
              Count count) {
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard();
  if (result != kCuSuccess || guard == nullptr || handles == nullptr) return;
  const InternalScope scope;
  unsigned all = 0;
  if (count(*guard, &all) != kCuSuccess) return;
  for (unsigned i = 0; i < std::min(most, all); ++i) guard->launches.met(handles[i], handle);
}

void forget_kernels() {
  if (DriverGuard* const guard = driver_guard_in_use()) {
    const InternalScope scope;
    guard->launches.forget_kernels();
  }
}

}  // namespace

int cuLaunchKernel(void* kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream,
                   void** arguments, void** extra) {
  return launch_grid(Call::launch_kernel, "cuLaunchKernel", legacy_stream, kernel, x, y, z, block_x,
                     block_y, block_z, shared_bytes, stream, arguments, extra);
}

int cuLaunchKernel_ptsz(void* kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream,
                        void** arguments, void** extra) {
  return launch_grid(Call::launch_kernel_ptsz, "cuLaunchKernel", per_thread_stream, kernel, x, y, z,
                     block_x, block_y, block_z, shared_bytes, stream, arguments, extra);
}

int cuLaunchKernelEx(const void* config, void* kernel, void** arguments, void** extra) {
  return launch(call_of(config, kernel, arguments, extra, legacy_stream), "cuLaunchKernelEx",
                [&] { return forward(Call::launch_kernel_ex, config, kernel, arguments, extra); });
}

int cuLaunchKernelEx_ptsz(const void* config, void* kernel, void** arguments, void** extra) {
  return launch(
      call_of(config, kernel, arguments, extra, per_thread_stream), "cuLaunchKernelEx",
      [&] { return forward(Call::launch_kernel_ex_ptsz, config, kernel, arguments, extra); });
}

int cuLaunchCooperativeKernel(void* kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes,
                              CuStream stream, void** arguments) {
  return launch_grid(Call::launch_cooperative, "cuLaunchCooperativeKernel", legacy_stream, kernel,
                     x, y, z, block_x, block_y, block_z, shared_bytes, stream, arguments);
}

int cuLaunchCooperativeKernel_ptsz(void* kernel, unsigned x, unsigned y, unsigned z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CuStream stream, void** arguments) {
  return launch_grid(Call::launch_cooperative_ptsz, "cuLaunchCooperativeKernel", per_thread_stream,
                     kernel, x, y, z, block_x, block_y, block_z, shared_bytes, stream, arguments);
}

int cuGraphLaunch(void* graph, CuStream stream) {
  return launch({.kind = LaunchKind::graph, .stream = legacy_stream(stream)}, "cuGraphLaunch",
                [&] { return forward(Call::launch_graph, graph, stream); });
}

int cuGraphLaunch_ptsz(void* graph, CuStream stream) {
  return launch({.kind = LaunchKind::graph, .stream = per_thread_stream(stream)}, "cuGraphLaunch",
                [&] { return forward(Call::launch_graph_ptsz, graph, stream); });
}

int cuModuleGetFunction(void** out, void* module, const char* name) {
  const int result = forward(Call::module_get_function, out, module, name);
  note_lookup(result, out, LaunchLog::Handle::function, name);
  return result;
}

int cuLibraryGetKernel(void** out, void* library, const char* name) {
  const int result = forward(Call::library_get_kernel, out, library, name);
  note_lookup(result, out, LaunchLog::Handle::kernel, name);
  return result;
}

int cuKernelGetFunction(void** out, void* kernel) {
  const int result = forward(Call::kernel_get_function, out, kernel);
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard();
  if (result == kCuSuccess && guard != nullptr && out != nullptr) {
    const InternalScope scope;
    guard->launches.function_of(*out, kernel);
  }
  return result;
}

int cuLibraryEnumerateKernels(void** out, unsigned most, void* library) {
  const int result = forward(Call::library_enumerate_kernels, out, most, library);
  note_met(result, out, most, LaunchLog::Handle::kernel, [&](DriverGuard& guard, unsigned* all) {
    return guard.driver.get_kernel_count == nullptr ? int{kCuNotFound}
                                                    : guard.driver.get_kernel_count(all, library);
  });
  return result;
}

int cuModuleEnumerateFunctions(void** out, unsigned most, void* module) {
  const int result = forward(Call::module_enumerate_functions, out, most, module);
  note_met(result, out, most, LaunchLog::Handle::function, [&](DriverGuard& guard, unsigned* all) {
    return guard.driver.get_function_count == nullptr
               ? int{kCuNotFound}
               : guard.driver.get_function_count(all, module);
  });
  return result;
}

int cuFuncLoad(void* function) {
  const int result = forward(Call::function_load, function);
  DriverGuard* const guard = InternalScope::active() ? nullptr : driver_guard();
  if (result == kCuSuccess && guard != nullptr) {
    const InternalScope scope;
    guard->launches.met(function, LaunchLog::Handle::function);
  }
  return result;
}

// Also forget the kernels before the call, because another thread may get the handles before this
// thread continues.
int cuModuleUnload(void* module) {
  forget_kernels();
  const int result = forward(Call::module_unload, module);
  forget_kernels();
  return result;
}

int cuLibraryUnload(void* library) {
  forget_kernels();
  const int result = forward(Call::library_unload, library);
  forget_kernels();
  return result;
}

}  // namespace redzone::interpose
