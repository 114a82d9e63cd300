// Which blocks the graphs of a framework use. PyTorch frees a tensor of a capture once no variable
// refers to it, but each replay of the graph writes to its memory again. So it stays until the pool
// of the graph is released. Thread-safe with a lock of its caller.
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
  using Pool = std::pair<std::uint64_t, std::uint64_t>;  // as PyTorch numbers them

  // A capture into the pool begins, and ends. Several graphs may share a pool, and several captures
  // run at a time.
  void begin(Pool pool);
  void end(Pool pool);
  // One graph of the pool is gone. The blocks that the program has freed before and that no pool
  // keeps any longer.
  std::vector<CuAddress> release(Pool pool);

  // A block for a stream that captures: it is of each pool into which a capture runs, because which
  // of them the stream belongs to is not known.
  void allocated(CuAddress block);
  // The program frees the block. True: a pool keeps it, and release() gives it out.
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
  std::map<CuAddress, Block> blocks_;  // those of a pool
};

}  // namespace redzone::interpose
