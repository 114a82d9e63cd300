// From an address to the name of its buffer.
#include <gtest/gtest.h>

#include "trial/sanitizer_watch.h"

namespace redzone::trial {
namespace {

const std::byte* at(std::uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

const std::vector<device::NamedRange>& buffers() {
  static const std::vector<device::NamedRange> all = {
      {"x", 0, at(0x10000), at(0x10100)},         {"y", 0, at(0x20000), at(0x20100)},
      {"y", 1, at(0x20000), at(0x20100)},  // the next call got the same memory
      {"w", 2, at(0x900000000), at(0x900000100)}, {"lasting", -1, at(0x30000), at(0x30100)},
      {"z", 3, at(0x30000), at(0x30100)}};
  return all;
}

SanitizerRecord located(std::uint64_t address, std::string space = "global", int call = -1) {
  SanitizerRecord record;
  record.address = address;
  record.space = std::move(space);
  record.call = call;
  locate(record, buffers());
  return record;
}

TEST(Locate, NamesBufferSideAndDistance) {
  const auto after = located(0x10100);
  EXPECT_EQ(after.buffer, "x");
  EXPECT_EQ(after.side, Side::after);
  EXPECT_EQ(after.distance_bytes, 1);
  EXPECT_EQ(after.call, 0);
  const auto before = located(0xfffc);
  EXPECT_EQ(before.buffer, "x");
  EXPECT_EQ(before.side, Side::before);
  EXPECT_EQ(before.distance_bytes, 4);
}

TEST(Locate, MemoryThatTwoCallsUsedIsTheLastOnes) {
  const auto inside = located(0x20010);
  EXPECT_EQ(inside.side, Side::inside);
  EXPECT_EQ(inside.distance_bytes, 0);
  EXPECT_EQ(inside.call, 1);
}

TEST(Locate, ACallThatIsKnownHasItsOwnBuffersAndLastingOnes) {
  std::vector<device::NamedRange> reused = {{"a", 0, at(0x10000), at(0x10100)},
                                            {"b", 1, at(0x10000), at(0x10100)}};
  SanitizerRecord record;
  record.address = 0x10010;
  record.space = "global";
  record.call = 0;
  locate(record, reused);
  EXPECT_EQ(record.buffer, "a");
  EXPECT_EQ(record.call, 0);
  EXPECT_EQ(located(0x30010, "global", 1).buffer, "lasting");
  EXPECT_EQ(located(0x30010, "global", 3).buffer, "z");
}

TEST(Locate, ABufferWhoseMemoryIsAnothersByNowIsNotNamed) {
  static std::byte memory[0x1000];
  const device::Region region{memory, sizeof memory};
  const std::vector<device::NamedRange> reused = {{"a", 0, memory, memory + 0x1000, region},
                                                  {"b", 1, memory, memory + 0x100, region}};
  SanitizerRecord record;
  record.address = reinterpret_cast<std::uintptr_t>(memory) + 0x1000;
  record.space = "global";
  record.call = 2;
  locate(record, reused);
  EXPECT_EQ(record.buffer, "b");
  EXPECT_EQ(record.distance_bytes, 0xf01);
}

TEST(Locate, ACallThatIsKnownStays) {
  EXPECT_EQ(located(0x10100, "global", 5).call, 5);
}

TEST(Locate, WhatIsFarOrNoGlobalAddressHasNoName) {
  for (const auto& record : {located(0x500000000), located(0x404, "shared"), located(0)}) {
    EXPECT_EQ(record.buffer, "");
    EXPECT_EQ(record.side, Side::unknown);
    EXPECT_EQ(record.call, -1);
  }
}

}  // namespace
}  // namespace redzone::trial
