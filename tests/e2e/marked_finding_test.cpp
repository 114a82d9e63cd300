// A finding with a mark whose reduction meets another failure.
#include <gtest/gtest.h>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// A smaller plan fails in another way. That is another finding, without a mark.
TEST(MarkedFinding, KeepsItsMarkAloneWhenItIsReduced) {
  const TempFolder folder;
  const auto run = [&](const Arguments& arguments) { return redzone(folder, arguments); };
  folder.write("p.toml",
               "redzone_plan = 1\ntarget = \"puzzle.index32\"\n[mode]\nlaunch = \"blocking\"\n"
               "allocator = \"guard\"\nplacement = \"guard_after\"\npoison = \"0xffffffff\"\n"
               "schedule_seed = 2771067421864493643\n[expect]\noracle = \"uninitialized\"\n"
               "kind = \"uninitialized\"\nbuffer = \"y\"\n"
               "[[step]]\ndo = \"call\"\ndims = { C = 3, R = 4 }\nseed = 1\n"
               "[[step]]\ndo = \"call\"\ndims = { C = 32, R = 2 }\n"
               "layout = { x = { row_padding = 4294967267 } }\nseed = 4\n");
  ASSERT_EQ(run({"import", "p.toml", "--db", "y.db"}).exit, 0);
  ASSERT_EQ(run({"mark", "1", "known", "--link", "https://example.com/1", "--db", "y.db"}).exit, 0);
  const Ran reduced = run({"reduce", "1", "--device", "host", "--db", "y.db"});
  EXPECT_EQ(reduced.exit, 1) << reduced;
  const Json findings = run({"findings", "--db", "y.db", "--json"}).json()["findings"];
  ASSERT_GE(findings.size(), 1u) << reduced;
  for (const auto& finding : findings) {
    const bool marked = finding["id"] == 1;
    EXPECT_EQ(finding["ledger"]["standing"] == "known", marked) << finding;
    if (marked) {
      EXPECT_EQ(finding["signature"]["kind"], "uninitialized") << finding;
    }
  }
  EXPECT_EQ(findings[0]["id"], 1) << findings;
}

}  // namespace
}  // namespace redzone::e2e
