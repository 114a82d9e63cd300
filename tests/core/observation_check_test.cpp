#include "core/observation_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace redzone {
namespace {

constexpr std::size_t kCalls = 3;

Observation sound() {
  Observation o;
  o.end = End::fault;
  o.fault = Fault{"SIGSEGV", 2, "scan", "k", Side::after, Access::read, 4, "thread 3"};
  o.calls.resize(2);
  o.calls[0].call = 0;
  o.calls[0].buffers = {{"k", Role::in, false, true, 7, 64, 1, 2, 3, 4, -8}};
  o.calls[0].references = {{"o", 64, 1, 5, 0.5, 0.25, 1e6}};
  o.calls[1].call = 2;
  o.encodes = {{1, "q", 1, "stride-alignment", 1, true, "2 bytes"}};
  o.sanitizer.emplace().records.emplace_back().call = -1;
  o.order.emplace().candidates.emplace_back().second.call = 2;
  return o;
}

TEST(ObservationCheck, WhatATrialCanSayPasses) {
  EXPECT_EQ(observation_problem(sound(), kCalls), std::nullopt);
  EXPECT_EQ(observation_problem({}, 0), std::nullopt);
}

struct Lie {
  const char* name;
  std::function<void(Observation&)> tell;
  const char* says;
};

constexpr auto kMost64 = std::numeric_limits<std::uint64_t>::max();
constexpr auto kLeast64 = std::numeric_limits<std::int64_t>::min();

const std::vector<Lie> kLies{
    {"call_beyond", [](auto& o) { o.calls[1].call = 3; }, "results of call 3"},
    {"call_negative", [](auto& o) { o.calls[0].call = -1; }, "results of call -1"},
    {"call_huge", [](auto& o) { o.calls[1].call = 1 << 30; }, "the plan has 3"},
    {"call_twice", [](auto& o) { o.calls[1].call = 0; }, "out of order"},
    {"calls_reversed", [](auto& o) { std::swap(o.calls[0], o.calls[1]); }, "out of order"},
    {"fault_beyond", [](auto& o) { o.fault->call = 3; }, "a fault of call 3"},
    {"fault_negative", [](auto& o) { o.fault->call = -2; }, "a fault of call -2"},
    {"no_fault", [](auto& o) { o.fault.reset(); }, "without a description"},
    {"distance", [](auto& o) { o.fault->distance_bytes = kLeast64; }, "distance"},
    {"encode_beyond", [](auto& o) { o.encodes[0].call = 9; }, "a descriptor of call 9"},
    {"encodes", [](auto& o) { o.encodes.resize(kMostEncodeObservations + 1); }, "descriptors"},
    {"record_beyond", [](auto& o) { o.sanitizer->records[0].call = 3; }, "a record of call 3"},
    {"record_distance", [](auto& o) { o.sanitizer->records[0].distance_bytes = kLeast64; },
     "distance"},
    {"scratch", [](auto& o) { o.calls[0].scratch.resize(kMostScratchObservations + 1); },
     "scratch"},
    // The sum with the other count wraps to 0, which would look like a clean buffer.
    {"count", [](auto& o) { o.calls[0].buffers[0].dirty_after = kMost64 - 3; }, "a count of"},
    {"mismatches", [](auto& o) { o.calls[0].references[0].mismatches = kMost64; }, "a count of"},
    {"own_memory", [](auto& o) { o.own_memory = OwnMemory{.other_bytes = kMost64}; }, "a count of"},
    {"pairs", [](auto& o) { o.order->candidates.resize(kMostOrderCandidates + 1); },
     "pairs of operations"},
    {"operation_beyond", [](auto& o) { o.order->candidates[0].second.call = 3; },
     "an operation of call 3"},
    {"time", [](auto& o) { o.wall_us = kMost64; }, "a measure of"},
};

TEST(ObservationCheck, EachLieIsNamed) {
  for (const auto& lie : kLies) {
    Observation o = sound();
    lie.tell(o);
    const auto problem = observation_problem(o, kCalls);
    ASSERT_TRUE(problem) << lie.name;
    EXPECT_NE(problem->find(lie.says), std::string::npos) << lie.name << ": " << *problem;
  }
}

}  // namespace
}  // namespace redzone
