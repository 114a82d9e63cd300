// What the race check says of accesses, told one after the other; and the shadow behind it.
#include "device/host/race_check.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

namespace redzone::device {
namespace {

using host::AccessKind;

class RaceCheckTest : public ::testing::Test {
 protected:
  static constexpr unsigned kThreads = 64;

  RaceCheckTest() {
    check_.begin_launch(kThreads, nullptr, statics_);
    for (std::uint32_t b = 0; b < 3; ++b) check_.start_block(b);
  }

  // A write changes the value.
  void touch(unsigned block, int thread, AccessKind kind, std::byte* at, std::size_t bytes = 4,
             std::uintptr_t code = 0) {
    announce(block, thread, kind, at, bytes, code);
    if (host::is_write(kind))
      for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(++value_);
  }
  void announce(unsigned block, int thread, AccessKind kind, const void* at, std::size_t bytes = 4,
                std::uintptr_t code = 0) {
    become(block, thread);
    check_.access(at, bytes, kind, reinterpret_cast<const void*>(code));
  }
  void become(unsigned block, int thread) {
    check_.enter(block, {});
    check_.run(thread);
  }
  std::size_t races() {
    check_.end_launch();
    return check_.races().size();
  }

  unsigned value_ = 0;
  std::array<std::byte, 4096> memory_ = {};
  std::array<std::byte, 64> statics_ = {};
  RaceCheck check_{{{memory_.data(), memory_.data() + memory_.size()}}};
};

TEST_F(RaceCheckTest, TwoWritesRaceUnlessABarrierIsBetween) {
  touch(0, 0, AccessKind::write, &memory_[8]);
  check_.barrier();
  touch(0, 1, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
  touch(0, 40, AccessKind::write, &memory_[8], 4, 7);
  ASSERT_EQ(races(), 1u);
  const Race& race = check_.races().front();
  EXPECT_EQ(race.at, &memory_[8]);
  EXPECT_EQ(race.first.thread, 1u);
  EXPECT_EQ(race.second.thread, 40u);
  EXPECT_EQ(race.second.code, 7u);
  EXPECT_FALSE(race.shared);
}

TEST_F(RaceCheckTest, WritesOfTheSameValueDoNotRace) {
  touch(0, 0, AccessKind::write, &memory_[8]);
  announce(0, 1, AccessKind::write, &memory_[8]);  // leaves the bytes as they are
  announce(1, 0, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
  touch(2, 0, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 1u);
}

// Block 1 waits for the flag that block 0 sets, and takes it back.
TEST_F(RaceCheckTest, AFlagMayBeResetPlainlyBehindAReadThatHasSeenIt) {
  touch(0, 0, AccessKind::atomic_write, &memory_[8]);
  touch(1, 0, AccessKind::atomic_read, &memory_[8]);
  touch(1, 0, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
  // Set again by who does not know of that.
  touch(0, 0, AccessKind::atomic_write, &memory_[8]);
  EXPECT_EQ(races(), 1u);
}

TEST_F(RaceCheckTest, TheReadOfAFlagTellsNothingOfWritesBehindIt) {
  touch(1, 0, AccessKind::atomic_read, &memory_[8]);
  touch(0, 0, AccessKind::atomic_write, &memory_[8]);
  touch(1, 0, AccessKind::read, &memory_[8]);
  EXPECT_EQ(races(), 1u);
}

// Nobody waits, and the write of block 0 may be lost. It shows where the read comes first.
TEST_F(RaceCheckTest, AReadOfAFlagThatWaitsForNothingHidesARaceUnderSomeSchedules) {
  touch(0, 0, AccessKind::atomic_write, &memory_[8]);
  touch(1, 0, AccessKind::atomic_read, &memory_[8]);
  touch(1, 0, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
  touch(1, 0, AccessKind::atomic_read, &memory_[16]);
  touch(0, 0, AccessKind::atomic_write, &memory_[16]);
  touch(1, 0, AccessKind::write, &memory_[16]);
  EXPECT_EQ(races(), 1u);
}

TEST_F(RaceCheckTest, ABarrierCarriesOnThatAFlagWasSeen) {
  touch(0, 0, AccessKind::atomic_write, &memory_[8]);
  touch(1, 0, AccessKind::atomic_read, &memory_[8]);
  check_.barrier();  // of block 1
  touch(1, 40, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
  touch(0, 0, AccessKind::atomic_write, &memory_[16]);
  touch(1, 0, AccessKind::atomic_read, &memory_[16]);
  touch(1, 40, AccessKind::write, &memory_[16]);
  EXPECT_EQ(races(), 1u) << "no barrier";
}

TEST_F(RaceCheckTest, ABarrierOfOneBlockDoesNotOrderAnother) {
  touch(0, 0, AccessKind::write, &memory_[8]);
  check_.barrier();
  touch(1, 0, AccessKind::read, &memory_[8]);
  EXPECT_EQ(races(), 1u);
}

TEST_F(RaceCheckTest, ReadsDoNotRace) {
  for (unsigned block = 0; block < 3; ++block)
    for (int thread = 0; thread < 64; ++thread) touch(block, thread, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
}

// Whichever thread writes, and however many have read.
TEST_F(RaceCheckTest, AWriteRacesWithOneOfManyReads) {
  for (int writer = 0; writer < 64; ++writer) {
    std::byte* const at = &memory_[static_cast<std::size_t>(writer) * 4];
    for (int reader = 0; reader < 64; ++reader) touch(0, reader, AccessKind::read, at);
    touch(0, writer, AccessKind::write, at, 4, static_cast<std::uintptr_t>(writer) + 1);
  }
  EXPECT_EQ(races(), 64u);
}

TEST_F(RaceCheckTest, AtomicsRaceWithPlainAccessesOnly) {
  touch(0, 0, AccessKind::atomic_update, &memory_[0]);
  touch(1, 0, AccessKind::atomic_update, &memory_[0]);
  touch(2, 0, AccessKind::atomic_read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
  touch(0, 5, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 1u);
}

// An atomic of the thread that has written, or of one behind a barrier, hides nothing.
TEST_F(RaceCheckTest, AtomicsDoNotReplacePlainAccesses) {
  touch(0, 0, AccessKind::write, &memory_[0], 4, 1);
  touch(0, 0, AccessKind::atomic_update, &memory_[0], 4, 2);
  check_.barrier();
  touch(0, 1, AccessKind::atomic_update, &memory_[0], 4, 2);
  touch(0, 1, AccessKind::atomic_read, &memory_[0], 4, 3);
  EXPECT_EQ(races(), 0u);
  touch(1, 0, AccessKind::atomic_read, &memory_[0], 4, 4);
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(check_.races().front().first.kind, AccessKind::write);
  EXPECT_EQ(check_.races().front().first.code, 1u);

  touch(0, 0, AccessKind::read, &memory_[8], 4, 5);
  touch(0, 0, AccessKind::atomic_update, &memory_[8], 4, 6);
  touch(1, 0, AccessKind::atomic_update, &memory_[8], 4, 7);
  ASSERT_EQ(races(), 2u);
  EXPECT_EQ(check_.races().back().first.kind, AccessKind::read);
}

// Neither does an atomic read hide an atomic write, or the other way about.
TEST_F(RaceCheckTest, PlainAccessesRaceWithAtomicsOfBothKinds) {
  touch(0, 0, AccessKind::atomic_write, &memory_[0], 4, 1);
  touch(1, 0, AccessKind::atomic_read, &memory_[0], 4, 2);
  touch(1, 40, AccessKind::read, &memory_[0], 4, 3);
  EXPECT_EQ(races(), 1u);
  touch(0, 0, AccessKind::write, &memory_[0], 4, 4);
  EXPECT_EQ(races(), 3u);  // with either read of block 1
  touch(0, 0, AccessKind::write, &memory_[0], 4, 5);
  EXPECT_EQ(races(), 3u);
}

TEST_F(RaceCheckTest, NeighboursInOneWordDoNotRace) {
  touch(0, 0, AccessKind::write, &memory_[0], 2);
  touch(0, 1, AccessKind::write, &memory_[2], 2);
  touch(0, 2, AccessKind::write, &memory_[4], 1);
  touch(0, 3, AccessKind::write, &memory_[5], 1);
  EXPECT_EQ(races(), 0u);
  touch(0, 4, AccessKind::read, &memory_[0], 8);
  EXPECT_EQ(races(), 1u);
  EXPECT_GT(check_.races().front().count, 1u);
}

TEST_F(RaceCheckTest, TheSharedMemoryOfTwoBlocksIsNotTheSame) {
  touch(0, 0, AccessKind::write, &statics_[0]);
  touch(1, 0, AccessKind::write, &statics_[0]);
  EXPECT_EQ(races(), 0u);
  touch(1, 33, AccessKind::read, &statics_[0]);
  ASSERT_EQ(races(), 1u);
  EXPECT_TRUE(check_.races().front().shared);
}

TEST_F(RaceCheckTest, AWarpOperationOrdersItsLanes) {
  touch(0, 0, AccessKind::write, &memory_[0]);
  become(0, 0);
  check_.sync_lanes(0, 0x3);
  touch(0, 1, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
  touch(0, 2, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 1u);
}

// A block that writes its part, fences and counts; the last one reads all parts.
TEST_F(RaceCheckTest, AFenceAndAnAtomicOrderBlocks) {
  std::byte* const counter = &memory_[64];
  for (unsigned block = 0; block < 3; ++block) {
    touch(block, 0, AccessKind::write, &memory_[block * 4]);
    if (block != 1) check_.fence(host::FenceScope::device);
    touch(block, 0, AccessKind::atomic_update, counter);
  }
  touch(2, 0, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
  touch(2, 0, AccessKind::read, &memory_[4]);  // of the block without a fence
  EXPECT_EQ(races(), 1u);
}

// Shared memory has the same address in all blocks, and other threads see it in each.
TEST_F(RaceCheckTest, AtomicsInSharedMemoryOrderOneBlockOnly) {
  touch(0, 0, AccessKind::write, &memory_[0]);
  check_.fence(host::FenceScope::device);
  touch(0, 0, AccessKind::atomic_update, &statics_[0]);
  check_.arrive(&statics_[8]);
  touch(0, 33, AccessKind::atomic_read, &statics_[0]);
  touch(0, 33, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
  touch(1, 0, AccessKind::atomic_read, &statics_[0]);
  check_.waited(&statics_[8]);
  touch(1, 0, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 1u);
}

// So many blocks that what a thread knows of them is given up. That is never a silent pass.
TEST_F(RaceCheckTest, TellsWhenItCannotFollowAtomics) {
  touch(2, 0, AccessKind::write, &memory_[0]);
  for (unsigned block = 3; block < 4 + ThreadOrder::kMostKnown; ++block) {
    check_.start_block(block);
    become(block, 0);
    check_.fence(host::FenceScope::device);
    touch(block, 0, AccessKind::atomic_update, &memory_[64]);
    check_.end_block(block);
  }
  touch(0, 0, AccessKind::atomic_read, &memory_[64]);
  EXPECT_FALSE(check_.lost_track());
  touch(0, 0, AccessKind::read, &memory_[0]);
  EXPECT_EQ(races(), 0u);
  EXPECT_TRUE(check_.lost_track());
  touch(0, 1, AccessKind::write, &memory_[8]);
  touch(0, 0, AccessKind::read, &memory_[8]);  // within the block nothing is guessed
  EXPECT_EQ(races(), 1u);
}

TEST_F(RaceCheckTest, OtherMemoryIsPassedOver) {
  std::byte own[4] = {};
  touch(0, 0, AccessKind::write, own);
  touch(0, 1, AccessKind::write, own);
  EXPECT_EQ(races(), 0u);
}

TEST_F(RaceCheckTest, LaunchesAreOrdered) {
  touch(0, 0, AccessKind::write, &memory_[8]);
  check_.begin_launch(kThreads, nullptr, statics_);
  check_.start_block(0);
  touch(0, 1, AccessKind::write, &memory_[8]);
  EXPECT_EQ(races(), 0u);
}

TEST(Shadow, MissesPagesBeyondItsPool) {
  ShadowPool pool(ShadowPool::kPageBytes / ShadowPool::kWordBytes);
  Shadow shadow(pool);
  const auto nothing = [](ShadowCell&, std::uintptr_t, std::size_t) {};
  EXPECT_TRUE(shadow.visit(0, 8, nothing));
  EXPECT_FALSE(shadow.visit(ShadowPool::kPageBytes, 8, nothing));
  EXPECT_FALSE(shadow.visit(2, 1, nothing));  // needs four times as many cells
  shadow.clear();
  EXPECT_TRUE(shadow.visit(ShadowPool::kPageBytes, 8, nothing));
}

// The limit is of what is allocated, not of what is in use.
TEST(ShadowPool, DoesNotKeepTheMemoryOfDividedPages) {
  constexpr std::size_t kCells = ShadowPool::kPageBytes / ShadowPool::kWordBytes;
  ShadowPool pool(4 * kCells);
  auto page = pool.take();
  ASSERT_TRUE(pool.divide(*page, 1));
  pool.give_back(std::move(page));
  for (int i = 0; i < 4; ++i) {
    const auto again = pool.take();
    ASSERT_NE(again, nullptr);
    EXPECT_LT(again->cells.capacity(), 2 * kCells);
  }
}

// The cells of an access are those of each of its bytes.
RC_GTEST_PROP(Shadow, RemembersBytes, ()) {
  ShadowPool pool(1 << 20);
  Shadow shadow(pool);
  std::map<std::uintptr_t, std::uint32_t> last;  // by byte
  const int accesses = *rc::gen::inRange(1, 60);
  for (int i = 1; i <= accesses; ++i) {
    const auto size = *rc::gen::element<std::size_t>(1, 2, 4, 8, 16, 40);
    const auto at = *rc::gen::inRange<std::uintptr_t>(1000, 1100);
    std::set<std::uint32_t> seen, expected;
    const auto stamp = static_cast<std::uint32_t>(i);
    std::size_t visited = 0;
    RC_ASSERT(
        shadow.visit(at, size, [&](ShadowCell& cell, std::uintptr_t first, std::size_t bytes) {
          RC_ASSERT(first == at + visited);
          visited += bytes;
          seen.insert(cell.write.clock);
          cell.write.clock = stamp;
        }));
    RC_ASSERT(visited == size);
    for (std::uintptr_t b = at; b < at + size; ++b) {
      expected.insert(last[b]);
      last[b] = stamp;
    }
    RC_ASSERT(seen == expected);
  }
}

}  // namespace
}  // namespace redzone::device
