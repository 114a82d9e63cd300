#include "core/wire.h"

#include <gtest/gtest.h>

#include "core/sample.h"

namespace redzone {
namespace {

Observation sample_observation() {
  Observation o;
  o.end = End::fault;
  o.message = "m";
  o.fault = Fault{"SIGSEGV", 2, "scan", "k", Side::after, Access::read, 4, "thread 3"};
  CallObservation call;
  call.call = 1;
  call.buffers = {{"k", Role::in, false, 7, 64, 1, 2, 3, 4, -8}};
  call.references = {{"o", 64, 1, 5, 0.5, 0.25, 1e6}};
  call.launches = {{"scan", {1, 2, 3}, {4, 5, 6}, 7}};
  call.scratch = {{"s", 256, 128, 16, {4, 3, 2}, 2, 64}};
  call.comparison = Comparison::left_out;
  o.calls = {call};
  o.encodes = {{1, "q", 1, "stride-alignment", 1, true, "2 bytes"}};
  o.wall_us = 9;
  SanitizerRecord record;
  record.kind = "invalid-write";
  record.space = "global";
  record.access = Access::write;
  record.size_bytes = 4;
  record.kernel = "scan";
  record.call = 1;
  record.buffer = "k";
  record.side = Side::before;
  record.distance_bytes = 8;
  record.address = 0xfff;
  record.thread = "1,0,0";
  record.block = "2,0,0";
  record.location = "scan.cu:7";
  record.text = "Invalid";
  record.count = 3;
  o.sanitizer = SanitizerReport{SanitizerTool::memcheck, {record}, 5, "p"};
  return o;
}

TEST(Wire, RoundTrips) {
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(testing::sample_plan())), testing::sample_plan());
  EXPECT_EQ(*wire::decode<Observation>(wire::encode(sample_observation())), sample_observation());
  Plan special = testing::sample_plan();
  std::get<CallStep>(special.steps[0]).call.layouts["x"] = {
      .heads_first = true, .slice_elems = 64, .broadcast_dim = 0, .reversed_dim = 1};
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(special)), special);
  Plan pooled = testing::sample_plan();
  pooled.mode.allocator = Allocator::pool;
  pooled.mode.pool = {false, true, false, 12345};
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(pooled)), pooled);
  const TrialSpec trial{testing::sample_plan().mode, {2, 0, 1}, true, true, {1, 2}};
  EXPECT_EQ(*wire::decode<TrialSpec>(wire::encode(trial)), trial);
  Plan graphs = testing::sample_plan();
  std::get<CallStep>(graphs.steps[0]).graph = 2;
  graphs.steps.emplace_back(ReplayStep{2, 3, 4});
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(graphs)), graphs);
}

TEST(Wire, EveryTruncationIsAnError) {
  const std::string bytes = wire::encode(sample_observation());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(wire::decode<Observation>(std::string_view(bytes).substr(0, n))) << n;
  EXPECT_FALSE(wire::decode<Observation>(bytes + "x"));
}

TEST(Wire, EverySingleByteChangeIsReadSafely) {
  const std::string bytes = wire::encode(sample_observation());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::string bad = bytes;
    bad[n] = static_cast<char>(0xff);
    (void)wire::decode<Observation>(bad);
    (void)wire::decode<Plan>(bad);
  }
}

TEST(Wire, EnumeratorsOutOfRangeAreAnError) {
  std::string bytes = wire::encode(sample_observation());
  bytes[0] = 99;
  EXPECT_FALSE(wire::decode<Observation>(bytes));
}

}  // namespace
}  // namespace redzone
