// The driver's own functions, called without any hooks.
#pragma once

#include "interpose/driver_abi.h"

namespace redzone::interpose {

// A member is null if the driver lacks the function.
struct Driver {
  int (*get_device_attribute)(int*, int, CuDevice) = nullptr;
  int (*get_total_memory)(std::size_t*, CuDevice) = nullptr;
  int (*get_context)(CuContext*) = nullptr;
  int (*set_context)(CuContext) = nullptr;
  int (*get_device)(CuDevice*) = nullptr;
  int (*synchronize_context)() = nullptr;
  int (*record_context_event)(CuContext, CuEvent) = nullptr;  // 12.5 and later

  int (*reserve)(CuAddress*, std::size_t, std::size_t, CuAddress, unsigned long long) = nullptr;
  int (*free_reservation)(CuAddress, std::size_t) = nullptr;
  int (*create)(CuMemoryHandle*, std::size_t, const CuMemAllocationProp*,
                unsigned long long) = nullptr;
  int (*release)(CuMemoryHandle) = nullptr;
  int (*map)(CuAddress, std::size_t, std::size_t, CuMemoryHandle, unsigned long long) = nullptr;
  int (*unmap)(CuAddress, std::size_t) = nullptr;
  int (*set_access)(CuAddress, std::size_t, const CuMemAccessDesc*, std::size_t) = nullptr;
  int (*get_granularity)(std::size_t*, const CuMemAllocationProp*, int) = nullptr;

  // Allocation by the driver itself, without the guard.
  int (*allocate)(CuAddress*, std::size_t) = nullptr;
  int (*free)(CuAddress) = nullptr;

  int (*set_bytes)(CuAddress, unsigned char, std::size_t, CuStream) = nullptr;
  int (*copy_to_host)(void*, CuAddress, std::size_t, CuStream) = nullptr;
  int (*allocate_pinned)(void**, std::size_t, unsigned) = nullptr;
  int (*free_pinned)(void*) = nullptr;

  int (*create_stream)(CuStream*, unsigned) = nullptr;
  int (*synchronize_stream)(CuStream) = nullptr;
  int (*get_stream_context)(CuStream, CuContext*) = nullptr;  // 9.2 and later
  int (*wait_event)(CuStream, CuEvent, unsigned) = nullptr;
  int (*create_event)(CuEvent*, unsigned) = nullptr;
  int (*record_event)(CuEvent, CuStream) = nullptr;
  int (*query_event)(CuEvent) = nullptr;

  // Names (12.3) and parameters (12.4) of kernels, by CUfunction and by CUkernel.
  int (*get_function_name)(const char**, void*) = nullptr;
  int (*get_kernel_name)(const char**, void*) = nullptr;
  int (*get_function_parameter)(void*, std::size_t, std::size_t*, std::size_t*) = nullptr;
  int (*get_kernel_parameter)(void*, std::size_t, std::size_t*, std::size_t*) = nullptr;
  // Number of handles that the enumerations return; 12.4 and later.
  int (*get_function_count)(unsigned*, void*) = nullptr;
  int (*get_kernel_count)(unsigned*, void*) = nullptr;
  int (*is_capturing)(CuStream, int*) = nullptr;                            // 10.0 and later
  int (*exchange_capture_mode)(int*) = nullptr;                             // 10.1 and later
  int (*launch_host_function)(CuStream, void (*)(void*), void*) = nullptr;  // 10.0 and later

  int (*get_default_pool)(CuPool*, CuDevice) = nullptr;  // 11.2 and later

  int (*get_primary_state)(CuDevice, unsigned*, int*) = nullptr;
  int (*retain_primary)(CuContext*, CuDevice) = nullptr;
  int (*release_primary)(CuDevice) = nullptr;
  // The device's primary context; nullptr if it is not active.
  CuContext primary_context(CuDevice device) const;

  // False if the driver lacks a function that the guard cannot do without.
  bool can_guard() const;
};

// `find` returns the driver's function of a name, or null.
Driver load_driver(void* (*find)(const char* name));

}  // namespace redzone::interpose
