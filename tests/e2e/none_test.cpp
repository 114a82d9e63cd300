// `--device dry-run`: judges launchers without running a kernel, over the whole space of shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/plan_text.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

class None : public testing::Test {
 protected:
  Ran on_none(Arguments words, const Arguments& more = {}) {
    words.insert(words.end(), {"--device", "dry-run", "--deadline", kLongDeadline});
    words.insert(words.end(), more.begin(), more.end());
    return redzone(folder_, words);
  }
  const TempFolder folder_;
};

// A bug that shows in the requests of a launcher.
struct Hunt {
  const char* puzzle;
  const char* kind;
  const char* side;
  std::size_t calls;  // calls of the smallest plan
};

void PrintTo(const Hunt& hunt, std::ostream* out) {
  *out << hunt.puzzle;
}

class NoneFinds : public testing::TestWithParam<Hunt> {
 protected:
  const TempFolder folder_;
};

TEST_P(NoneFinds, ReducesAndReplays) {
  const Hunt& hunt = GetParam();
  const std::string target = std::string("puzzle.") + hunt.puzzle;
  for (const char* seed : {"1", "2"}) {
    const Ran ran = redzone(folder_, {"run", target, "--device", "dry-run", "--plans", "200",
                                      "--seed", seed, "--deadline", kLongDeadline, "--json"});
    ASSERT_EQ(ran.exit == 0 || ran.exit == 1, true)
        << ran;  // the right code is known after the first seed
    const Json campaign = ran.json();
    ASSERT_TRUE(campaign.is_object()) << ran;
    EXPECT_EQ(campaign["verdicts"]["harness_error"], 0) << ran;
    bool found = false;
    for (const Json& finding : campaign["findings"]) {
      EXPECT_EQ(finding["signature"]["kind"], hunt.kind) << ran;
      if (finding["signature"]["side"] != hunt.side) continue;
      found = true;
      EXPECT_EQ(finding["state"], "confirmed");
      EXPECT_EQ(finding["minimal"], true);
      const auto plan = parse_plan(finding["plan"].get<std::string>());
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(call_count(*plan), static_cast<std::int64_t>(hunt.calls))
          << finding["plan"].get<std::string>();
      const std::string id = std::to_string(finding["id"].get<int>());
      EXPECT_EQ(redzone(folder_, {"replay", id, "--device", "dry-run", "--runs", "3"}).exit, 1);
    }
    EXPECT_TRUE(found) << ran;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, NoneFinds,
    testing::Values(Hunt{"lazy_scratch_per_cta", "scratch-too-small", "grid", 1},
                    Hunt{"lazy_scratch_first_call", "scratch-too-small", "grid", 2},
                    Hunt{"lazy_scratch_num_ctas", "scratch-too-small", "num_ctas", 1},
                    Hunt{"lazy_scratch_null", "scratch-too-small", "everything", 1},
                    Hunt{"lazy_grid_frozen", "launch-config", "grid", 2},
                    Hunt{"lazy_key_without_n", "launch-config", "grid", 2}),
    [](const auto& info) { return std::string(info.param.puzzle); });

TEST_F(None, NothingIsFoundInCorrectLaunchers) {
  for (const char* target : {"lazy_launch", "twin.lazy_scratch_per_cta", "chunk_fwd_h"}) {
    const Ran ran = on_none({"run", target, "--plans", "5000", "--seed", "4", "--json"});
    EXPECT_EQ(ran.exit, 0) << ran;
    const Json campaign = ran.json();
    ASSERT_TRUE(campaign.is_object()) << ran;
    EXPECT_EQ(campaign["verdicts"]["pass"], 5000) << ran;
    EXPECT_EQ(campaign["campaign"]["workers_lost"], 0) << ran;
  }
}

TEST_F(None, AllPuzzlesRunDry) {
  const Ran ran = on_none({"run", "--puzzles", "--plans", "40", "--seed", "5", "--json"});
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_EQ(campaign["verdicts"]["harness_error"], 0) << ran;
  EXPECT_EQ(campaign["verdicts"]["inconclusive"], 0) << ran;
}

TEST_F(None, TheReportSaysWhatWasJudgedAndWhatNot) {
  const Ran text = on_none({"run", "lazy_launch", "--plans", "20", "--seed", "6"});
  EXPECT_NE(text.out.find("campaign 1 on dry-run"), std::string::npos) << text;
  EXPECT_NE(text.out.find("self-proof: 3 planted bugs caught"), std::string::npos) << text;
  EXPECT_NE(
      text.out.find("judged by launch-config, fault, launch-mismatch, scratch; no kernel ran, so "
                    "not by redzone"),
      std::string::npos)
      << text;
  const Json json =
      on_none({"run", "lazy_launch", "--plans", "20", "--seed", "6", "--json"}).json();
  EXPECT_EQ(json["judged_by"].dump(), R"(["launch-config","fault","launch-mismatch","scratch"])");
  const Json& not_by = json["not_judged_by"];
  for (const char* oracle : {"redzone", "history", "reference"})
    EXPECT_NE(std::find(not_by.begin(), not_by.end(), oracle), not_by.end()) << oracle;
}

// The verdict is based on what was judged; the rest is reported as not judged.
TEST_F(None, NothingIsJudgedByReference) {
  const Ran ran = on_none({"nightly", "lazy_launch", "--plans", "20", "--seed", "6", "--json"});
  EXPECT_EQ(ran.exit, 0) << ran;
  const Json night = ran.json()["night"];
  EXPECT_EQ(night["reference"]["compared_calls"], 0);
  EXPECT_GE(night["reference"]["calls"], 20);
  ASSERT_EQ(night["not_judged"].size(), 1u) << night["not_judged"];
  EXPECT_EQ(night["not_judged"][0]["what"], "target lazy_launch");
  const std::string why = night["not_judged"][0]["why"];
  EXPECT_TRUE(why.starts_with("not judged by reference: none of ")) << why;
  EXPECT_TRUE(why.ends_with(" calls was compared: no kernel ran")) << why;
  const Ran run = on_none({"run", "lazy_launch", "--plans", "20", "--seed", "6"});
  EXPECT_NE(run.out.find("\n  lazy_launch: not judged by reference: none of "), std::string::npos)
      << run;
}

TEST_F(None, WhatNeedsKernelsIsNotApplicable) {
  const Ran found = redzone(folder_, {"run", "puzzle.stale_grid", "--device", "host", "--plans",
                                      "100", "--seed", "1", "--deadline", kLongDeadline});
  ASSERT_EQ(found.exit, 1) << found;
  for (const char* command : {"replay", "reduce"}) {
    const Ran ran = on_none({command, "1"});
    EXPECT_EQ(ran.exit, 4) << ran;
    EXPECT_NE(ran.err.find("needs kernels that run, and device dry-run runs none"),
              std::string::npos)
        << ran;
  }
}

// A plan whose failure no launcher shows passes in a dry run, whatever its kernels do.
TEST_F(None, NoStoredPlanOfAKernelPasses) {
  int judged = 0;
  for (const auto& file : std::filesystem::directory_iterator(REPROS)) {
    if (file.path().extension() != ".toml") continue;
    const Ran ran = on_none({"replay", file.path().string(), "--runs", "1"});
    EXPECT_TRUE(ran.exit == 1 || ran.exit == 4) << file.path() << ran;
    judged += ran.exit == 1 ? 1 : 0;
  }
  EXPECT_GT(judged, 0);
}

TEST_F(None, ANightDoesNotPassThemEither) {
  std::filesystem::create_directory(folder_ / "corpus");
  std::filesystem::copy_file(std::filesystem::path(REPROS) / "odd_phase.toml",
                             folder_ / "corpus/odd_phase.toml");
  const Ran ran = on_none({"nightly", "puzzle.odd_phase", "--corpus", "corpus", "--plans", "3"});
  EXPECT_NE(ran.out.find("odd_phase.toml  not applicable"), std::string::npos) << ran;
  EXPECT_NE(ran.out.find("shows faults of launchers and none of kernels"), std::string::npos)
      << ran;
}

TEST_F(None, AnAccessThatAKernelMadeIsNotApplicable) {
  ASSERT_EQ(redzone(folder_, {"run", "puzzle.last_tile", "--device", "host", "--findings", "1",
                              "--seed", "1", "--deadline", kLongDeadline})
                .exit,
            1);
  const Ran ran = on_none({"replay", "1"});
  EXPECT_EQ(ran.exit, 4) << ran;
  EXPECT_NE(ran.err.find("the failure 'illegal-access' needs kernels that run"), std::string::npos)
      << ran;
}

TEST_F(None, AFindingOfItReplaysWhereKernelsRun) {
  ASSERT_EQ(on_none({"run", "puzzle.lazy_grid_frozen", "--plans", "100", "--seed", "1"}).exit, 1);
  const Ran ran = redzone(
      folder_, {"replay", "1", "--device", "host", "--runs", "3", "--deadline", kLongDeadline});
  EXPECT_EQ(ran.exit, 1) << ran;
}

TEST_F(None, DoctorProvesIt) {
  const Ran ran = redzone(folder_, {"doctor"});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_NE(ran.out.find("self-proof dry-run"), std::string::npos) << ran;
}

TEST_F(None, HasNothingToMeasure) {
  const Ran ran = redzone(folder_, {"bench", "--quick", "--device", "dry-run"});
  EXPECT_EQ(ran.exit, 2) << ran;
}

}  // namespace
}  // namespace redzone::e2e
