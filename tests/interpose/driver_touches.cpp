// The copies, memsets and writes of the program that uses the driver.
#include <vector>

#include "interpose/driver_program.h"

using namespace redzone::interpose;

int touch(const std::string& name, void* library, CuAddress at, std::size_t bytes) {
  std::vector<char> host(bytes);
  if (name == "cuMemcpyDtoH_v2")
    return lookup<int(void*, CuAddress, std::size_t)>(library, name.c_str())(host.data(), at,
                                                                             bytes);
  if (name == "cuMemcpyHtoD_v2")
    return lookup<int(CuAddress, const void*, std::size_t)>(library, name.c_str())(at, host.data(),
                                                                                   bytes);
  if (name == "cuMemcpy")
    return lookup<int(CuAddress, CuAddress, std::size_t)>(library, name.c_str())(
        at, reinterpret_cast<CuAddress>(host.data()), bytes);
  if (name == "cuMemcpyPeer")
    return lookup<int(CuAddress, CuContext, CuAddress, CuContext, std::size_t)>(
        library, name.c_str())(reinterpret_cast<CuAddress>(host.data()), nullptr, at, nullptr,
                               bytes);
  if (name == "cuMemcpyAtoD_v2")
    return lookup<int(CuAddress, void*, std::size_t, std::size_t)>(library, name.c_str())(
        at, nullptr, 0, bytes);
  if (name == "cuMemcpyBatchAsync_v2") {
    CuAddress to[] = {reinterpret_cast<CuAddress>(host.data()), at};
    CuAddress from[] = {at, reinterpret_cast<CuAddress>(host.data())};
    std::size_t sizes[] = {bytes / 2, bytes};
    return lookup<int(CuAddress*, CuAddress*, std::size_t*, std::size_t, void*, std::size_t*,
                      std::size_t, CuStream)>(library, name.c_str())(to, from, sizes, 2, nullptr,
                                                                     nullptr, 0, nullptr);
  }
  if (name == "cuStreamWriteValue64_v2")
    return lookup<int(CuStream, CuAddress, std::uint64_t, unsigned)>(library, name.c_str())(
        nullptr, at + bytes - 8, 1, 0);
  if (name == "cuMemsetD8Async")
    return lookup<int(CuAddress, unsigned char, std::size_t, CuStream)>(library, name.c_str())(
        at, 1, bytes, nullptr);
  if (name == "cuMemsetD32_v2")
    return lookup<int(CuAddress, unsigned, std::size_t)>(library, name.c_str())(at, 1, bytes / 4);
  if (name == "cuMemsetD2D16_v2")
    return lookup<int(CuAddress, std::size_t, unsigned short, std::size_t, std::size_t)>(
        library, name.c_str())(at, bytes / 2, 1, bytes / 4, 2);
  if (name == "cuMemcpy2D_v2") {
    CuMemcpy2D copy;
    copy.from = {
        .x_bytes = bytes / 4, .memory_type = kCuMemoryDevice, .device = at, .pitch = bytes / 2};
    copy.to = {.memory_type = 1, .host = host.data(), .pitch = bytes / 2};
    copy.width_bytes = bytes / 4;
    copy.height = 2;
    return lookup<int(const void*)>(library, name.c_str())(&copy);
  }
  CuMemcpy3D copy;
  copy.from = {.memory_type = 1, .host = host.data()};
  copy.to = {.z = 1, .memory_type = kCuMemoryDevice, .device = at, .pitch = bytes / 4, .height = 2};
  copy.width_bytes = bytes / 4;
  copy.height = 2;
  copy.depth = 1;
  if (name == "cuMemcpy3DPeerAsync")
    return lookup<int(const void*, CuStream)>(library, name.c_str())(&copy, nullptr);
  return lookup<int(const void*)>(library, name.c_str())(&copy);
}
