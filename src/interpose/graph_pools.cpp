#include "interpose/graph_pools.h"

namespace redzone::interpose {

void GraphPools::begin(Pool pool) {
  Uses& uses = pools_[pool];
  ++uses.graphs;
  ++uses.captures;
}

void GraphPools::end(Pool pool) {
  const auto at = pools_.find(pool);
  if (at != pools_.end() && at->second.captures > 0) --at->second.captures;
}

std::vector<CuAddress> GraphPools::release(Pool pool) {
  std::vector<CuAddress> out;
  const auto at = pools_.find(pool);
  if (at == pools_.end() || --at->second.graphs > 0) return out;
  pools_.erase(at);
  for (auto it = blocks_.begin(); it != blocks_.end();) {
    Block& block = it->second;
    block.pools.erase(pool);
    if (block.pools.empty() && block.is_freed) out.push_back(it->first);
    it = block.pools.empty() ? blocks_.erase(it) : std::next(it);
  }
  return out;
}

void GraphPools::allocated(CuAddress block) {
  std::set<Pool> open;
  for (const auto& [pool, uses] : pools_)
    if (uses.captures > 0) open.insert(pool);
  if (!open.empty()) blocks_[block] = {std::move(open), false};
}

bool GraphPools::keeps(CuAddress block) {
  const auto at = blocks_.find(block);
  if (at == blocks_.end()) return false;
  at->second.is_freed = true;
  return true;
}

}  // namespace redzone::interpose
