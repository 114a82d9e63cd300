#include "report/sarif.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "report/nasty.h"

namespace redzone::report {
namespace {

using namespace testing;
using Json = nlohmann::json;

Json run_of(const Night& night) {
  return Json::parse(night_sarif(night))["runs"][0];
}

TEST(Sarif, AResultForEachFindingThatIsNotFixed) {
  const Json run = run_of(sample_night());
  std::vector<std::string> levels;
  for (const Json& result : run["results"]) {
    levels.push_back(result["level"]);
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<int>()]["id"],
              result["ruleId"]);
    EXPECT_FALSE(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].empty());
  }
  EXPECT_EQ(levels, (std::vector<std::string>{"error", "error", "note", "note"}));
}

TEST(Sarif, WhatWasSeenAndNotConfirmedIsAnErrorAndIsNamedSo) {
  Night night = sample_night();
  night.findings = {night_finding(4, Standing::fixed, ReplayOutcome::seen)};
  night.findings[0].confidence = "suspect";
  night.corpus.resize(1);
  const Json run = run_of(night);
  ASSERT_EQ(run["results"].size(), 1u) << "fixed it was before";
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_NE(run["results"][0]["message"]["text"].get<std::string>().find("seen to fail"),
            std::string::npos);
  const Json told = run["invocations"][0]["toolExecutionNotifications"][0];
  EXPECT_EQ(told["level"], "error");
  EXPECT_EQ(told["message"]["text"],
            "a plan of the corpus failed: repros/a.toml: still fails, 5 of 5 runs failed");
}

TEST(Sarif, SaysHowManyCallsWereCompared) {
  const Json run = run_of(sample_night());
  EXPECT_EQ(run["properties"].dump(),
            R"({"callsToCompare":1037,"comparedCalls":612,"sampledCalls":0})");
}

TEST(Sarif, WhatIsWaivedIsSuppressedWithItsLink) {
  const Json results = run_of(sample_night())["results"];
  EXPECT_TRUE(results[0]["suppressions"].empty());
  EXPECT_EQ(results[2]["suppressions"][0]["justification"], "https://example.com/issues/7");
  EXPECT_EQ(results[3]["suppressions"][0]["justification"], "wedges the machine");
}

// The fields by which a result is matched must depend only on the signature.
TEST(Sarif, TheFingerprintDependsOnTheSignatureOnly) {
  Night one = sample_night();
  one.findings = {night_finding(4, Standing::fresh, ReplayOutcome::found)};
  Night two = one;
  two.campaign = 99;
  two.seed = 1;
  two.commit = "another";
  two.started = two.ended = "2031-01-01T00:00:00Z";
  auto& f = two.findings[0];
  f.id = 1234;
  f.fault = "SIGSEGV at 0x7f4c49e08800";
  f.fault_attributions = {"memcheck: call 9: read after 'x' in scan at other.cu:99; 8 bytes"};
  f.plan = "redzone_plan = 1\ntarget = \"sample\"\nseed = 77\n";
  f.reason = "scan reads 8 bytes past the end of x";
  f.device = "host";
  f.first_seen = f.last_seen = "2031-01-01T00:00:00Z";
  f.replay = "redzone replay 1234 --db other.db";
  f.ledger.standing = Standing::regressed;
  const Json a = run_of(one)["results"][0], b = run_of(two)["results"][0];
  EXPECT_EQ(a["partialFingerprints"], b["partialFingerprints"]);
  EXPECT_EQ(a["locations"], b["locations"]);
  EXPECT_EQ(a["ruleId"], b["ruleId"]);

  two.findings[0].signature_hash = "fedcba9876543210";
  EXPECT_NE(run_of(two)["results"][0]["partialFingerprints"], a["partialFingerprints"]);
}

TEST(Sarif, SaysThatTheNightFailedAndWhatWasNotJudged) {
  Night night = sample_night();
  night.corpus.clear();
  EXPECT_TRUE(run_of(night)["invocations"][0]["executionSuccessful"]);
  night.exit_code = 3;
  night.problem = "the device was lost";
  const Json invocation = run_of(night)["invocations"][0];
  EXPECT_FALSE(invocation["executionSuccessful"]);
  const Json& told = invocation["toolExecutionNotifications"];
  EXPECT_EQ(told[0]["message"]["text"], "the device was lost");
  EXPECT_EQ(told[1]["message"]["text"], "not judged: target broken: NVRTC is not installed");
}

TEST(Sarif, ARunHoldsNoMoreResultsThanServicesTake) {
  Night night = sample_night();
  night.findings.assign(25'003, NightFinding{});
  const Json run = run_of(night);
  EXPECT_EQ(run["results"].size(), 25'000u);
  EXPECT_NE(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
                .get<std::string>()
                .find("3 findings are left out"),
            std::string::npos);
}

TEST(Sarif, ShardsDoNotReplaceEachOther) {
  Night night = sample_night();
  EXPECT_EQ(run_of(night)["automationDetails"]["id"], "redzone/nightly/12");
  night.shard = 2;
  night.shards = 3;
  EXPECT_EQ(run_of(night)["automationDetails"]["id"], "redzone/nightly/shard-2-of-3/12");
}

RC_GTEST_PROP(Sarif, AnyBytesGiveValidJson, ()) {
  const Night night = nasty_night();
  const Json run = run_of(night);  // throws unless it is UTF-8
  RC_ASSERT(run["results"].size() == 4u);
  for (const Json& result : run["results"]) {
    const auto uri =
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].get<std::string>();
    RC_ASSERT(uri.find_first_not_of(
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%/") ==
              std::string::npos);
  }
}

}  // namespace
}  // namespace redzone::report
