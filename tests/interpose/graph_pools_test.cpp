#include "interpose/graph_pools.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace redzone::interpose {
namespace {

constexpr GraphPools::Pool kFirst{0, 1}, kSecond{0, 2};
constexpr CuAddress kBlock = 0x1000;

TEST(GraphPools, ABlockStaysUntilTheGraphIsGone) {
  GraphPools pools;
  pools.begin(kFirst);
  pools.allocated(kBlock);
  EXPECT_TRUE(pools.keeps(kBlock));
  pools.end(kFirst);
  EXPECT_EQ(pools.release(kFirst), std::vector<CuAddress>{kBlock});
  EXPECT_FALSE(pools.keeps(kBlock)) << "it is another block by now";
}

TEST(GraphPools, ABlockThatTheProgramStillHasIsFreedByTheProgram) {
  GraphPools pools;
  pools.begin(kFirst);
  pools.allocated(kBlock);
  pools.end(kFirst);
  EXPECT_TRUE(pools.release(kFirst).empty());
  EXPECT_FALSE(pools.keeps(kBlock));
}

TEST(GraphPools, ASharedPoolIsReleasedWithTheLastOfItsGraphs) {
  GraphPools pools;
  for (int graph = 0; graph < 2; ++graph) {
    pools.begin(kFirst);
    if (graph == 0) pools.allocated(kBlock);
    pools.end(kFirst);
  }
  EXPECT_TRUE(pools.keeps(kBlock));
  EXPECT_TRUE(pools.release(kFirst).empty());
  EXPECT_EQ(pools.release(kFirst).size(), 1u);
}

TEST(GraphPools, WithoutACaptureNothingIsKept) {
  GraphPools pools;
  pools.allocated(kBlock);
  EXPECT_FALSE(pools.keeps(kBlock));
  pools.begin(kFirst);
  pools.end(kFirst);
  pools.allocated(kBlock);
  EXPECT_FALSE(pools.keeps(kBlock));
  EXPECT_TRUE(pools.release(kSecond).empty());
}

// Each block that is freed comes back exactly once, and not before the last graph of each pool into
// which a capture ran when it was allocated.
RC_GTEST_PROP(GraphPools, FreedBlocksComeBackOnceAndNotTooEarly, ()) {
  GraphPools pools;
  std::map<GraphPools::Pool, int> graphs, captures;
  std::map<CuAddress, std::set<GraphPools::Pool>> needed_by;  // of live and kept blocks
  std::set<CuAddress> live, kept;
  CuAddress next = 0x1000;
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    const auto pool = *rc::gen::element(kFirst, kSecond);
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        pools.begin(pool);
        ++graphs[pool];
        ++captures[pool];
        break;
      case 1:
        pools.end(pool);
        captures[pool] = std::max(0, captures[pool] - 1);
        break;
      case 2:
        pools.allocated(next);
        live.insert(next);
        for (const auto& [open, count] : captures)
          if (count > 0) needed_by[next].insert(open);
        next += 0x1000;
        break;
      case 3:
        if (!live.empty()) {
          const CuAddress block = *live.begin();
          live.erase(block);
          RC_ASSERT(pools.keeps(block) == !needed_by[block].empty());
          if (!needed_by[block].empty()) kept.insert(block);
        }
        break;
      default: {
        const auto back = pools.release(pool);
        if (graphs[pool] > 0 && --graphs[pool] == 0) {
          captures[pool] = 0;
          for (auto& [block, all] : needed_by) all.erase(pool);
        }
        for (const CuAddress block : back) {
          RC_ASSERT(needed_by[block].empty());
          RC_ASSERT(kept.erase(block) == 1u);
        }
        for (const CuAddress block : kept) RC_ASSERT(!needed_by[block].empty());
      }
    }
  }
}

}  // namespace
}  // namespace redzone::interpose
