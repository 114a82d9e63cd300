// Records which blocks the graphs of a framework use. PyTorch frees a tensor of a capture once no
// variable refers to it, but each replay of the graph writes to its memory again, so the block
// stays until the pool of the graph is released. Thread-safe only with a lock of the caller.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "interpose/driver_abi.h"

namespace redzone::interpose {

class GraphPools {
 public:
  using Pool = std::pair<std::uint64_t, std::uint64_t>;  // PyTorch's identifier of a pool

  // A capture into the pool begins, or ends. Several graphs may share a pool, and several captures
  // may run at a time.
  void begin(Pool pool);
  void end(Pool pool);
  // Call when one graph of the pool is gone. Returns the blocks that the program has freed before
  // and that no pool keeps any longer.
  std::vector<CuAddress> release(Pool pool);

  // Records a block allocated for a stream that captures. The block belongs to each pool into which
  // a capture runs, because the stream's pool is unknown.
  void allocated(CuAddress block);
  // Call when the program frees the block. True if a pool keeps the block; release() then returns
  // it later.
  bool keeps(CuAddress block);

 private:
  struct Uses {
    int graphs = 0, captures = 0;
  };
  struct Block {
    std::set<Pool> pools;
    bool is_freed = false;
  };

  std::map<Pool, Uses> pools_;
  std::map<CuAddress, Block> blocks_;  // blocks of at least one pool
};

}  // namespace redzone::interpose
