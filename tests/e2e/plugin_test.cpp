// A plugin compiled outside the tree, with a bug unknown to the shipped tests: the campaign finds
// it, and its repro replays with the plugin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/plan_text.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// Compiles like its users, to NAME in the folder.
void compile(const TempFolder& folder, const std::string& source, const std::string& name) {
  const std::string command = fmt::format(
      "cd '{}' && {} -std=c++20 -O2 -shared -fPIC -fvisibility=hidden -I '{}' -x c++ "
      "'{}' -o {}",
      folder.path().string(), COMPILER, INCLUDE_DIR, source, name);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(Plugin, WhatItsWorkerSaidLastIsShown) {
  const TempFolder folder;
  compile(folder, E2E_SOURCES "/asserts.cu", "asserts.host.so");
  const Ran ran =
      redzone(folder, {"run", "planted.asserts", "--plugin", "./asserts.host.so", "--device",
                       "host", "--seed", "1", "--plans", "30", "--db", "x.db", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  ASSERT_EQ(ran.json()["findings"].size(), 1u) << ran;
  EXPECT_EQ(ran.json()["findings"][0]["signature"]["text"], "fault: SIGABRT (planted.asserts)");
  const Ran shown = redzone(folder, {"show", "1", "--db", "x.db", "--json"});
  ASSERT_FALSE(shown.json()["logs"].empty()) << shown;
  EXPECT_NE(shown.json()["logs"][0]["text"].get<std::string>().find("does not hold"),
            std::string::npos)
      << shown;
}

TEST(Plugin, ABugPlantedInItIsFoundReducedAndReplayed) {
  const TempFolder folder;
  compile(folder, E2E_SOURCES "/planted.cu", "planted.host.so");

  const Ran ran =
      redzone(folder, {"run", "planted.block_sums", "--plugin", "./planted.host.so", "--device",
                       "host", "--seed", "1", "--plans", "60", "--db", "x.db", "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_EQ(findings.size(), 1u) << ran;
  const Json& finding = findings[0];
  EXPECT_EQ(finding["signature"]["text"],
            "illegal-access: write after partial in partial_sums (planted.block_sums)");
  EXPECT_EQ(finding["minimal"], true);
  const auto plan = parse_plan(finding["plan"].get<std::string>());
  ASSERT_TRUE(plan);
  const auto calls = calls_of(*plan);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(get(calls[0]->call.dims, "N"), 1);
  EXPECT_EQ(get(calls[1]->call.dims, "N"), 33);

  const Ran without = redzone(folder, {"replay", "1", "--db", "x.db", "--device", "host"});
  EXPECT_EQ(without.exit, 2) << without;
  const Ran replayed = redzone(folder, {"replay", "1", "--db", "x.db", "--device", "host", "--runs",
                                        "2", "--plugin", "./planted.host.so"});
  EXPECT_EQ(replayed.exit, 1) << replayed;
}

}  // namespace
}  // namespace redzone::e2e
