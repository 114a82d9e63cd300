// The driver calls that the guard stands in for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::interpose {

enum class Call : std::uint8_t {
  get_proc_address,
  get_proc_address_v2,
  get_export_table,
  mem_alloc,
  mem_alloc_pitch,
  mem_free,
  mem_alloc_async,
  mem_alloc_async_ptsz,
  mem_alloc_from_pool_async,
  mem_alloc_from_pool_async_ptsz,
  mem_free_async,
  mem_free_async_ptsz,
  mem_pool_create,
  mem_pool_destroy,
  mem_pool_export_pointer,
  mem_get_info,
  mem_get_address_range,
  pointer_get_attribute,
  pointer_get_attributes,
  ipc_get_mem_handle,
  mem_alloc_managed,
  mem_alloc_host,
  mem_host_alloc,
  mem_create,
  ctx_enable_peer_access,
  ctx_destroy,
  primary_retain,
  primary_reset,
  primary_release,
  begin_capture_v1,
  begin_capture_v1_ptsz,
  begin_capture,
  begin_capture_ptsz,
  begin_capture_to_graph,
  begin_capture_to_graph_ptsz,
  end_capture,
  end_capture_ptsz,
  stream_destroy,
  ctx_synchronize,
  stream_synchronize,
  stream_synchronize_ptsz,
  stream_query,
  stream_query_ptsz,
  event_synchronize,
  event_query,
  copy_to_host,
  copy_to_host_ptds,
  copy_to_device,
  copy_to_device_ptds,
  ctx_synchronize_v2,
  copy,
  copy_ptds,
  copy_async,
  copy_async_ptsz,
  copy_on_device,
  copy_on_device_ptds,
  copy_on_device_async,
  copy_on_device_async_ptsz,
  copy_to_host_async,
  copy_to_host_async_ptsz,
  copy_to_device_async,
  copy_to_device_async_ptsz,
  copy_2d,
  copy_2d_ptds,
  copy_2d_unaligned,
  copy_2d_unaligned_ptds,
  copy_2d_async,
  copy_2d_async_ptsz,
  copy_3d,
  copy_3d_ptds,
  copy_3d_async,
  copy_3d_async_ptsz,
  copy_peer,
  copy_peer_ptds,
  copy_peer_async,
  copy_peer_async_ptsz,
  copy_3d_peer,
  copy_3d_peer_ptds,
  copy_3d_peer_async,
  copy_3d_peer_async_ptsz,
  copy_to_array,
  copy_to_array_ptds,
  copy_from_array,
  copy_from_array_ptds,
  copy_batch_v1,
  copy_batch_v1_ptsz,
  copy_batch,
  copy_batch_ptsz,
  write_32_v1,
  write_32_v1_ptsz,
  write_32,
  write_32_ptsz,
  write_64_v1,
  write_64_v1_ptsz,
  write_64,
  write_64_ptsz,
  set_8,
  set_8_ptds,
  set_8_async,
  set_8_async_ptsz,
  set_16,
  set_16_ptds,
  set_16_async,
  set_16_async_ptsz,
  set_32,
  set_32_ptds,
  set_32_async,
  set_32_async_ptsz,
  set_2d_8,
  set_2d_8_ptds,
  set_2d_8_async,
  set_2d_8_async_ptsz,
  set_2d_16,
  set_2d_16_ptds,
  set_2d_16_async,
  set_2d_16_async_ptsz,
  set_2d_32,
  set_2d_32_ptds,
  set_2d_32_async,
  set_2d_32_async_ptsz,
  launch_kernel,
  launch_kernel_ptsz,
  launch_kernel_ex,
  launch_kernel_ex_ptsz,
  launch_cooperative,
  launch_cooperative_ptsz,
  launch_graph,
  launch_graph_ptsz,
  module_get_function,
  module_unload,
  library_get_kernel,
  library_unload,
  kernel_get_function,
  library_enumerate_kernels,
  module_enumerate_functions,
  function_load,
  event_record,
  event_record_ptsz,
  event_record_with_flags,
  event_record_with_flags_ptsz,
  event_destroy,
  count
};
inline constexpr std::size_t kCalls = static_cast<std::size_t>(Call::count);

struct CallRow {
  Call call;
  const char* symbol;  // name for dlsym()
  const char* name;    // name for cuGetProcAddress()
  int since;           // version of CUDA from which the name means this symbol
  bool per_thread;     // for the per-thread default stream
  bool both = false;   // the symbol serves both kinds of default stream
  void* stand_in;      // the guard's replacement
};

// The row of a symbol; nullptr if there is none.
const CallRow* row_of_symbol(const char* symbol);
// The row that cuGetProcAddress(name, version, flags) selects; nullptr if there is none.
const CallRow* row_of_request(const char* name, int version, std::uint64_t flags);
const CallRow& row_of(Call call);

// The driver's own function; nullptr if the driver lacks it or is not loaded.
void* real_call(Call call);

// Calls the driver's own function.
template <class... Arguments>
int forward(Call call, Arguments... arguments) {
  constexpr int not_initialized = 3;
  void* const function = real_call(call);
  if (function == nullptr) return not_initialized;
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

}  // namespace redzone::interpose
