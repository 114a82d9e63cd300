// The blocks of trials, over random sequences of allocations, frees, calls and trials.
#include "memory_preload/trial_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "device/buffer_math.h"

namespace redzone::memory_preload {
namespace {

constexpr Allocator kAllocators[] = {Allocator::guard, Allocator::caching, Allocator::pool,
                                     Allocator::plain};

// Asks the kernel, so that nothing faults.
bool is_readable(const std::byte* at) {
  static const auto ends = [] {
    std::array<int, 2> out{};
    if (::pipe(out.data()) != 0) std::abort();
    return out;
  }();
  char byte = 0;
  if (::write(ends[1], at, 1) != 1) return false;
  return ::read(ends[0], &byte, 1) == 1;
}

std::byte poison_byte(std::uint32_t poison, const std::byte* block, std::size_t bytes,
                      std::size_t i) {
  const auto at = reinterpret_cast<std::uintptr_t>(block + i);
  const bool words = bytes % 4 == 0 && reinterpret_cast<std::uintptr_t>(block) % 4 == 0;
  return std::byte{static_cast<unsigned char>(words ? poison >> (8 * (at & 3)) : poison >> 24)};
}

// What the blocks must be, as their user sees them.
class Model {
 public:
  void begin(const BlockSettings& settings) {
    for (auto& block : live_) block.survivor = true;
    settings_ = settings;
    left_.clear();
    freed_.clear();
    number_ = 0;
    blocks_.begin_trial(settings);
  }
  void end() {
    for (auto& block : live_) block.survivor = true;
    blocks_.end_trial();
    freed_.clear();
  }
  void begin_call(std::int32_t call) {
    call_ = call;
    number_ = 0;
    blocks_.begin_call(call);
  }

  void allocate(std::size_t bytes) {
    auto* const at = static_cast<std::byte*>(blocks_.allocate(bytes));
    ++number_;
    if (settings_.allocator == Allocator::plain) {
      RC_ASSERT(at == nullptr);
      return;
    }
    RC_ASSERT(at != nullptr);
    RC_ASSERT(blocks_.owns(at));
    RC_ASSERT(reinterpret_cast<std::uintptr_t>(at) % settings_.align_bytes == 0u);
    RC_ASSERT(blocks_.bytes_of(at) == bytes);
    for (const auto& other : live_) RC_ASSERT(apart(at, bytes, other.at, other.bytes));
    check_contents(at, bytes);
    const auto mark = std::byte{static_cast<unsigned char>(++marks_)};
    std::memset(at, static_cast<int>(mark), bytes);
    live_.push_back({at, bytes, mark, {call_, number_}, settings_.allocator, false});
  }

  void free(std::size_t which) {
    if (live_.empty()) return;
    const auto it = live_.begin() + static_cast<std::ptrdiff_t>(which % live_.size());
    const Live block = *it;
    live_.erase(it);
    RC_ASSERT(blocks_.free(block.at));
    RC_ASSERT(!blocks_.bytes_of(block.at));
    if (block.allocator == Allocator::guard) {
      freed_.push_back(block);
    } else if (!block.survivor) {
      for (std::size_t i = 0; i < block.bytes; ++i) left_[block.at + i] = block.mark;
    }
  }

  void check() {
    std::uint64_t survivors = 0, survivor_bytes = 0;
    for (const auto& block : live_) {
      for (std::size_t i = 0; i < block.bytes; ++i) RC_ASSERT(block.at[i] == block.mark);
      const auto found = blocks_.find(block.at + block.bytes - 1);
      RC_ASSERT(found && found->begin == block.at && found->bytes == block.bytes && !found->freed);
      RC_ASSERT(found->name.call == block.name.call && found->name.number == block.name.number);
      survivors += block.survivor ? 1 : 0;
      survivor_bytes += block.survivor ? block.bytes : 0;
      if (block.allocator == Allocator::guard) check_guard(block);
    }
    for (const auto& block : freed_) {
      RC_ASSERT(!is_readable(block.at) && !is_readable(block.at + block.bytes - 1));
      const auto found = blocks_.find(block.at);
      RC_ASSERT(found && found->freed && found->begin == block.at);
      RC_ASSERT(!blocks_.free(block.at));
    }
    const BlockCounts counts = blocks_.counts();
    RC_ASSERT(counts.survivors == survivors);
    RC_ASSERT(counts.survivor_bytes == survivor_bytes);
    RC_ASSERT(!blocks_.next_damaged());
  }

 private:
  struct Live {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    std::byte mark{};
    BlockName name;
    Allocator allocator = Allocator::guard;
    bool survivor = false;
  };

  static bool apart(const std::byte* a, std::size_t a_bytes, const std::byte* b,
                    std::size_t b_bytes) {
    return a + a_bytes <= b || b + b_bytes <= a;
  }

  void check_contents(const std::byte* at, std::size_t bytes) const {
    if (settings_.allocator == Allocator::guard) {
      for (const auto& old : freed_) RC_ASSERT(apart(at, bytes, old.at, old.bytes));
      for (std::size_t i = 0; i < bytes; ++i)
        RC_ASSERT(at[i] == poison_byte(settings_.poison, at, bytes, i));
      return;
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto left = left_.find(at + i);
      const std::byte fresh = poison_byte(settings_.poison, at, 4, i);
      RC_ASSERT(at[i] == (left == left_.end() ? fresh : left->second));
    }
  }

  // One side of a page's end is the guard page, and nothing lies far beyond the other.
  void check_guard(const Live& block) const {
    constexpr std::size_t kPage = 4096;
    const auto after = reinterpret_cast<std::uintptr_t>(block.at + block.bytes);
    RC_ASSERT(!is_readable(block.at + block.bytes + (kPage - after % kPage) % kPage));
    const auto begin = reinterpret_cast<std::uintptr_t>(block.at);
    RC_ASSERT(!is_readable(block.at - begin % kPage - 1));
  }

  TrialBlocks blocks_;
  BlockSettings settings_;
  std::vector<Live> live_;
  std::vector<Live> freed_;                     // of the guard allocator, in this trial
  std::map<const std::byte*, std::byte> left_;  // by earlier owners of this trial
  std::int32_t call_ = -1;
  std::uint32_t number_ = 0;
  unsigned marks_ = 0;
};

BlockSettings draw_settings() {
  return {.allocator = *rc::gen::elementOf(
              std::vector<Allocator>(std::begin(kAllocators), std::end(kAllocators))),
          .placement = *rc::gen::element(Placement::guard_after, Placement::guard_before),
          .poison = *rc::gen::arbitrary<std::uint32_t>(),
          .align_bytes = *rc::gen::element<std::size_t>(16, 64, 256)};
}

TEST(TrialBlocks, LiveBlocksKeepTheirPlaceAndContentsOverTrials) {
  EXPECT_TRUE(rc::check([] {
    Model model;
    model.begin(draw_settings());
    model.begin_call(0);
    const int steps = *rc::gen::inRange(1, 80);
    for (int i = 0; i < steps; ++i) {
      const int what = *rc::gen::inRange(0, 20);
      if (what == 0) {
        model.end();
        model.free(*rc::gen::arbitrary<std::uint32_t>());  // between two trials
        model.begin(draw_settings());
        model.begin_call(-1);
      } else if (what == 1) {
        model.begin_call(*rc::gen::inRange(0, 5));
      } else if (what < 13) {
        model.allocate(*rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 200),
                                       rc::gen::inRange<std::size_t>(1, 9000)));
      } else {
        model.free(*rc::gen::arbitrary<std::uint32_t>());
      }
      if (what < 2 || i + 1 == steps) model.check();
    }
  }));
}

class Blocks : public testing::Test {
 protected:
  void begin(Allocator allocator, Placement placement = Placement::guard_after) {
    BlockSettings settings;
    settings.allocator = allocator;
    settings.placement = placement;
    blocks.begin_trial(settings);
    blocks.begin_call(0);
  }
  std::byte* allocate(std::size_t bytes) { return static_cast<std::byte*>(blocks.allocate(bytes)); }

  TrialBlocks blocks;
};

TEST_F(Blocks, GuardedBlocksEndOrStartAtAnInaccessiblePage) {
  begin(Allocator::guard);
  const auto* const ends = allocate(640);
  EXPECT_TRUE(is_readable(ends + 639));
  EXPECT_FALSE(is_readable(ends + 640));
  begin(Allocator::guard, Placement::guard_before);
  const auto* const starts = allocate(640);
  EXPECT_TRUE(is_readable(starts));
  EXPECT_FALSE(is_readable(starts - 1));
}

TEST_F(Blocks, WritesIntoTheSlackAreReportedOnce) {
  begin(Allocator::guard);
  (void)allocate(8);
  std::byte* const freed = allocate(60);
  std::byte* const kept = allocate(100);
  freed[61] ^= std::byte{1};
  kept[-3] ^= std::byte{1};
  kept[-2] ^= std::byte{1};
  EXPECT_TRUE(blocks.free(freed));
  const auto first = blocks.next_damaged();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name.number, 2u);
  EXPECT_EQ(first->bytes, 60u);
  EXPECT_EQ(first->dirty_after, 1u);
  EXPECT_EQ(first->dirty_before, 0u);
  EXPECT_EQ(first->first_dirty_byte, 61);
  const auto second = blocks.next_damaged();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name.number, 3u);
  EXPECT_EQ(second->dirty_before, 2u);
  EXPECT_EQ(second->first_dirty_byte, -3);
  EXPECT_FALSE(blocks.next_damaged());
  EXPECT_TRUE(blocks.free(kept));
  EXPECT_FALSE(blocks.next_damaged()) << "it was reported while it lived";
}

// numpy relies on the 16 bytes of malloc(), so less slack hides a read behind a block.
TEST_F(Blocks, OfNumpyAreCountedForThemselvesAndAlignedAsThoseOfMalloc) {
  begin(Allocator::guard);
  (void)allocate(8);
  const auto* const block = static_cast<std::byte*>(blocks.allocate(20, Maker::numpy));
  EXPECT_TRUE(is_readable(block + 31));
  EXPECT_FALSE(is_readable(block + 32));
  const auto found = blocks.find(block);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name.number, 1u);
  EXPECT_EQ(found->name.maker, Maker::numpy);
  EXPECT_EQ(blocks.find(allocate(8))->name.number, 2u);
}

TEST_F(Blocks, OrderedAllocatorsReuseMemoryAtOnceAndLeaveItsContents) {
  for (const auto allocator : {Allocator::caching, Allocator::pool}) {
    begin(allocator);
    std::byte* const first = allocate(1000);
    first[7] = std::byte{42};
    EXPECT_TRUE(blocks.free(first));
    std::byte* const again = allocate(900);  // of the same size class
    EXPECT_EQ(again, first);
    EXPECT_EQ(again[7], std::byte{42});
    EXPECT_EQ(again[8], std::byte{0xff});
  }
}

TEST_F(Blocks, OfACallOnlyAndNoEmptyOnes) {
  begin(Allocator::guard);
  EXPECT_EQ(allocate(0), nullptr);
  EXPECT_NE(allocate(1), nullptr);
  blocks.end_call();
  EXPECT_EQ(allocate(1), nullptr);
  blocks.begin_call(1);
  EXPECT_NE(allocate(1), nullptr);
  blocks.end_trial();
  EXPECT_EQ(allocate(1), nullptr);
}

TEST_F(Blocks, WhatExceedsALimitIsLeftOutAndCounted) {
  BlockSettings settings;
  settings.most_blocks = 2;
  settings.most_bytes = 1000;
  blocks.begin_trial(settings);
  blocks.begin_call(0);
  EXPECT_EQ(allocate(1001), nullptr);
  std::byte* const first = allocate(600);
  EXPECT_EQ(allocate(401), nullptr);
  EXPECT_NE(allocate(400), nullptr);
  EXPECT_EQ(allocate(1), nullptr) << "two are alive";
  EXPECT_TRUE(blocks.free(first));
  EXPECT_NE(allocate(600), nullptr);
  const BlockCounts counts = blocks.counts();
  EXPECT_EQ(counts.blocks, 3u);
  EXPECT_EQ(counts.bytes, 1600u);
  EXPECT_EQ(counts.left_out_blocks, 3u);
  EXPECT_EQ(counts.left_out_bytes, 1403u);
}

TEST_F(Blocks, AddressesAreUsedAgainInTheNextTrial) {
  std::set<const std::byte*> seen;
  for (int trial = 0; trial < 100; ++trial) {
    begin(Allocator::guard);
    for (int i = 0; i < 3; ++i) {
      std::byte* const at = allocate(100);
      seen.insert(at);
      EXPECT_TRUE(blocks.free(at));
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(Blocks, ASegmentWithASurvivorIsKeptUntilItIsFreed) {
  begin(Allocator::caching);
  std::byte* const survivor = allocate(1000);
  survivor[0] = std::byte{1};
  begin(Allocator::caching);
  std::byte* const other = allocate(1000);
  EXPECT_NE(other, survivor);
  EXPECT_TRUE(blocks.free(survivor));
  begin(Allocator::caching);
  std::set<std::byte*> fresh{allocate(1000)};
  // A second segment: small blocks have 2 MiB.
  for (int i = 0; i < 2048; ++i) fresh.insert(allocate(1000));
  EXPECT_TRUE(fresh.contains(survivor));
  EXPECT_EQ(survivor[0], std::byte{0xff}) << "the segment is new to this trial";
}

TEST_F(Blocks, AddressesBesideBlocksAreAttributedToTheNearest) {
  begin(Allocator::guard);
  std::byte* const first = allocate(4096);
  std::byte* const second = allocate(4096);
  EXPECT_EQ(blocks.find(first + 5000)->begin, first);
  EXPECT_EQ(blocks.find(second - 5000)->begin, second);
  EXPECT_EQ(blocks.find(second + 5000)->name.number, 2u);
}

}  // namespace
}  // namespace redzone::memory_preload
