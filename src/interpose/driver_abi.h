// The part of the binary interface of libcuda.so.1 that the guard uses. It is declared here instead
// of taken from <cuda.h>, because the guard is built without the toolkit, and because that header
// renames functions to their latest version, while the guard stands in for each version by its own
// name. tests/interpose/driver_abi_test.cpp compares the declarations with <cuda.h>.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::interpose {

enum CuResult : int {
  kCuSuccess = 0,
  kCuInvalidValue = 1,
  kCuOutOfMemory = 2,
  kCuNotInitialized = 3,
  kCuDeinitialized = 4,
  kCuInvalidContext = 201,
  kCuNotFound = 500,
  kCuNotReady = 600,
  kCuIllegalAddress = 700,
  kCuLaunchTimeout = 702,
  kCuHardwareStackError = 714,
  kCuIllegalInstruction = 715,
  kCuMisalignedAddress = 716,
  kCuInvalidAddressSpace = 717,
  kCuInvalidPc = 718,
  kCuLaunchFailed = 719,
  kCuNotSupported = 801,
  kCuCaptureWrongThread = 908,
  kCuFunctionNotLoaded = 913,
};

using CuDevice = int;
using CuAddress = unsigned long long;
using CuContext = struct CuContextBody*;
using CuStream = struct CuStreamBody*;
using CuEvent = struct CuEventBody*;
using CuPool = struct CuPoolBody*;
using CuGraph = struct CuGraphBody*;
using CuMemoryHandle = unsigned long long;

// Handles that name the default streams. 0 is the legacy stream or, in functions whose name ends
// with _ptsz or _ptds, the per-thread stream.
inline const CuStream kLegacyStream = reinterpret_cast<CuStream>(1);
inline const CuStream kThreadStream = reinterpret_cast<CuStream>(2);

struct CuMemLocation {
  int type = 0;  // 1: a device
  int id = 0;
};
inline constexpr int kCuLocationDevice = 1;

struct CuMemAllocationProp {
  int type = 0;  // 1: pinned
  int requested_handle_types = 0;
  CuMemLocation location;
  void* win32_handle_meta_data = nullptr;
  struct {
    unsigned char compression_type, gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags = {};
};
inline constexpr int kCuAllocationPinned = 1;

struct CuMemAccessDesc {
  CuMemLocation location;
  int flags = 0;  // 3: read and write
};
inline constexpr int kCuAccessReadWrite = 3;

struct CuPoolProps {
  int type = 0;
  int handle_types = 0;  // 0: the pool cannot be exported
  CuMemLocation location;
  void* win32_security_attributes = nullptr;
  std::size_t max_bytes = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

inline constexpr int kCuMemoryDevice = 2;
inline constexpr int kCuMemoryUnified = 4;  // the address may be a host address as well

// One side of a copy of rows: the source, or the destination.
struct CuMemcpy2DSide {
  std::size_t x_bytes = 0, y = 0;
  int memory_type = 0;
  void* host = nullptr;
  CuAddress device = 0;
  void* array = nullptr;
  std::size_t pitch = 0;
};
struct CuMemcpy2D {
  CuMemcpy2DSide from, to;
  std::size_t width_bytes = 0, height = 0;
};

struct CuMemcpy3DSide {
  std::size_t x_bytes = 0, y = 0, z = 0, level = 0;
  int memory_type = 0;
  void* host = nullptr;
  CuAddress device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};
struct CuMemcpy3D {
  CuMemcpy3DSide from, to;
  std::size_t width_bytes = 0, height = 0, depth = 0;
};

// The beginning of CUlaunchConfig.
struct CuLaunchConfig {
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  CuStream stream = nullptr;
};

// mode of what a thread may call while a stream captures
inline constexpr int kCuCaptureRelaxed = 2;
inline constexpr int kCuGranularityMinimum = 0;
inline constexpr int kCuAttributeVirtualMemory = 102;  // device attribute
inline constexpr unsigned kCuStreamNonBlocking = 1;
inline constexpr unsigned kCuEventDisableTiming = 2;
// Attributes of a pointer.
inline constexpr int kCuPointerContext = 1;
inline constexpr int kCuPointerRangeStart = 11;
inline constexpr int kCuPointerRangeSize = 12;
// Flag of cuGetProcAddress.
inline constexpr std::uint64_t kCuPerThreadStreams = 2;

// True for errors that each later call in the context returns as well.
constexpr bool is_sticky(int result) {
  return result == kCuIllegalAddress || result == kCuLaunchTimeout ||
         (result >= kCuHardwareStackError && result <= kCuLaunchFailed);
}

}  // namespace redzone::interpose
