// The guard's declarations of the driver's interface against the toolkit's.
#include "interpose/driver_abi.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace redzone::interpose {
namespace {

TEST(DriverAbi, IsThatOfTheToolkit) {
  EXPECT_EQ(sizeof(CuAddress), sizeof(CUdeviceptr));
  EXPECT_EQ(sizeof(CuMemoryHandle), sizeof(CUmemGenericAllocationHandle));
  EXPECT_EQ(sizeof(CuMemLocation), sizeof(CUmemLocation));
  EXPECT_EQ(sizeof(CuMemAllocationProp), sizeof(CUmemAllocationProp));
  EXPECT_EQ(offsetof(CuMemAllocationProp, location), offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(offsetof(CuMemAllocationProp, flags), offsetof(CUmemAllocationProp, allocFlags));
  EXPECT_EQ(sizeof(CuMemAccessDesc), sizeof(CUmemAccessDesc));
  EXPECT_EQ(offsetof(CuMemAccessDesc, flags), offsetof(CUmemAccessDesc, flags));
  EXPECT_EQ(sizeof(CuPoolProps), sizeof(CUmemPoolProps));
  EXPECT_EQ(offsetof(CuPoolProps, handle_types), offsetof(CUmemPoolProps, handleTypes));
  EXPECT_EQ(offsetof(CuPoolProps, location), offsetof(CUmemPoolProps, location));
  EXPECT_EQ(sizeof(CuMemcpy2D), sizeof(CUDA_MEMCPY2D));
  EXPECT_EQ(offsetof(CuMemcpy2D, from.device), offsetof(CUDA_MEMCPY2D, srcDevice));
  EXPECT_EQ(offsetof(CuMemcpy2D, from.pitch), offsetof(CUDA_MEMCPY2D, srcPitch));
  EXPECT_EQ(offsetof(CuMemcpy2D, to.memory_type), offsetof(CUDA_MEMCPY2D, dstMemoryType));
  EXPECT_EQ(offsetof(CuMemcpy2D, to.device), offsetof(CUDA_MEMCPY2D, dstDevice));
  EXPECT_EQ(offsetof(CuMemcpy2D, width_bytes), offsetof(CUDA_MEMCPY2D, WidthInBytes));
  EXPECT_EQ(offsetof(CuMemcpy2D, height), offsetof(CUDA_MEMCPY2D, Height));
  EXPECT_EQ(sizeof(CuMemcpy3D), sizeof(CUDA_MEMCPY3D));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.device), offsetof(CUDA_MEMCPY3D, srcDevice));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.pitch), offsetof(CUDA_MEMCPY3D, srcPitch));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.height), offsetof(CUDA_MEMCPY3D, srcHeight));
  EXPECT_EQ(offsetof(CuMemcpy3D, to.z), offsetof(CUDA_MEMCPY3D, dstZ));
  EXPECT_EQ(offsetof(CuMemcpy3D, to.device), offsetof(CUDA_MEMCPY3D, dstDevice));
  EXPECT_EQ(offsetof(CuMemcpy3D, depth), offsetof(CUDA_MEMCPY3D, Depth));
  EXPECT_EQ(sizeof(CuMemcpy3D), sizeof(CUDA_MEMCPY3D_PEER));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.device), offsetof(CUDA_MEMCPY3D_PEER, srcDevice));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.reserved), offsetof(CUDA_MEMCPY3D_PEER, srcContext));
  EXPECT_EQ(offsetof(CuMemcpy3D, from.height), offsetof(CUDA_MEMCPY3D_PEER, srcHeight));
  EXPECT_EQ(offsetof(CuMemcpy3D, to.z), offsetof(CUDA_MEMCPY3D_PEER, dstZ));
  EXPECT_EQ(offsetof(CuMemcpy3D, to.pitch), offsetof(CUDA_MEMCPY3D_PEER, dstPitch));
  EXPECT_EQ(offsetof(CuMemcpy3D, depth), offsetof(CUDA_MEMCPY3D_PEER, Depth));
  EXPECT_EQ(offsetof(CuLaunchConfig, block), offsetof(CUlaunchConfig, blockDimX));
  EXPECT_EQ(offsetof(CuLaunchConfig, shared_bytes), offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(CuLaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(kCuMemoryDevice, int{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(kCuCaptureRelaxed, int{CU_STREAM_CAPTURE_MODE_RELAXED});
  EXPECT_EQ(kCuMemoryUnified, int{CU_MEMORYTYPE_UNIFIED});
  EXPECT_EQ(int{kCuSuccess}, int{CUDA_SUCCESS});
  EXPECT_EQ(int{kCuInvalidValue}, int{CUDA_ERROR_INVALID_VALUE});
  EXPECT_EQ(int{kCuOutOfMemory}, int{CUDA_ERROR_OUT_OF_MEMORY});
  EXPECT_EQ(int{kCuNotInitialized}, int{CUDA_ERROR_NOT_INITIALIZED});
  EXPECT_EQ(int{kCuDeinitialized}, int{CUDA_ERROR_DEINITIALIZED});
  EXPECT_EQ(int{kCuInvalidContext}, int{CUDA_ERROR_INVALID_CONTEXT});
  EXPECT_EQ(int{kCuNotFound}, int{CUDA_ERROR_NOT_FOUND});
  EXPECT_EQ(int{kCuNotReady}, int{CUDA_ERROR_NOT_READY});
  EXPECT_EQ(int{kCuIllegalAddress}, int{CUDA_ERROR_ILLEGAL_ADDRESS});
  EXPECT_EQ(int{kCuLaunchTimeout}, int{CUDA_ERROR_LAUNCH_TIMEOUT});
  EXPECT_EQ(int{kCuHardwareStackError}, int{CUDA_ERROR_HARDWARE_STACK_ERROR});
  EXPECT_EQ(int{kCuIllegalInstruction}, int{CUDA_ERROR_ILLEGAL_INSTRUCTION});
  EXPECT_EQ(int{kCuMisalignedAddress}, int{CUDA_ERROR_MISALIGNED_ADDRESS});
  EXPECT_EQ(int{kCuInvalidAddressSpace}, int{CUDA_ERROR_INVALID_ADDRESS_SPACE});
  EXPECT_EQ(int{kCuInvalidPc}, int{CUDA_ERROR_INVALID_PC});
  EXPECT_EQ(int{kCuLaunchFailed}, int{CUDA_ERROR_LAUNCH_FAILED});
  EXPECT_EQ(int{kCuNotSupported}, int{CUDA_ERROR_NOT_SUPPORTED});
  EXPECT_EQ(int{kCuCaptureWrongThread}, int{CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD});
  EXPECT_EQ(int{kCuFunctionNotLoaded}, int{CUDA_ERROR_FUNCTION_NOT_LOADED});
  EXPECT_EQ(kCuLocationDevice, int{CU_MEM_LOCATION_TYPE_DEVICE});
  EXPECT_EQ(kCuAllocationPinned, int{CU_MEM_ALLOCATION_TYPE_PINNED});
  EXPECT_EQ(kCuAccessReadWrite, int{CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  EXPECT_EQ(kCuGranularityMinimum, int{CU_MEM_ALLOC_GRANULARITY_MINIMUM});
  EXPECT_EQ(kCuAttributeVirtualMemory,
            int{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED});
  EXPECT_EQ(kCuStreamNonBlocking, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(kCuEventDisableTiming, unsigned{CU_EVENT_DISABLE_TIMING});
  EXPECT_EQ(kCuPointerContext, int{CU_POINTER_ATTRIBUTE_CONTEXT});
  EXPECT_EQ(kCuPointerRangeStart, int{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR});
  EXPECT_EQ(kCuPointerRangeSize, int{CU_POINTER_ATTRIBUTE_RANGE_SIZE});
  EXPECT_EQ(kCuPerThreadStreams, std::uint64_t{CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM});
  EXPECT_EQ(reinterpret_cast<CUstream>(kLegacyStream), CU_STREAM_LEGACY);
  EXPECT_EQ(reinterpret_cast<CUstream>(kThreadStream), CU_STREAM_PER_THREAD);
}

}  // namespace
}  // namespace redzone::interpose
