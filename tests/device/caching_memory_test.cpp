// Invariants of the block cache, over segments that are only addresses.
#include "device/caching_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

namespace redzone::device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Hands out addresses that must not be accessed. Reuses the region of the same size that was
// released last.
class Addresses final : public Memory {
 public:
  Status<Region> acquire(std::size_t bytes) override {
    if (bytes > most_bytes)
      return tl::unexpected(Failure{Failure::Kind::out_of_memory, "", "too much"});
    ++live;
    if (auto& idle = idle_[bytes]; !idle.empty()) {
      const Region region = idle.back();
      idle.pop_back();
      return region;
    }
    ++made;
    const Region region{reinterpret_cast<std::byte*>(next_), bytes};
    next_ += bytes + gap_;
    gap_ = gap_ == 0 ? 4096 : 0;  // adjacent segments must not be merged
    return region;
  }
  void release(Region region) override {
    --live;
    idle_[region.bytes].push_back(region);
  }
  void trim() override {}
  std::uint64_t mapping_calls() const override { return made; }

  std::size_t most_bytes = std::size_t{1} << 40;
  std::uint64_t made = 0;
  int live = 0;

 private:
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  std::uintptr_t gap_ = 0;
  std::map<std::size_t, std::vector<Region>> idle_;
};

struct Request {
  bool give_back = false;
  std::size_t bytes = 1;  // acquire
  int stream = 0;
  std::uint32_t which = 0;  // release: which of the live regions
};

std::vector<Request> draw_requests() {
  return *rc::gen::container<std::vector<Request>>(
      rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<bool>(),
                                  rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 5000),
                                                 rc::gen::inRange<std::size_t>(1, 2 * kMiB),
                                                 rc::gen::inRange<std::size_t>(1, 30 * kMiB)),
                                  rc::gen::inRange(0, 3), rc::gen::arbitrary<std::uint32_t>()),
                   [](const std::tuple<bool, std::size_t, int, std::uint32_t>& t) {
                     return Request{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)};
                   }));
}

struct Live {
  Region region;
  int stream = 0;
};

// Runs the requests. Calls `each` with every acquired region and those live at that time.
template <class Each>
std::vector<Live> run(CachingMemory& memory, const std::vector<Request>& requests, Each each) {
  std::vector<Live> live;
  for (const Request& r : requests) {
    if (!r.give_back) {
      const auto region = memory.acquire(r.bytes, r.stream);
      RC_ASSERT(region.has_value());
      each(*region, r, live);
      live.push_back({*region, r.stream});
    } else if (!live.empty()) {
      const auto at = live.begin() + static_cast<std::ptrdiff_t>(r.which % live.size());
      RC_ASSERT(memory.release(at->region, at->stream).has_value());
      live.erase(at);
    }
  }
  return live;
}

bool apart(const Region& a, const Region& b) {
  return a.base + a.bytes <= b.base || b.base + b.bytes <= a.base;
}

TEST(CachingMemory, LiveBlocksAreAlignedLargeEnoughAndApart) {
  EXPECT_TRUE(rc::check([] {
    Addresses segments;
    CachingMemory memory(segments);
    run(memory, draw_requests(), [](const Region& region, const Request& r, const auto& live) {
      RC_ASSERT(reinterpret_cast<std::uintptr_t>(region.base) % 512 == 0u);
      RC_ASSERT(region.bytes >= r.bytes);
      RC_ASSERT(region.bytes % 512 == 0u);
      for (const Live& other : live) RC_ASSERT(apart(region, other.region));
    });
  }));
}

TEST(CachingMemory, WhatIsFreeAgainMergesBackToWholeSegments) {
  EXPECT_TRUE(rc::check([] {
    Addresses segments;
    CachingMemory memory(segments);
    const auto live = run(memory, draw_requests(), [](const auto&...) {});
    for (const Live& l : live) RC_ASSERT(memory.release(l.region, l.stream).has_value());
    RC_ASSERT(memory.free_blocks() == memory.segments());
    RC_ASSERT(static_cast<std::size_t>(segments.live) == memory.segments());
    memory.reset();
    RC_ASSERT(segments.live == 0);
  }));
}

TEST(CachingMemory, TheSameRequestsAreLaidOutTheSameWayAfterAReset) {
  EXPECT_TRUE(rc::check([] {
    Addresses segments;
    CachingMemory memory(segments);
    const auto requests = draw_requests();
    std::vector<Region> first, second;
    run(memory, requests, [&](const Region& r, const auto&...) { first.push_back(r); });
    memory.reset();
    const auto made = segments.made;
    run(memory, requests, [&](const Region& r, const auto&...) { second.push_back(r); });
    RC_ASSERT(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) RC_ASSERT(first[i].base == second[i].base);
    RC_ASSERT(segments.made == made);  // no mapping call
  }));
}

TEST(CachingMemory, MemoryGoesFromStreamToStreamOnlyWhereItIsFreedThere) {
  EXPECT_TRUE(rc::check([] {
    Addresses segments;
    CachingMemory memory(segments);
    std::map<const std::byte*, int> stream_of;  // last stream, by 512-byte piece
    const auto mark = [&](const Region& r, int stream) {
      for (std::size_t at = 0; at < r.bytes; at += 512) {
        const auto [it, fresh] = stream_of.try_emplace(r.base + at, stream);
        RC_ASSERT(fresh || it->second == stream);
      }
    };
    // Small regions only, since each piece is recorded separately.
    auto requests = draw_requests();
    for (auto& r : requests) r.bytes = 1 + r.bytes % 20000;
    run(memory, requests,
        [&](const Region& region, const Request& r, const auto&) { mark(region, r.stream); });
  }));
}

TEST(CachingMemory, AFreedBlockIsTakenAgainAtOnce) {
  Addresses segments;
  CachingMemory memory(segments);
  const Region first = *memory.acquire(1000, 0);
  ASSERT_TRUE(memory.release(first, 0));
  EXPECT_NE(memory.acquire(1000, 1)->base, first.base) << "not by another stream";
  EXPECT_EQ(memory.acquire(900, 0)->base, first.base);
}

TEST(CachingMemory, ABlockBelongsToTheStreamThatItIsFreedOn) {
  Addresses segments;
  CachingMemory memory(segments);
  const Region first = *memory.acquire(1000, 0);
  ASSERT_TRUE(memory.release(first, 1));
  EXPECT_NE(memory.acquire(1000, 0)->base, first.base);
  EXPECT_EQ(memory.acquire(1000, 1)->base, first.base);
}

TEST(CachingMemory, SegmentsHaveTheSizesOfTheOriginal) {
  const auto segment_for = [](std::size_t bytes) {
    Addresses segments;
    CachingMemory memory(segments);
    EXPECT_TRUE(memory.acquire(bytes, 0));
    memory.reset();
    for (const std::size_t mib : {2, 4, 10, 12, 20, 22}) {
      const auto made = segments.made;
      EXPECT_TRUE(segments.acquire(mib * kMiB));
      if (segments.made == made) return mib;
    }
    return std::size_t{0};
  };
  EXPECT_EQ(segment_for(1), 2u);
  EXPECT_EQ(segment_for(kMiB), 2u);
  EXPECT_EQ(segment_for(kMiB + 1), 20u);
  EXPECT_EQ(segment_for(10 * kMiB - 512), 20u);
  EXPECT_EQ(segment_for(10 * kMiB), 10u);
  EXPECT_EQ(segment_for(10 * kMiB + 1), 12u);
  EXPECT_EQ(segment_for(21 * kMiB), 22u);
}

TEST(CachingMemory, LargeBlocksAreSplitOnlyWhereMoreThanAMiBIsLeft) {
  Addresses segments;
  CachingMemory memory(segments);
  EXPECT_EQ(memory.acquire(19 * kMiB / 2, 0)->bytes, 19 * kMiB / 2);
  const Region rest = *memory.acquire(19 * kMiB / 2, 0);
  EXPECT_EQ(rest.bytes, 21 * kMiB / 2) << "1 MiB is left of it";
}

TEST(CachingMemory, TheSmallestBlockThatFitsIsTaken) {
  Addresses segments;
  CachingMemory memory(segments);
  std::vector<Region> blocks;
  for (std::size_t bytes : {8192, 512, 2048, 512, 4096, 512})
    blocks.push_back(*memory.acquire(bytes, 0));
  for (int i : {0, 2, 4}) ASSERT_TRUE(memory.release(blocks[static_cast<std::size_t>(i)], 0));
  EXPECT_EQ(memory.acquire(1500, 0)->base, blocks[2].base);
  EXPECT_EQ(memory.acquire(2500, 0)->base, blocks[4].base);
  EXPECT_EQ(memory.acquire(4097, 0)->base, blocks[0].base);
}

TEST(CachingMemory, TellsWhenThereIsNoMemory) {
  Addresses segments;
  segments.most_bytes = 20 * kMiB;
  CachingMemory memory(segments);
  for (const std::size_t bytes : {30 * kMiB, ~std::size_t{0}}) {
    const auto refused = memory.acquire(bytes, 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Failure::Kind::out_of_memory);
  }
  EXPECT_TRUE(memory.acquire(kMiB, 0));
}

}  // namespace
}  // namespace redzone::device
