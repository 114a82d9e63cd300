// compute-sanitizer through the real binary: each bug planted in the selftest plugin gives a
// record, mapped as far as the tool's output allows, and a clean target gives none.
#include <gtest/gtest.h>

#include "campaign/planted_count.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

// The line of `doctor` with this name.
Json doctor_line(const Json& doctor, const std::string& what) {
  for (const auto& line : doctor["lines"])
    if (line["what"] == what) return line;
  return {};
}

class SanitizerTools : public testing::Test {
 protected:
  void SetUp() override {
    const Json doctor = redzone(folder_, {"doctor", "--json"}).json();
    ASSERT_TRUE(doctor.is_object());
    for (const char* what : {"GPU", "compute-sanitizer"}) {
      const Json line = doctor_line(doctor, what);
      ASSERT_TRUE(line.is_object()) << doctor;
      // A tool that is installed but does not work fails its tests.
      const bool absent = line["found"] == "none" || line["found"] == "not found";
      if (absent) GTEST_SKIP() << what << ": " << line["found"];
    }
  }

  // One call with N = 64 of a target of the selftest plugin.
  Ran replay(const std::string& target, const std::string& tool, const Arguments& more = {}) {
    folder_.write("p.toml", "redzone_plan = 1\ntarget = \"selftest." + target +
                                "\"\n[[step]]\ndo = \"call\"\ndims = { N = 64 }\n");
    Arguments words{"replay", "p.toml", "--device", "cuda", "--sanitizer", tool, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return redzone(folder_, words);
  }
  // The first record; the verdict must come from the tool, with this kind of failure.
  Json first_record(const Ran& ran, const std::string& tool, const std::string& kind) {
    EXPECT_EQ(ran.exit, 1) << ran;
    const Json run = ran.json()["runs"][0];
    EXPECT_EQ(run["oracle"], tool) << ran;
    EXPECT_EQ(run["signature"]["kind"], kind) << ran;
    EXPECT_EQ(run["sanitizer"]["tool"], tool) << ran;
    EXPECT_EQ(run["sanitizer"]["problem"], "") << ran;
    const Json records = run["sanitizer"]["records"];
    EXPECT_FALSE(records.empty()) << ran;
    return records.empty() ? Json() : records[0];
  }
  void expect_clean(const std::string& tool) {
    const Ran ran = replay("clean", tool);
    EXPECT_EQ(ran.exit, 0) << ran;
    const Json run = ran.json()["runs"][0];
    EXPECT_EQ(run["outcome"], "pass") << ran;
    EXPECT_EQ(run["sanitizer"]["records"].size(), 0u) << ran;
  }

  const TempFolder folder_;
};

TEST_F(SanitizerTools, DoctorHasTriedMemcheck) {
  const Ran ran = redzone(folder_, {"doctor", "--json"});
  const Json line = doctor_line(ran.json(), "compute-sanitizer");
  EXPECT_EQ(line["ok"], true) << ran;
  EXPECT_NE(line["found"].get<std::string>().find("memcheck catches a planted write"),
            std::string::npos)
      << ran;
}

TEST_F(SanitizerTools, MemcheckNamesBufferSideAndCall) {
  for (const char* launch : {"blocking", "async", "gated"}) {
    const Ran ran = replay("write_past_end", "memcheck", {"--launch", launch});
    const Json record = first_record(ran, "memcheck", "illegal-access");
    EXPECT_EQ(record["kind"], "invalid-write") << ran;
    EXPECT_EQ(record["kernel"], "write_range") << ran;
    EXPECT_EQ(record["call"], 0) << ran;
    EXPECT_EQ(record["buffer"], "y") << ran;
    EXPECT_EQ(record["side"], "after") << ran;
    EXPECT_EQ(record["distance_bytes"], 1) << ran;
    EXPECT_EQ(record["size_bytes"], 4) << ran;
  }
  expect_clean("memcheck");
}

TEST_F(SanitizerTools, MemcheckNamesTheOtherSide) {
  const Ran ran = replay("write_before_start", "memcheck", {"--placement", "guard_before"});
  const Json record = first_record(ran, "memcheck", "illegal-access");
  EXPECT_EQ(record["buffer"], "y") << ran;
  EXPECT_EQ(record["side"], "before") << ran;
}

TEST_F(SanitizerTools, InitcheckNamesTheScratch) {
  const Ran ran = replay("unwritten_scratch", "initcheck");
  const Json record = first_record(ran, "initcheck", "uninitialized");
  EXPECT_EQ(record["kind"], "uninitialized-read") << ran;
  EXPECT_EQ(record["kernel"], "write_range") << ran;
  EXPECT_EQ(record["call"], 0) << ran;
  EXPECT_EQ(record["buffer"], "scratch") << ran;
  EXPECT_EQ(record["side"], "inside") << ran;
  expect_clean("initcheck");
}

TEST_F(SanitizerTools, RacecheckNamesKernelAndCall) {
  const Ran ran = replay("shared_race", "racecheck");
  const Json record = first_record(ran, "racecheck", "race");
  EXPECT_EQ(record["kernel"], "rotate_in_block") << ran;
  EXPECT_EQ(record["call"], 0) << ran;
  EXPECT_EQ(record["warning"], false) << ran;
  expect_clean("racecheck");
}

TEST_F(SanitizerTools, SynccheckNamesKernelAndCall) {
  const Ran ran = replay("divergent_barrier", "synccheck");
  const Json record = first_record(ran, "synccheck", "barrier");
  EXPECT_EQ(record["kernel"], "half_at_barrier") << ran;
  EXPECT_EQ(record["call"], 0) << ran;
  expect_clean("synccheck");
}

// A finding is attributed when it is found; a later replay with memcheck reports the same.
TEST_F(SanitizerTools, MemcheckSpeaksOfAStoredFinding) {
  const Ran found = redzone(folder_, {"run", "puzzle.last_tile", "--device", "cuda", "--seed", "1",
                                      "--plans", "50", "--db", "x.db", "--json"});
  ASSERT_EQ(found.exit, 1) << found;
  const Ran shown = redzone(folder_, {"show", "1", "--db", "x.db"});
  EXPECT_NE(shown.out.find("memcheck"), std::string::npos) << shown;
  const Ran ran = redzone(folder_, {"replay", "1", "--db", "x.db", "--device", "cuda",
                                    "--sanitizer", "memcheck", "--json"});
  const Json record = first_record(ran, "memcheck", "illegal-access");
  EXPECT_EQ(record["kind"], "invalid-write") << ran;
  EXPECT_EQ(record["buffer"], "y") << ran;
  EXPECT_EQ(record["side"], "after") << ran;
}

TEST_F(SanitizerTools, ACampaignProvesItsTool) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    const std::string db = std::string(tool) + ".db";
    const Ran ran = redzone(folder_, {"run", "twin.last_tile", "--device", "cuda", "--seed", "1",
                                      "--plans", "2", "--sanitizer", tool, "--db", db, "--json"});
    EXPECT_EQ(ran.exit, 0) << ran;
    // Plus the bug that is planted for the tool.
    EXPECT_EQ(ran.json()["self_proof"]["planted_bugs_caught"],
              campaign::testing::planted_count(/*seeded_schedules=*/false) + 1)
        << ran;
  }
}

}  // namespace
}  // namespace redzone::e2e
