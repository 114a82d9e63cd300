#include "core/wire.h"

#include <gtest/gtest.h>

#include "core/sample.h"
#include "core/sample_observation.h"
#include "core/utf8.h"

namespace redzone {
namespace {

using testing::sample_observation;

TEST(Wire, RoundTrips) {
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(testing::sample_plan())), testing::sample_plan());
  EXPECT_EQ(*wire::decode<Observation>(wire::encode(sample_observation())), sample_observation());
  Plan special = testing::sample_plan();
  std::get<CallStep>(special.steps[0]).call.layouts["x"] = {
      .hnd = true, .slice_elems = 64, .broadcast_dim = 0, .reversed_dim = 1};
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(special)), special);
  Plan pooled = testing::sample_plan();
  pooled.mode.allocator = Allocator::pool;
  pooled.mode.pool = {false, true, false, 12345};
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(pooled)), pooled);
  Plan aligned = testing::sample_plan();
  aligned.mode.alignment = Alignment::mixed;
  aligned.mode.callers = Callers::each;
  aligned.mode.addresses = Addresses::reused;
  aligned.mode.stack = Stack::filled_finite;
  EXPECT_EQ(*wire::decode<Plan>(wire::encode(aligned)), aligned);
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

// Any bytes that decode hold only valid values of their types: the result can be encoded and
// printed, and decoding it again gives the same.
TEST(Wire, WhatDecodesIsSound) {
  const std::string bytes = wire::encode(sample_observation());
  int refused = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    for (const int value : {2, 3, 4, 7, 0x80, 0xfe, 0xff}) {
      std::string bad = bytes;
      bad[n] = static_cast<char>(value);
      const auto read = wire::decode<Observation>(bad);
      if (!read) {
        ++refused;
        continue;
      }
      EXPECT_EQ(valid_utf8(read->message), read->message);
      EXPECT_NE(name_of(read->end), "");
      if (read->fault) {
        EXPECT_NE(name_of(read->fault->side), "");
      }
      EXPECT_EQ(wire::encode(*wire::decode<Observation>(wire::encode(*read))), wire::encode(*read));
    }
  EXPECT_GT(refused, 50);
}

TEST(Wire, ABoolIsZeroOrOne) {
  SanitizerReport report = *sample_observation().sanitizer;
  report.records[0].warning = true;
  std::string bytes = wire::encode(report);
  const std::size_t warning = bytes.find("invalid-write") + std::string("invalid-write").size();
  ASSERT_EQ(bytes[warning], 1);
  EXPECT_TRUE(wire::decode<SanitizerReport>(bytes));
  for (const int value : {2, 3, 128, 255}) {
    bytes[warning] = static_cast<char>(value);
    EXPECT_FALSE(wire::decode<SanitizerReport>(bytes)) << value;
  }
}

TEST(Wire, EnumeratorsOutOfRangeAreAnError) {
  std::string bytes = wire::encode(sample_observation());
  bytes[0] = 99;
  EXPECT_FALSE(wire::decode<Observation>(bytes));
}

}  // namespace
}  // namespace redzone
