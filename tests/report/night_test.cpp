// Properties that all formats of the night share, and the two formats that need no other program.
#include "report/night.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "report/night_formats.h"
#include "report/night_sample.h"
#include "report/night_words.h"

namespace redzone::report {
namespace {

using namespace testing;

TEST(Night, OnlyAFailureThatNobodyHasWaivedIsAnAlarm) {
  for (const auto standing : {Standing::fresh, Standing::known, Standing::fixed,
                              Standing::regressed, Standing::quarantined})
    for (const auto outcome :
         {ReplayOutcome::found, ReplayOutcome::fails, ReplayOutcome::flaky, ReplayOutcome::passes,
          ReplayOutcome::unclear, ReplayOutcome::not_applicable, ReplayOutcome::not_run,
          ReplayOutcome::otherwise, ReplayOutcome::harness_error, ReplayOutcome::gone}) {
      const bool open = standing == Standing::fresh || standing == Standing::regressed;
      const bool failed = outcome <= ReplayOutcome::flaky;
      EXPECT_EQ(is_alarm(night_finding(1, standing, outcome)), open && failed);
    }
}

// An unconfirmed failure has no ledger entry that would make it a regression.
TEST(Night, WhatWasSeenAndNotConfirmedIsAnAlarmUnlessItIsWaived) {
  for (const auto standing : {Standing::fresh, Standing::fixed, Standing::regressed})
    EXPECT_TRUE(is_alarm(night_finding(1, standing, ReplayOutcome::seen))) << name_of(standing);
  for (const auto standing : {Standing::known, Standing::quarantined})
    EXPECT_FALSE(is_alarm(night_finding(1, standing, ReplayOutcome::seen))) << name_of(standing);
  EXPECT_FALSE(is_alarm(night_finding(1, Standing::fresh, ReplayOutcome::gone)));
}

TEST(Night, APlanOfTheCorpusThatFailsIsAnAlarmByItself) {
  NightPlan p;
  EXPECT_FALSE(is_alarm(p));
  p.outcome = ReplayOutcome::passes;
  p.n = 6;
  EXPECT_FALSE(is_alarm(p));
  p.outcome = ReplayOutcome::otherwise;
  EXPECT_TRUE(is_alarm(p));
  for (const auto outcome : {ReplayOutcome::fails, ReplayOutcome::flaky, ReplayOutcome::unclear}) {
    p.outcome = outcome;
    p.k = 1;
    EXPECT_TRUE(is_alarm(p)) << name_of(outcome);
  }
  p.finding = 3;
  p.waived = true;
  EXPECT_FALSE(is_alarm(p));
}

// A night in which nothing was confirmed: one failure from fuzzing and one from the corpus.
Night unconfirmed_night() {
  Night night = sample_night();
  night.findings = {night_finding(4, Standing::fresh, ReplayOutcome::seen)};
  night.findings[0].confidence = "suspect";
  night.findings[0].outcome_reason = "not confirmed: no time";
  night.corpus.resize(1);
  night.corpus[0].finding.reset();
  return night;
}

TEST(Night, EveryFormatNamesWhatWasNotConfirmedAndWhatFailsOfTheCorpus) {
  const Night night = unconfirmed_night();
  EXPECT_EQ(alarms_of(night), (Alarms{.findings = 0, .unconfirmed = 1, .plans = 1}));
  for (const auto& format : night_formats()) {
    const std::string text = format.write(night);
    for (const char* part : {"seen to fail", "not confirmed: no time", "repros/a.toml"})
      EXPECT_NE(text.find(part), std::string::npos) << format.name << ": " << part;
    EXPECT_EQ(text.find("New or regressed"), std::string::npos) << format.name;
    EXPECT_EQ(text.find("othing new"), std::string::npos) << format.name;
  }
  EXPECT_TRUE(
      night_text(night).ends_with("\n1 failure to look at: seen to fail, not confirmed: no time\n"
                                  "1 corpus plan to look at: failed\n"));
  const auto json = nlohmann::json::parse(night_json(night))["night"];
  EXPECT_EQ(json["findings"][0]["alarm"], true);
  EXPECT_EQ(json["corpus"][0]["alarm"], true);
}

TEST(Night, TheFormatsHaveNamesAndFilesOfTheirOwn) {
  std::set<std::string_view> names, files;
  for (const auto& format : night_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(files.insert(format.file).second) << format.file;
    EXPECT_FALSE(format.write(sample_night()).empty()) << format.name;
    EXPECT_FALSE(format.write(Night{}).empty()) << format.name;
  }
  EXPECT_TRUE(names.contains("json"));
  EXPECT_TRUE(names.contains("text"));
}

TEST(Night, TheScriptOfANightKeepsTheFileOfEveryFormat) {
  std::ifstream script(NIGHTLY_SCRIPT);
  std::string kept;
  for (std::string line; std::getline(script, line);)
    if (line.rfind("files=(", 0) == 0) kept = " " + line.substr(7, line.find(')') - 7) + " ";
  ASSERT_FALSE(kept.empty());
  std::size_t files = 0;
  for (const auto& format : night_formats()) {
    EXPECT_NE(kept.find(fmt::format(" {} ", format.file)), std::string::npos) << format.file;
    ++files;
  }
  EXPECT_EQ(std::count(kept.begin(), kept.end(), ' '), files + 1) << kept;
}

TEST(Night, TheJsonHasEveryMember) {
  const auto all = nlohmann::json::parse(night_json(sample_night()));
  EXPECT_EQ(all["version"], 1);
  const auto& json = all["night"];
  EXPECT_EQ(json["parts"][0]["exit_code"], 1);
  EXPECT_EQ(json["seed"], 0xfedcba9876543210u);
  EXPECT_EQ(json["exit_code"], 1);
  ASSERT_EQ(json["findings"].size(), 5u);
  const auto& f = json["findings"][0];
  EXPECT_EQ(f["ledger"]["standing"], "regressed");
  EXPECT_EQ(f["before"], "fixed");
  EXPECT_EQ(f["tonight"], "still fails");
  EXPECT_EQ(f["alarm"], true);
  EXPECT_EQ(f["k"], 5);
  EXPECT_EQ(f["tables"][0]["rows"][1][1], "bad");
  EXPECT_TRUE(json["findings"][1]["before"].is_null());
  EXPECT_EQ(json["findings"][2]["ledger"]["link"], "https://example.com/issues/7");
  EXPECT_EQ(json["corpus"][0]["finding"], 3);
  EXPECT_TRUE(json["corpus"][1]["finding"].is_null());
  EXPECT_EQ(json["targets"][0]["findings"]["regressed"], 1);
  EXPECT_EQ(json["targets"][0]["findings"]["known"], 0);
  EXPECT_EQ(json["trend"][1]["device_seconds"]["sample"], 3210.5);
  EXPECT_EQ(json["not_judged"][2]["what"], "repros/b.toml");
  EXPECT_EQ(json["reference"].dump(), R"({"calls":1037,"compared_calls":612,"sampled_calls":0})");
  EXPECT_EQ(json["targets"][0]["reference"].dump(),
            R"({"calls":1000,"compared_calls":612,"sampled_calls":0})");
  EXPECT_EQ(json["targets"][0]["not_compared"], "the trial did not complete");
}

TEST(Night, TheTextOfOne) {
  EXPECT_EQ(night_text(sample_night()),
            R"(night 12 on NVIDIA H100: 2025-01-31T02:00:00Z
  self-proof  6 planted bugs caught
  time        1:00 replaying, 58:20 fuzzing, of 1:00:00; seed 18364758544493064720
  fuzzed      12,345 plans, 678,901 calls
  verdicts    12,000 pass, 300 fail, 20 inconclusive, 20 not applicable, 5 harness errors
  compared    612 of 1,037 calls with the reference
  findings    1 new, 1 known, 1 fixed, 1 regressed, 1 quarantined

finding  standing               tonight      failed  signature                                      replay            link
      3  regressed (was fixed)  still fails     5/5  illegal-access: read after x in scan (sample)  redzone replay 3
      4  new                    found                illegal-access: read after x in scan (sample)  redzone replay 4
      1  known                  flaky           2/5  illegal-access: read after x in scan (sample)  redzone replay 1  https://example.com/issues/7
      2  fixed                  passes          0/5  illegal-access: read after x in scan (sample)  redzone replay 2
      5  quarantined            not run              illegal-access: read after x in scan (sample)  redzone replay 5

corpus
  plan           tonight         failed  finding  reason
  repros/a.toml  still fails        5/5  3
  repros/b.toml  not applicable                   unknown target 'other'

target   plans    calls      compared  device s  share  findings
sample  12,345  678,901  612 of 1,000    3210.5   100%  1 new, 1 regressed
broken       0        0                     0.0     0%  none
large        9       20       0 of 37       1.5     0%  none

not judged
  target broken: NVRTC is not installed
  target large: not judged by reference: none of 37 calls was compared: call 1 is too large
  repros/b.toml: unknown target 'other'

2 findings to look at: new or regressed
)");
}

// Also for a night stored before comparisons were counted.
TEST(Night, WhereNothingWasToBeComparedNothingIsSaidOfIt) {
  Night night = sample_night();
  night.reference = {};
  for (auto& target : night.targets) target.reference = {};
  night.not_judged.clear();
  for (const auto& format : night_formats()) {
    if (format.name == "json" || format.name == "html") continue;
    const std::string text = format.write(night);
    EXPECT_EQ(text.find("with the reference"), std::string::npos) << format.name;
    EXPECT_EQ(text.find("0 of 0"), std::string::npos) << format.name;
  }
}

TEST(Night, EveryFormatSaysHowManyComparisonsWereSamples) {
  Night night = sample_night();
  for (const auto& format : night_formats())
    EXPECT_EQ(format.write(night).find("4711"), std::string::npos) << format.name;
  night.reference.sampled = 4711;
  night.targets[0].reference.sampled = 4711;
  for (const auto& format : night_formats()) {
    const std::string text = format.write(night);
    EXPECT_TRUE(text.find("4711") != std::string::npos || text.find("4,711") != std::string::npos)
        << format.name;
  }
}

TEST(Night, EveryFormatSaysHowManyCallsWereComparedAndOfWhichTargetNone) {
  for (const auto& format : night_formats()) {
    const std::string text = format.write(sample_night());
    EXPECT_NE(text.find("612"), std::string::npos) << format.name;
    EXPECT_TRUE(text.find("1,037") != std::string::npos || text.find("1037") != std::string::npos)
        << format.name;
    EXPECT_NE(text.find("not judged by reference: none of 37 calls was compared"),
              std::string::npos)
        << format.name;
  }
}

TEST(Night, TheTextEndsWithAVerdictWhateverTheExitCode) {
  Night night = sample_night();
  night.exit_code = 3;
  EXPECT_TRUE(night_text(night).ends_with(
      "\n2 findings to look at: new or regressed\n"
      "the night failed with a harness error: nothing here is a pass\n"));
  for (auto& f : night.findings) f.ledger.standing = Standing::known;
  for (auto& p : night.corpus) p.waived = true;
  for (const auto& [code, words] : std::vector<std::pair<int, std::string>>{
           {0, "nothing new"},
           {1, "what was new or regressed has been marked since"},
           {2, "the command line or a file was wrong: nothing here is a pass"},
           {4,
            "nothing could be judged, or a requested target or plan was not: this night is not a "
            "pass"},
           {130, "interrupted; what was found is here"}}) {
    night.exit_code = code;
    EXPECT_TRUE(night_text(night).ends_with("\n\n" + words + "\n")) << code;
  }
}

TEST(Night, ShardsAreNamed) {
  Night night = sample_night();
  EXPECT_EQ(shard_text(night), "");
  night.shards = 3;
  night.shard = 2;
  EXPECT_EQ(shard_text(night), "shard 2 of 3");
  night.parts[0].shard = 1;
  night.parts.push_back(night.parts[0]);
  night.parts[1].shard = 3;
  EXPECT_EQ(shard_text(night), "shards 1, 3 of 3");
}

// Occurrences include the plans of the corpus and targets that were not fuzzed.
TEST(Night, OccurrencesAreNotSaidToBeOfTheFuzzing) {
  NightFinding f = night_finding(1, Standing::fresh, ReplayOutcome::found);
  f.occurrences = 1;
  EXPECT_EQ(outcome_text(f), "found, shown by 1 plan");
}

TEST(Night, TextFromATargetCannotSteerATerminal) {
  Night night = sample_night();
  night.findings[0].signature = "fault: \x1b[2J\n (sample)";
  night.corpus[1].reason = "a\rb";
  night.not_judged[0].why = "\x07";
  night.problem = "\x1b]0;x\x07";
  const std::string text = night_text(night);
  for (const char c : {'\x1b', '\x07', '\r'}) EXPECT_EQ(text.find(c), std::string::npos);
  night.findings[0].reason = "\xff\xfe";
  EXPECT_FALSE(nlohmann::json::parse(night_json(night), nullptr, false).is_discarded());
}

}  // namespace
}  // namespace redzone::report
