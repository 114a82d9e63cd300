// Tensors of PyTorch, each a block, through the interface of its pluggable allocator: each call has
// the stream in whose order it is, other streams that use a tensor are recorded, and memory of
// graphs stays while they may be replayed.
//
// Blocks come from DeviceMemory, or where that cannot guard one (it counts why) from the driver.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <vector>

#include "interpose/device_memory.h"
#include "interpose/driver.h"
#include "interpose/graph_pools.h"

namespace redzone::interpose {

class TorchBlocks {
 public:
  // Both outlive this object.
  TorchBlocks(const Driver& driver, DeviceMemory& memory) : driver_(driver), memory_(memory) {}

  // At least one byte, in the current context. 0: there is no memory.
  CuAddress allocate(std::size_t bytes, CuStream stream, const Frames& from);
  // In the order of the stream for which it was allocated, and of those that were recorded.
  void free(CuAddress block, CuStream stream, const Frames& from);
  void record_stream(CuAddress block, CuStream stream);

  void begin_pool(GraphPools::Pool pool);
  void end_pool(GraphPools::Pool pool);
  void release_pool(GraphPools::Pool pool);

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  CuAddress allocate_plain(std::size_t bytes);
  // The driver's own blocks whose free had to wait for the end of a capture.
  void free_waiting();
  void free_now(CuAddress block, Order order, const Frames& from);

  const Driver& driver_;
  DeviceMemory& memory_;
  std::mutex mutex_;  // of the members below
  GraphPools pools_;
  std::set<CuAddress> plain_;  // blocks of the driver
  std::vector<CuAddress> waiting_;
};

}  // namespace redzone::interpose
