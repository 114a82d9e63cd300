// Real output of compute-sanitizer 2025.3.1 (golden/), with repetitions removed.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "sanitizer/text_log.h"

namespace redzone::sanitizer {
namespace {

std::string golden(const std::string& name) {
  std::ifstream in(std::string(GOLDEN_DIR) + "/" + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_GT(text.str().size(), 1000u) << name;
  return text.str();
}

std::vector<SanitizerRecord> records_of(const std::string& name) {
  TextLog log;
  log.append(golden(name));
  auto records = log.take(true);
  EXPECT_TRUE(log.began());
  EXPECT_EQ(log.problem(), "");
  return records;
}

using Counts = std::map<std::string, int>;

Counts kinds(const std::vector<SanitizerRecord>& records) {
  Counts counts;
  for (const auto& r : records) ++counts[(r.warning ? "warning " : "") + r.kind + " " + r.kernel];
  return counts;
}

TEST(Golden, MemcheckOutOfBounds) {
  const auto records = records_of("oob.log");
  EXPECT_EQ(kinds(records), (Counts{{"invalid-write oob", 3}, {"invalid-read oobread", 12}}));
  SanitizerRecord want;
  want.kind = "invalid-write";
  want.space = "global";
  want.access = Access::write;
  want.size_bytes = 4;
  want.kernel = "oob";
  want.address = 0x7f05fe800100;
  want.thread = "64,0,0";
  want.block = "0,0,0";
  want.location = "p.cu:8";
  want.text =
      "Invalid __global__ write of size 4 bytes; Access to 0x7f05fe800100 is out of bounds and is "
      "1 bytes after the nearest allocation at 0x7f05fe800000 of size 256 bytes";
  EXPECT_EQ(records.front(), want);
}

TEST(Golden, MemcheckStreamOrderedRaces) {
  const auto records = records_of("async.log");
  ASSERT_GT(records.size(), 2u);
  EXPECT_EQ(records[0].kind, "use-after-free");
  EXPECT_EQ(records[0].space, "global");
  EXPECT_EQ(records[0].address, 0x2a9a000000u);
  EXPECT_EQ(records[0].size_bytes, 0) << "the allocation's size is not the access'";
  EXPECT_EQ(records[1].kind, "invalid-write");
  EXPECT_EQ(records[1].kernel, "slow");
  EXPECT_EQ(records[1].location, "p.cu:15");
}

TEST(Golden, Racecheck) {
  const auto records = records_of("race.log");
  const auto counts = kinds(records);
  EXPECT_GE(counts.at("race-raw race"), 15);
  EXPECT_EQ(counts.at("warning race-raw race"), 3);
  EXPECT_GE(counts.at("race-waw waw"), 8);
  EXPECT_EQ(counts.at("race race"), 1) << "an analysis of a read and a write says no order";
  for (const auto& r : records) {
    EXPECT_EQ(r.space, "shared");
    EXPECT_TRUE(r.location == "p.cu:11" || r.location == "p.cu:12") << r.text;
  }
  EXPECT_EQ(records.front().address, 0x404u);
  EXPECT_EQ(records.front().block, "0,0,0");
  EXPECT_EQ(records.front().thread, "1,0,0");
  EXPECT_EQ(records.back().text,
            "Error: Race reported between Write access at waw(int *)+0x60 in p.cu:12 and Write "
            "access at waw(int *)+0x60 in p.cu:12 [63 hazards]");
}

TEST(Golden, Initcheck) {
  const auto records = records_of("init.log");
  EXPECT_EQ(kinds(records), (Counts{{"uninitialized-read uninit", 40}}));
  EXPECT_EQ(records[0].address, 0x7ff6ee800400u);
  EXPECT_EQ(records[0].space, "global");
  EXPECT_EQ(records[0].size_bytes, 4);
  EXPECT_EQ(records[0].access, Access::read);
}

TEST(Golden, Synccheck) {
  const auto records = records_of("sync.log");
  EXPECT_EQ(kinds(records), (Counts{{"barrier-divergence diverge", 16}}));
  EXPECT_EQ(records[3].thread, "3,0,0");
  EXPECT_EQ(records[3].location, "p.cu:14");
}

// The log is read while it grows; the result does not depend on where it is split.
TEST(Golden, ReadInPartsIsTheSameAsReadAtOnce) {
  for (const char* name : {"oob.log", "async.log", "race.log", "init.log", "sync.log"}) {
    const auto whole = records_of(name);
    const std::string text = golden(name);
    for (std::size_t step : {1u, 7u, 1000u}) {
      TextLog log;
      std::vector<SanitizerRecord> records;
      for (std::size_t at = 0; at < text.size(); at += step) {
        log.append(std::string_view(text).substr(at, step));
        for (auto& r : log.take(false)) records.push_back(std::move(r));
      }
      for (auto& r : log.take(true)) records.push_back(std::move(r));
      EXPECT_EQ(records, whole) << name << " by " << step;
    }
  }
}

}  // namespace
}  // namespace redzone::sanitizer
