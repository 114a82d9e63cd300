// The laws of the hub, in memory and on a simulated clock: nothing published is lost, no two shards
// hold one lease, whoever is killed when.
#include "fleet/hub.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <optional>

#include "fleet/lease_client.h"
#include "fleet/memory_fleet.h"

namespace redzone::fleet {
namespace {

using namespace testing;

constexpr LeaseTimes kTimes{.lease = 100, .answer_timeout = 20, .pause = 60};
constexpr int kShards = 3;
constexpr int kSignatures = 3;

// A fleet of which every step is drawn.
class Interleaving {
 public:
  Interleaving() {
    for (int i = 1; i <= kShards; ++i) start_shard(i);
    start_hub();
  }

  void step() {
    const int shard = *rc::gen::inRange(1, kShards + 1);
    const std::string signature(1, static_cast<char>('a' + *rc::gen::inRange(0, kSignatures)));
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
        current(shard).things.insert(signature + std::to_string(++found_));
        return;
      case 1:
        return publish(current(shard));
      case 2:  // its node is lost
        return start_shard(shard);
      case 3: {  // a node that was taken for lost goes on
        auto& any =
            *all_.at(static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(all_.size()))));
        any.things.insert(signature + std::to_string(++found_));
        return publish(any);
      }
      case 4:
        return start_hub();
      case 5:
        RC_ASSERT(hub_->collect().has_value());
        return;
      case 6:
        RC_ASSERT(hub_->answer().has_value());
        return;
      case 7:
      case 8:
        current(shard).leases.reduces(signature);
        return;
      default:
        now_ += *rc::gen::inRange(1, 60);
    }
  }

  void check_leases() const {
    for (int s = 0; s < kSignatures; ++s) {
      std::set<int> holders;
      for (const auto& shard : all_)
        if (shard->leases.holds(std::string(1, static_cast<char>('a' + s))))
          holders.insert(shard->attempt.shard);
      RC_ASSERT(holders.size() <= 1U);
    }
  }
  void check_findings() {
    RC_ASSERT(hub_->collect().has_value());
    for (const auto& thing : published_) RC_ASSERT(share_.hub.contains(thing));
    // Whoever goes on with a shard has what it published last.
    for (int i = 1; i <= kShards; ++i) {
      std::optional<Things> latest;
      for (const auto& [attempt, snapshot] : share_.snapshots)
        if (attempt.shard == i) latest = snapshot.second;
      start_shard(i);
      if (latest) RC_ASSERT(current(i).things == *latest);
    }
  }

 private:
  void start_shard(int shard) {
    int number = 1;
    for (const auto& other : all_)
      if (other->attempt.shard == shard) ++number;
    all_.push_back(std::make_unique<MemoryShard>(
        share_, Attempt{shard, number}, [this] { return now_; }, kTimes));
    latest_[shard] = all_.back().get();
  }
  MemoryShard& current(int shard) { return *latest_.at(shard); }
  void publish(MemoryShard& shard) {
    shard.publish(share_);
    published_.insert(shard.things.begin(), shard.things.end());
  }
  void start_hub() {
    folder_ = std::make_unique<MemoryHub>(share_, ++share_.hub_attempt);
    hub_ = std::make_unique<Hub>(
        *folder_, [this] { return now_; }, kTimes.lease);
    RC_ASSERT(hub_->begin().has_value());
  }

  double now_ = 0;
  int found_ = 0;
  MemoryShare share_;
  Things published_;
  std::vector<std::unique_ptr<MemoryShard>> all_;
  std::map<int, MemoryShard*> latest_;
  std::unique_ptr<MemoryHub> folder_;
  std::unique_ptr<Hub> hub_;
};

TEST(HubLaws, NothingPublishedIsLostAndNoLeaseIsHeldTwiceWhoeverIsKilled) {
  EXPECT_TRUE(rc::check("under any interleaving", [] {
    Interleaving fleet;
    const int steps = *rc::gen::inRange(0, 120);
    for (int i = 0; i < steps; ++i) {
      fleet.step();
      fleet.check_leases();
    }
    fleet.check_findings();
  }));
}

class HubTest : public ::testing::Test {
 protected:
  HubTest() { start_hub(); }

  void start_hub() {
    folder_ = std::make_unique<MemoryHub>(share_, ++share_.hub_attempt);
    hub_ = std::make_unique<Hub>(
        *folder_, [this] { return now_; }, kTimes.lease);
    ASSERT_TRUE(hub_->begin());
  }
  MemoryShard shard(int number) {
    return {share_, {number, 1}, [this] { return now_; }, kTimes};
  }

  double now_ = 0;
  MemoryShare share_;
  std::unique_ptr<MemoryHub> folder_;
  std::unique_ptr<Hub> hub_;
};

TEST_F(HubTest, OneShardReducesAndTheOthersDoNot) {
  auto first = shard(1), second = shard(2);
  EXPECT_EQ(first.leases.reduces("a"), std::nullopt);
  EXPECT_EQ(second.leases.reduces("a"), std::nullopt);
  EXPECT_EQ(second.leases.reduces("b"), std::nullopt);
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(first.leases.reduces("a"), true);
  EXPECT_EQ(second.leases.reduces("a"), false);
  EXPECT_EQ(second.leases.reduces("b"), true);
  EXPECT_TRUE(first.leases.holds("a"));
  EXPECT_FALSE(second.leases.holds("a"));
}

TEST_F(HubTest, WhatIsReducedIsNotReducedAgain) {
  auto first = shard(1), second = shard(2);
  second.leases.reduces("a");  // it asks before that is published
  first.things = {"a"};
  first.publish(share_);
  share_.reduced = {"a"};
  ASSERT_TRUE(hub_->collect());
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(second.leases.reduces("a"), false);
  EXPECT_EQ(hub_->figures().reduced, 1);
}

TEST_F(HubTest, AHubThatIsStartedAgainMergesOnlyWhatIsNew) {
  auto first = shard(1), second = shard(2);
  first.things = {"a"};
  first.publish(share_);
  ASSERT_TRUE(hub_->collect());
  second.things = {"b"};
  second.publish(share_);
  start_hub();
  ASSERT_TRUE(hub_->collect());
  EXPECT_EQ(hub_->figures().merges, 1);
  EXPECT_EQ(share_.hub, (Things{"a", "b"}));
}

TEST_F(HubTest, AMergeThatIsStoppedPublishesWhatItHasAndGoesOnLater) {
  auto first = shard(1), second = shard(2);
  first.things = {"a"};
  first.publish(share_);
  second.things = {"b"};
  second.publish(share_);
  ASSERT_TRUE(hub_->collect([n = 0]() mutable { return n++ > 0; }));
  EXPECT_EQ(share_.hub, Things{"a"});
  ASSERT_TRUE(hub_->collect());
  EXPECT_EQ(share_.hub, (Things{"a", "b"}));
}

TEST_F(HubTest, WhatThePublishedStoreHasReducedIsNotAskedAbout) {
  auto first = shard(1), second = shard(2);
  first.things = {"a"};
  first.publish(share_);
  share_.reduced = {"a", "b"};
  ASSERT_TRUE(hub_->collect());
  EXPECT_EQ(second.leases.reduces("a"), false);
  EXPECT_EQ(share_.questions, 0);
  EXPECT_EQ(second.leases.reduces("b"), std::nullopt) << "no snapshot has it";
  EXPECT_EQ(second.leases.reduces("c"), std::nullopt);
  EXPECT_EQ(share_.pulls, 1) << "the hub has nothing newer yet";
}

TEST_F(HubTest, ALeaseEndsWithItsTimeAndItsHolderKnowsBefore) {
  auto first = shard(1), second = shard(2);
  first.leases.reduces("a");
  now_ += 10;
  ASSERT_TRUE(hub_->answer());
  first.leases.reduces("a");
  now_ = kTimes.lease;  // the hub counts from its answer
  EXPECT_FALSE(first.leases.holds("a"));
  second.leases.reduces("a");
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(second.leases.reduces("a"), false);
  now_ += 10;
  second.leases.reduces("a");
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(second.leases.reduces("a"), true);
}

TEST_F(HubTest, AHubThatIsStartedAgainKeepsTheLeases) {
  auto first = shard(1), second = shard(2);
  first.leases.reduces("a");
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(first.leases.reduces("a"), true);
  now_ += 50;
  start_hub();
  second.leases.reduces("a");
  ASSERT_TRUE(hub_->answer());
  EXPECT_EQ(second.leases.reduces("a"), false);
}

TEST_F(HubTest, AHubThatAnotherOneReplacedAnswersAndPublishesNothing) {
  const auto old_folder = std::exchange(folder_, nullptr);
  const auto old = std::exchange(hub_, nullptr);
  start_hub();
  auto first = shard(1);
  first.things = {"a"};
  first.publish(share_);
  first.leases.reduces("a");
  ASSERT_TRUE(old->answer());
  ASSERT_TRUE(old->collect());
  EXPECT_EQ(first.leases.reduces("a"), std::nullopt);
  EXPECT_EQ(share_.hub, Things{});
}

TEST_F(HubTest, WithoutAHubAShardWaitsOnceAndReduces) {
  auto first = shard(1);
  EXPECT_EQ(first.leases.reduces("a"), std::nullopt);
  now_ += kTimes.answer_timeout;
  EXPECT_EQ(first.leases.reduces("a"), true);
  EXPECT_EQ(first.leases.reduces("b"), true) << "it waits for a hub that is away only once";
  now_ += kTimes.pause;
  EXPECT_EQ(first.leases.reduces("c"), std::nullopt) << "later it waits again";
}

TEST_F(HubTest, ASnapshotThatCannotBeMergedHoldsUpNoOtherAndIsTold) {
  auto first = shard(1), second = shard(2);
  first.things = {"a"};
  first.publish(share_);
  second.things = {"b"};
  second.publish(share_);
  folder_->broken = first.attempt;
  ASSERT_TRUE(hub_->collect());
  EXPECT_EQ(share_.hub, Things{"b"});
  EXPECT_EQ(hub_->figures().refused.at(first.attempt), "not sound");
  folder_->broken.reset();
  first.publish(share_);
  ASSERT_TRUE(hub_->collect());
  EXPECT_EQ(share_.hub, (Things{"a", "b"}));
  EXPECT_TRUE(hub_->figures().refused.empty());
}

TEST_F(HubTest, ASnapshotIsMergedOnceAndNothingNewIsPublishedAgain) {
  auto first = shard(1);
  first.publish(share_);
  EXPECT_EQ(hub_->collect().value(), true);
  const auto messages = share_.messages;
  EXPECT_EQ(hub_->collect().value(), false);
  EXPECT_EQ(hub_->figures().merges, 1);
  EXPECT_EQ(share_.messages, messages);
}

}  // namespace
}  // namespace redzone::fleet
