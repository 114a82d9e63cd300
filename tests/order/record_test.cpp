#include "order/record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

namespace redzone::order {
namespace {

// Three buffers, which are only addresses here.
class Launches {
 public:
  Launches() {
    record.add({"in", 0, at(0), 64, /*constant=*/true});
    record.add({"tmp", 0, at(1), 64});
    record.add({"out", 0, at(2), 64});
  }
  std::byte* at(int buffer) { return memory_.data() + std::ptrdiff_t{128} * buffer; }
  // A kernel with these pointers between two numbers.
  std::optional<Record::Operation> launch(const char* kernel, std::vector<const void*> pointers,
                                          int stream, std::int32_t call = 0) {
    struct {
      std::uint64_t n = 7;
      const void* p = nullptr;
      std::uint64_t m = 9;
    } parameter;
    std::vector<decltype(parameter)> all;
    for (const void* p : pointers) all.push_back({7, p, 9});
    std::vector<void*> places;
    std::vector<std::size_t> sizes;
    for (auto& one : all) {
      places.push_back(&one);
      sizes.push_back(sizeof one);
    }
    return record.launch(kernel, {places.data(), sizes.data(), places.size()}, {call, stream});
  }

  Record record{3, 2};

 private:
  std::array<std::byte, 512> memory_ = {};
};

TEST(Record, AMissingWaitIsACandidateWithBothOperationsAndTheBuffer) {
  Launches p;
  p.launch("make", {p.at(0), p.at(1)}, 0);
  p.launch("read", {p.at(1), p.at(2)}, 2);
  ASSERT_EQ(p.record.candidates().size(), 1u);
  const OrderCandidate& c = p.record.candidates().front();
  EXPECT_EQ(c.problem, OrderProblem::unordered_use);
  EXPECT_EQ(c.buffer, "tmp");
  EXPECT_EQ(c.first, (OrderedOperation{.number = 0, .name = "make", .call = 0, .stream = 0}));
  EXPECT_EQ(c.second,
            (OrderedOperation{.number = 1, .name = "read", .call = 0, .stream = 1, .side = true}));
}

TEST(Record, AKernelMayBeNamedAsWhatTheHarnessDoes) {
  Launches p;
  const std::span<const std::byte> tmp(p.at(1), 64);
  p.record.use(OperationKind::fill, {&tmp, 1}, /*writes=*/true, {-1, 0});
  p.launch("fill", {p.at(1)}, 1);
  p.launch("fill", {p.at(1)}, 2);
  const auto& all = p.record.candidates();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first.kind, OperationKind::fill);
  EXPECT_EQ(all[0].second.kind, OperationKind::kernel);
  EXPECT_EQ(all[1].first.kind, OperationKind::kernel) << "taken for the pair before";
}

TEST(Record, AMemsetWrites) {
  Launches p;
  p.launch("read", {p.at(0)}, 0);
  p.record.memset(p.at(0), 64, {0, 1});
  p.record.memset(p.at(1), 32, {0, 1});
  p.launch("make", {p.at(1)}, 0);
  const auto& all = p.record.candidates();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].buffer, "in");
  EXPECT_EQ(all[1].first.kind, OperationKind::memset);
  EXPECT_EQ(all[1].first.name, "memset");
}

TEST(Record, AWaitOrASynchronizationLeavesNone) {
  Launches waits;
  waits.launch("make", {waits.at(1)}, 0);
  waits.record.wait(1, 0);
  waits.launch("read", {waits.at(1)}, 1);
  EXPECT_TRUE(waits.record.candidates().empty());

  Launches synchronizes;
  synchronizes.launch("make", {synchronizes.at(1)}, 0);
  synchronizes.record.synchronize();
  synchronizes.launch("read", {synchronizes.at(1)}, 1);
  EXPECT_TRUE(synchronizes.record.candidates().empty());
}

TEST(Record, TwoReadsDoNotConflict) {
  Launches p;
  p.launch("a", {p.at(0)}, 0);
  p.launch("b", {p.at(0) + 8}, 1);
  EXPECT_TRUE(p.record.candidates().empty());
}

TEST(Record, CopiesOfOtherBytesDoNotConflict) {
  Launches p;
  p.record.copy(p.at(1), p.at(0), 16, {0, 0});
  p.record.copy(p.at(1) + 16, p.at(0), 16, {0, 1});
  EXPECT_TRUE(p.record.candidates().empty());
  p.record.copy(p.at(1) + 8, p.at(0), 16, {0, 2});
  EXPECT_EQ(p.record.candidates().size(), 1u);  // the two copies have one name
}

TEST(Record, AFreeMustComeAfterEachUse) {
  Launches p;
  p.launch("use", {p.at(1)}, 0);
  p.record.free(p.at(1), {1, 1});
  ASSERT_EQ(p.record.candidates().size(), 1u);
  EXPECT_EQ(p.record.candidates()[0].problem, OrderProblem::unordered_free);
  EXPECT_EQ(p.record.candidates()[0].second.name, "free");
  EXPECT_EQ(p.record.candidates()[0].second.call, 1);
}

TEST(Record, AUseBehindAFreeSaysWhoFreed) {
  Launches p;
  p.launch("use", {p.at(1)}, 0);
  p.record.free(p.at(1), {1, 0});
  p.launch("late", {p.at(1)}, 0, 2);
  ASSERT_EQ(p.record.candidates().size(), 1u);
  EXPECT_EQ(p.record.candidates()[0].problem, OrderProblem::freed_use);
  EXPECT_EQ(p.record.candidates()[0].first.call, 1);
  EXPECT_EQ(p.record.candidates()[0].second.name, "late");
}

TEST(Record, AGraphUsesItsBuffersWhereItRuns) {
  Launches p;
  p.record.begin_capture();
  EXPECT_FALSE(p.launch("captured", {p.at(1)}, 0));
  p.record.end_capture(true);
  p.record.free(p.at(1), {1, 0});
  EXPECT_TRUE(p.record.candidates().empty());
  EXPECT_TRUE(p.record.replay(1, {0, 0}));
  ASSERT_EQ(p.record.candidates().size(), 1u);
  EXPECT_EQ(p.record.candidates()[0].problem, OrderProblem::freed_use);
  EXPECT_EQ(p.record.candidates()[0].second.name, "captured");
}

TEST(Record, TwoLaunchesOfOneGraphAreOrdered) {
  Launches p;
  p.record.begin_capture();
  p.launch("captured", {p.at(1)}, 0);
  p.record.end_capture(true);
  p.record.replay(1, {0, 0});
  p.record.replay(1, {0, 1});
  EXPECT_TRUE(p.record.candidates().empty());
}

TEST(Record, TheHostMustWaitForWhatMayReadItsMemory) {
  Launches p;
  p.record.host_use(p.at(1), 0);
  p.record.copy(p.at(2), p.at(1), 64, {0, 0});
  EXPECT_TRUE(p.record.candidates().empty());
  p.record.host_use(p.at(1), 1);
  ASSERT_EQ(p.record.candidates().size(), 1u);
  EXPECT_EQ(p.record.candidates()[0].problem, OrderProblem::host_use);
  p.record.synchronize();
  p.record.host_use(p.at(1), 2);
  EXPECT_EQ(p.record.candidates().size(), 1u);
}

TEST(Record, ABufferTakesThePlaceOfThoseAtItsAddresses) {
  Launches p;
  p.record.free(p.at(1), {0, 0});
  p.record.add({"again", 1, p.at(1) + 8, 16});
  p.launch("use", {p.at(1) + 8}, 0);
  p.launch("other", {p.at(1)}, 1);  // of the first, nothing is left
  EXPECT_TRUE(p.record.candidates().empty());
}

// What a call finds in a workspace decides whether the order matters, so both ends are worth a
// trial.
TEST(Record, OfAPairOfNamesInManyCallsKeepsTheFirstAndTheLatest) {
  Launches p;
  std::vector<std::int32_t> calls;
  for (std::int32_t call = 0; call < 5; ++call) {
    p.launch("a", {p.at(1)}, 0, call);
    p.launch("b", {p.at(1)}, 1, call);
    p.launch("b", {p.at(1)}, 1, call);
    p.record.synchronize();
    calls.clear();
    for (const auto& pair : p.record.candidates()) calls.push_back(pair.second.call);
    EXPECT_EQ(calls, call == 0 ? std::vector{0} : (std::vector{0, call}));
  }
}

TEST(Record, KeepsEachPairOfNamesOnceAndNotMoreThanAreSent) {
  Launches p;
  for (int i = 0; i < 5; ++i) {
    p.launch("a", {p.at(1)}, 0);
    p.launch("b", {p.at(1)}, 1);
  }
  EXPECT_EQ(p.record.candidates().size(), 2u);  // a b, b a
  for (int i = 0; i < 20; ++i) p.launch(("k" + std::to_string(i)).c_str(), {p.at(1)}, i % 2);
  EXPECT_EQ(p.record.candidates().size(), kMostOrderCandidates);
}

// Against all pairs of uses, compared one by one.
TEST(Record, FindsEveryPairThatNothingOrders) {
  EXPECT_TRUE(
      rc::check("a candidate for each pair of kernels that share a buffer and no order", [] {
        Launches p;
        HappensBefore order(3);
        struct Launched {
          HappensBefore::Operation operation;
          int buffer;
        };
        std::vector<Launched> launched;
        std::set<std::pair<std::string, std::string>> expected;
        const auto steps = *rc::gen::inRange(1, 9);
        for (int i = 0; i < steps; ++i) {
          const int stream = *rc::gen::inRange(0, 3), on = *rc::gen::inRange(0, 3);
          if (*rc::gen::inRange(0, 4) == 0 && stream != on) {
            p.record.wait(stream, on);
            order.wait(static_cast<std::size_t>(stream),
                       order.record(static_cast<std::size_t>(on)));
            continue;
          }
          const int buffer = *rc::gen::inRange(0, 3);
          const Launched now{order.enqueue(static_cast<std::size_t>(stream)), buffer};
          p.launch(std::to_string(now.operation).c_str(), {p.at(buffer)}, stream);
          for (const Launched& past : launched)
            if (past.buffer == buffer && buffer != 0 &&
                !order.before(past.operation, now.operation))
              expected.emplace(std::to_string(past.operation), std::to_string(now.operation));
          launched.push_back(now);
        }
        RC_PRE(expected.size() <= kMostOrderCandidates);
        std::set<std::pair<std::string, std::string>> found;
        for (const auto& c : p.record.candidates()) found.emplace(c.first.name, c.second.name);
        RC_ASSERT(found == expected);
      }));
}

}  // namespace
}  // namespace redzone::order
