// The compressed clocks agree with plain vector clocks over all threads.
#include "device/host/thread_order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>
#include <vector>

namespace redzone::device {
namespace {

using host::FenceScope;

constexpr unsigned kBlocks = 3, kThreads = 40, kAll = kBlocks * kThreads;
constexpr Place kCounter{8};

// Each thread knows how many accesses of each other come before its next.
class PlainClocks {
 public:
  using Counts = std::vector<unsigned>;

  PlainClocks() : known_(kAll, Counts(kAll, 0)), fenced_(kAll), in_block_(kAll) {}

  unsigned access(unsigned t) { return ++known_[t][t]; }
  void together(const std::vector<unsigned>& threads) {
    for (auto* counts : {&known_, &fenced_, &in_block_}) {
      Counts all(kAll, 0);
      for (unsigned t : threads) take(all, (*counts)[t]);
      for (unsigned t : threads) (*counts)[t] = all;
    }
  }
  void fence(unsigned t, FenceScope scope) {
    in_block_[t] = known_[t];
    if (scope == FenceScope::device) fenced_[t] = known_[t];
  }
  void publish(unsigned t, Place at) {
    if (!at.shared) take(device_[at.address], fenced_[t]);
    take(of_block_[{at.address, at.shared, t / kThreads}], in_block_[t]);
  }
  void learn(unsigned t, Place at) {
    if (!at.shared) take(known_[t], device_[at.address]);
    take(known_[t], of_block_[{at.address, at.shared, t / kThreads}]);
  }
  bool before(unsigned earlier, unsigned number, unsigned later) const {
    return earlier == later || number <= known_[later][earlier];
  }

 private:
  static void take(Counts& to, const Counts& from) {
    to.resize(kAll, 0);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
  }

  std::vector<Counts> known_, fenced_, in_block_;
  std::map<std::uintptr_t, Counts> device_;
  std::map<std::tuple<std::uintptr_t, bool, unsigned>, Counts> of_block_;
};

GridThread at(unsigned t) {
  return {t / kThreads, t % kThreads};
}

struct Access {
  unsigned thread, number;
  ThreadOrder::Clock clock;
};

void step(ThreadOrder& order, PlainClocks& plain, std::vector<Access>& accesses) {
  const auto t = *rc::gen::inRange(0u, kAll);
  const unsigned block = t / kThreads;
  const Place location{*rc::gen::inRange<std::uintptr_t>(0, 3), *rc::gen::inRange(0, 3) == 0};
  switch (*rc::gen::inRange(0, 10)) {
    case 0: {
      std::vector<unsigned> all;
      for (unsigned i = 0; i < kThreads; ++i) all.push_back(block * kThreads + i);
      order.barrier(block);
      return plain.together(all);
    }
    case 1:
    case 2: {
      const unsigned warp = t % kThreads / 32;
      const auto lanes = *rc::gen::element(~0u, 0xffu, 0x0f0fu, 1u << (t % kThreads % 32), 0x81u);
      std::vector<unsigned> some;
      for (unsigned l = 0; l < 32 && warp * 32 + l < kThreads; ++l)
        if (((lanes >> l) & 1u) != 0) some.push_back(block * kThreads + warp * 32 + l);
      if (some.empty()) return;
      order.sync_lanes(block, warp, lanes);
      return plain.together(some);
    }
    case 3: {
      const auto scope = *rc::gen::element(FenceScope::block, FenceScope::device);
      order.fence(at(t), scope);
      return plain.fence(t, scope);
    }
    case 4:
      order.publish(at(t), location);
      return plain.publish(t, location);
    case 5:
    case 6:
      order.learn(at(t), location);
      return plain.learn(t, location);
    default:
      accesses.push_back({t, plain.access(t), order.now(at(t))});
  }
}

RC_GTEST_PROP(ThreadOrder, AgreesWithPlainVectorClocks, ()) {
  ThreadOrder order;
  order.begin(kThreads);
  for (unsigned b = 0; b < kBlocks; ++b) order.start_block(b);
  PlainClocks plain;
  std::vector<Access> accesses;
  const int steps = *rc::gen::inRange(1, 120);
  for (int i = 0; i < steps; ++i) step(order, plain, accesses);
  for (const Access& a : accesses)
    for (unsigned t = 0; t < kAll; ++t)
      RC_ASSERT(order.before(at(a.thread), a.clock, at(t)) == plain.before(a.thread, a.number, t));
}

TEST(ThreadOrder, AFenceOfTheBlockOrdersNothingForOtherBlocks) {
  ThreadOrder order;
  order.begin(1);
  order.start_block(0);
  order.start_block(1);
  const auto clock = order.now({0, 0});
  order.fence({0, 0}, FenceScope::block);
  order.publish({0, 0}, kCounter);
  order.learn({1, 0}, kCounter);
  EXPECT_FALSE(order.before({0, 0}, clock, {1, 0}));
  order.fence({0, 0}, FenceScope::device);
  order.publish({0, 0}, kCounter);
  order.learn({1, 0}, kCounter);
  EXPECT_TRUE(order.before({0, 0}, clock, {1, 0}));
}

// The fences of a block are cumulative: thread 0 publishes for all.
TEST(ThreadOrder, WhatABarrierOrdersBehindFencesIsPublishedByAnyThread) {
  ThreadOrder order;
  order.begin(kThreads);
  order.start_block(0);
  order.start_block(1);
  const auto clock = order.now({0, 33});
  order.fence({0, 33}, FenceScope::device);
  const auto behind = order.now({0, 33});
  order.barrier(0);
  order.publish({0, 0}, kCounter);
  order.learn({1, 0}, kCounter);
  EXPECT_TRUE(order.before({0, 33}, clock, {1, 0}));
  EXPECT_FALSE(order.before({0, 33}, behind, {1, 0}));
}

// Each thread of so many blocks has a fence of its own, and one entry stands for each block.
TEST(ThreadOrder, AllFencesOfABlockTakeNoMoreRoomThanOne) {
  constexpr std::uint32_t kMany = ThreadOrder::kMostKnown / kThreads + 1;
  ThreadOrder order;
  order.begin(kThreads);
  order.start_block(kMany);
  ThreadOrder::Clock behind = 0;
  for (std::uint32_t b = 0; b < kMany; ++b) {
    order.start_block(b);
    for (unsigned t = 0; t < kThreads; ++t) order.fence({b, t}, FenceScope::device);
    behind = order.now({b, 5});
    order.barrier(b);
    order.publish({b, 0}, kCounter);
    order.end_block(b);
  }
  order.learn({kMany, 0}, kCounter);
  EXPECT_TRUE(order.before({0, 5}, behind - 1, {kMany, 0}));
  EXPECT_FALSE(order.before({0, 5}, behind, {kMany, 0}));
}

TEST(ThreadOrder, SharedMemoryOfAnEndedBlockIsForgotten) {
  constexpr Place kShared{8, true};
  ThreadOrder order;
  order.begin(1);
  order.start_block(0);
  const auto clock = order.now({0, 0});
  order.fence({0, 0}, FenceScope::device);
  order.publish({0, 0}, kShared);
  order.end_block(0);
  order.start_block(1);
  order.learn({1, 0}, kShared);
  EXPECT_FALSE(order.before({0, 0}, clock, {1, 0}));
}

// Of other blocks only: what a thread of its own has done is known as before.
TEST(ThreadOrder, AThreadThatKnowsTooMuchCountsAsKnowingAllOtherBlocks) {
  constexpr std::uint32_t kMany = ThreadOrder::kMostKnown + 1;
  ThreadOrder order;
  order.begin(3);
  order.start_block(kMany);
  const auto fenced = order.now({kMany, 2});
  order.fence({kMany, 2}, FenceScope::device);
  order.publish({kMany, 2}, kCounter);
  for (std::uint32_t b = 0; b < kMany; ++b) {
    order.start_block(b);
    order.fence({b, 0}, FenceScope::device);
    order.publish({b, 0}, kCounter);
    order.end_block(b);
  }
  order.start_block(kMany + 1);
  order.learn({kMany, 0}, kCounter);
  order.fence({kMany, 0}, FenceScope::device);
  order.publish({kMany, 0}, kCounter);
  order.learn({kMany, 1}, kCounter);
  for (const std::uint32_t t : {0u, 1u}) {
    EXPECT_TRUE(order.before({kMany, 2}, fenced, {kMany, t}));
    EXPECT_FALSE(order.before({kMany, 2}, order.now({kMany, 2}), {kMany, t}));
  }
  EXPECT_FALSE(order.guessed());
  EXPECT_TRUE(order.before({kMany + 1, 0}, order.now({kMany + 1, 0}), {kMany, 0}));
  EXPECT_TRUE(order.guessed());
  order.begin(3);
  EXPECT_FALSE(order.guessed());
}

}  // namespace
}  // namespace redzone::device
