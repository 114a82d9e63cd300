// Bisecting the dynamic-N family on the command line.
#include <gtest/gtest.h>

#include <set>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// The family of the Helion report: compiled for one C, called with another. Every setting is shown
// to be irrelevant except the C of both calls and those that make more than one tile.
TEST(BisectFamily, NamesAPriorCallWithAnotherChunkSize) {
  const TempFolder folder;
  const std::string plan = folder.write(
      "frozen_chunk.toml",
      "redzone_plan = 1\ntarget = \"eight.frozen_chunk\"\n"
      "[mode]\nlaunch = \"async\"\nallocator = \"guard\"\nplacement = \"guard_after\"\n"
      "poison = \"0xffffffff\"\nschedule_seed = 0\n"
      "[expect]\noracle = \"fault\"\nkind = \"illegal-access\"\n"
      "where = \"row_sums\"\nbuffer = \"y\"\nside = \"after\"\naccess = \"write\"\n"
      "[[step]]\ndo = \"call\"\ndims = { B = 1, H = 4, T = 128, D = 32, C = 64, "
      "M = 8, R = 2, S = 16 }\n"
      "[[step]]\ndo = \"call\"\ndims = { B = 1, H = 4, T = 2000, D = 128, C = 32, "
      "M = 8, R = 2, S = 16 }\n");
  const Ran imported = redzone(folder, {"import", plan, "--plugin", EIGHT_DIMS});
  ASSERT_EQ(imported.exit, 0) << imported;
  const Ran ran = redzone(folder, {"bisect", "1", "--plugin", EIGHT_DIMS, "--device", "host",
                                   "--deadline", "30s", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json json = ran.json();
  EXPECT_EQ(json["complete"], true);
  const auto sentence = json["sentence"].get<std::string>();
  // That the first is larger says it all: "another C" is not so for 16 before 32.
  EXPECT_NE(sentence.find("after a prior call (call 1)"), std::string::npos) << ran;
  for (const char* bound : {"needs call 1: C > 32 (fails with 64, 128; passes with 16, 32)",
                            "needs call 2: C < 64 (fails with 16, 32; passes with 64, 128)"})
    EXPECT_NE(sentence.find(bound), std::string::npos) << bound << "\n" << ran;
  EXPECT_NE(sentence.find("any knob at any value fails"), std::string::npos) << ran;
  // The placement is missing: with the other one the failure differs (overwritten canaries).
  const std::set<std::string> needed{"call 1",    "call 2",    "call 1: C",
                                     "call 2: C", "call 2: T", "allocator"};
  std::set<std::string> said;
  for (const auto& setting : json["rows"]) {
    EXPECT_NE(setting["verdict"], "unknown") << setting;
    if (setting["verdict"] != "irrelevant") said.insert(setting["setting"]);
    if (setting["kind"] == "knob") {
      EXPECT_EQ(setting["verdict"], "irrelevant") << setting;
    }
  }
  EXPECT_EQ(said, needed) << ran;
}

}  // namespace
}  // namespace redzone::e2e
