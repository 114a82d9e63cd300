// Guards each tensor of PyTorch as a block, through PyTorch's pluggable allocator interface: each
// call gets the stream in whose order it takes effect, other streams that use a tensor are
// recorded, and memory of graphs stays while they may be replayed.
//
// Blocks come from DeviceMemory or, if it cannot guard a block (the reason is counted), from the
// driver.
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
  // Both arguments must outlive this object.
  TorchBlocks(const Driver& driver, DeviceMemory& memory) : driver_(driver), memory_(memory) {}

  // Allocates at least one byte in the current context. Returns 0 if there is no memory.
  CuAddress allocate(std::size_t bytes, CuStream stream, const Frames& from);
  // Frees in the order of the stream for which the block was allocated and of the recorded streams.
  void free(CuAddress block, CuStream stream, const Frames& from);
  void record_stream(CuAddress block, CuStream stream);

  void begin_pool(GraphPools::Pool pool);
  void end_pool(GraphPools::Pool pool);
  void release_pool(GraphPools::Pool pool);

  // Call around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  CuAddress allocate_plain(std::size_t bytes);
  // Frees the driver's own blocks whose free had to wait for the end of a capture.
  void free_waiting();
  void free_now(CuAddress block, Order order, const Frames& from);

  const Driver& driver_;
  DeviceMemory& memory_;
  std::mutex mutex_;  // protects the members below
  GraphPools pools_;
  std::set<CuAddress> plain_;  // blocks allocated by the driver
  std::vector<CuAddress> waiting_;
};

}  // namespace redzone::interpose
