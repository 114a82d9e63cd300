#include "report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "core/sample_observation.h"
#include "report/sample.h"

namespace redzone::report {
namespace {

using namespace testing;
using OrderedJson = nlohmann::ordered_json;

OrderedJson parsed(const std::string& text) {
  EXPECT_EQ(text.back(), '\n');
  return OrderedJson::parse(text);
}

// "a b c", in the order of the document.
std::string keys(const OrderedJson& object) {
  std::string out;
  for (const auto& [key, value] : object.items()) out += (out.empty() ? "" : " ") + key;
  return out;
}

TEST(ReportJson, Finding) {
  const Finding f = sample_finding();
  const OrderedJson j = parsed(finding_json(f));
  EXPECT_EQ(
      keys(j),
      "id state ledger signature oracle reason reliability calls minimal reduction "
      "needs_history needs program plan plan_hash original_plan attribution culprits fault_detail "
      "environment campaign "
      "plans_to_first "
      "seconds_to_first occurrences first_seen last_seen replay logs");
  EXPECT_EQ(j["id"], 3);
  EXPECT_EQ(j["state"], "flaky");
  EXPECT_EQ(keys(j["signature"]), "text hash kind target where buffer side access");
  EXPECT_EQ(j["signature"]["text"], f.signature.text());
  EXPECT_EQ(j["signature"]["hash"], f.signature.hash());
  EXPECT_EQ(j["signature"]["kind"], "illegal-access");
  EXPECT_EQ(j["signature"]["where"], "scan");
  EXPECT_EQ(j["signature"]["access"], "read");
  EXPECT_EQ(keys(j["reliability"]), "k n low high");
  EXPECT_EQ(j["reliability"]["k"], 7);
  EXPECT_NEAR(j["reliability"]["low"].get<double>(), 0.348, 0.001);
  EXPECT_NEAR(j["reliability"]["high"].get<double>(), 0.933, 0.001);
  EXPECT_EQ(j["calls"], 1);
  EXPECT_EQ(j["needs"], OrderedJson::array());
  EXPECT_EQ(keys(j["reduction"]), "end text plans trials seconds");
  EXPECT_EQ(j["reduction"]["end"], "1-minimal");
  EXPECT_EQ(j["reduction"]["trials"], 160);
  EXPECT_EQ(*parse_plan(j["plan"].get<std::string>()), f.plan);
  EXPECT_EQ(*parse_plan(j["original_plan"].get<std::string>()), f.original);
  EXPECT_EQ(j["plan_hash"], plan_hash(f.plan));
  ASSERT_EQ(j["attribution"].size(), 2u);
  EXPECT_EQ(keys(j["attribution"][0]), "axis value failed");
  EXPECT_EQ(keys(j["attribution"][1]["failed"]), "k n");
  EXPECT_EQ(j["attribution"][1]["failed"]["k"], 5);
  EXPECT_EQ(keys(j["environment"]),
            "device driver compute_capability toolkit nvrtc host code_hash redzone_version origin");
  EXPECT_EQ(j["environment"]["compute_capability"], 90);
  EXPECT_EQ(j["campaign"], 2);
  EXPECT_EQ(j["replay"], "redzone replay 3");
  Finding imported = f;
  imported.campaign = 0;
  EXPECT_TRUE(parsed(finding_json(imported))["campaign"].is_null());
  const std::vector<Artifact> artifacts = {{"log", "final", "t", "said"}, {"ptx", "", "", ""}};
  EXPECT_EQ(parsed(finding_json(imported, "", artifacts))["logs"],
            OrderedJson::parse(R"([{"name": "final", "added": "t", "text": "said"}])"));
}

TEST(ReportJson, Findings) {
  const OrderedJson none = parsed(findings_json({}));
  EXPECT_TRUE(none["findings"].is_array());
  EXPECT_TRUE(none["findings"].empty());
  const std::vector<Finding> all(2, sample_finding());
  const OrderedJson two = parsed(findings_json(all, "my.db"));
  ASSERT_EQ(two["findings"].size(), 2u);
  EXPECT_EQ(two["findings"][1]["replay"], "redzone replay 3 --db my.db");
  // A single finding is an array, too.
  EXPECT_EQ(parsed(findings_json(std::span(all).first(1)))["findings"].size(), 1u);
  EXPECT_TRUE(parsed(findings_json(std::span(all).first(1)))["findings"].is_array());
}

TEST(ReportJson, Campaign) {
  const std::vector<Finding> found{sample_finding()};
  const OrderedJson j =
      parsed(campaign_json(sample_campaign(), found, {6, std::chrono::milliseconds(212)}));
  EXPECT_EQ(keys(j),
            "campaign verdicts suspects new_findings known_findings judged_by not_judged_by "
            "unjudged reference targets slow_functions self_proof findings");
  EXPECT_EQ(keys(j["campaign"]),
            "id seed device command started ended seconds plans plans_per_s calls calls_per_s "
            "trials workers_lost");
  EXPECT_EQ(j["campaign"]["seed"].get<std::uint64_t>(), 0xfedcba9876543210u);
  EXPECT_EQ(j["campaign"]["plans_per_s"], 150.0);
  EXPECT_EQ(j["campaign"]["workers_lost"], 5);
  EXPECT_EQ(j["verdicts"].dump(),
            R"({"pass":1400,"fail":10,"inconclusive":3,"not_applicable":80,"harness_error":7})");
  EXPECT_EQ(j["suspects"], 4);
  EXPECT_EQ(j["new_findings"], 1);
  EXPECT_EQ(j["known_findings"], 2);
  EXPECT_EQ(j["self_proof"].dump(), R"({"planted_bugs_caught":6,"ms":212})");
  EXPECT_EQ(j["findings"].size(), 1u);
}

TEST(ReportJson, CampaignSaysWhyPlansWereNotJudged) {
  Scope scope;
  scope.unjudged = {{"scan", Outcome::inconclusive, "out of memory", 3}};
  EXPECT_EQ(parsed(campaign_json(sample_campaign(), {}, {}, "", scope))["unjudged"].dump(),
            R"([{"target":"scan","verdict":"inconclusive","reason":"out of memory","plans":3,)"
            R"("spec_error":false}])");
}

TEST(ReportJson, CampaignSaysWhatJudgedTheOutputsOfEachTarget) {
  Scope scope;
  scope.targets = {{"scan", {1, 2}, {3, 4}, "why", "N above 5", 7, 8, "odd", {.blocks = 9}, {}, 9}};
  EXPECT_EQ(
      parsed(campaign_json(sample_campaign(), {}, {}, "", scope))["targets"].dump(),
      R"([{"target":"scan","outputs":{"by_digests":3,"by_nothing":4,"why":"why"},)"
      R"("out_of_reach":"N above 5","refused_calls":8,"why_refused":"odd","hung_calls":9,"between_canaries":7,)"
      R"("own_memory":{"blocks":9,"bytes":0,)"
      R"("left_out_blocks":0,"left_out_bytes":0,"other_blocks":0,"other_bytes":0,)"
      R"("unpoisoned_blocks":0,"unguarded_trials":0},"warnings":[],)"
      R"("plans_with_other_warnings":0}])");
}

TEST(ReportJson, CampaignSaysWhatAToolWarnedOf) {
  Scope scope;
  Judged& scan = scope.targets.emplace_back();
  scan.target = "scan";
  scan.warnings = sample_warnings();
  const OrderedJson target =
      parsed(campaign_json(sample_campaign(), {}, {}, "", scope))["targets"][0];
  EXPECT_EQ(target["warnings"].dump(),
            R"([{"tool":"sync","what":"barrier divergence in scan at scan.cu:8","plans":2}])");
  EXPECT_EQ(target["plans_with_other_warnings"], 0);
}

TEST(ReportJson, CampaignSaysWhatItComparedOfEachTarget) {
  CampaignRecord campaign = sample_campaign();
  campaign.stats.reference = {612, 1000, 40};
  Scope scope;
  scope.compared = {{"scan", {612, 1000}, "the trial did not complete"}};
  EXPECT_EQ(
      parsed(campaign_json(campaign, {}, {}, "", scope))["reference"].dump(),
      R"({"compared_calls":612,"sampled_calls":40,"calls":1000,"targets":[{"target":"scan",)"
      R"("compared_calls":612,"sampled_calls":0,"calls":1000,"not_compared":"the trial did not complete"}]})");
}

TEST(ReportJson, Targets) {
  const std::vector<TargetInfo> all{sample_target()};
  const OrderedJson j = parsed(targets_json(all));
  ASSERT_TRUE(j["targets"].is_array());
  ASSERT_EQ(j["targets"].size(), 1u);
  const OrderedJson& t = j["targets"][0];
  EXPECT_EQ(
      keys(t),
      "name category doc deterministic alignment_changes_bits remembers_addresses has_reference "
      "devices dims constraints tensors knobs");
  EXPECT_EQ(t["category"], "kernel");
  EXPECT_EQ(t["devices"][1].dump(), R"({"device":"cuda","runs_here":false,"why_not":"no driver",)"
                                    R"("plugin":"sample.cuda.so","code_hash":"4567"})");
  EXPECT_EQ(t["dims"][0].dump(),
            R"({"name":"T","min":0,"max":64,"multiple_of":4,"values":[],"tile":0,"doc":""})");
  EXPECT_EQ(t["dims"][2]["values"].dump(), "[16,32]");
  EXPECT_EQ(t["constraints"].dump(), R"(["C must divide T","C * D must be below 1024"])");
  EXPECT_EQ(t["tensors"][0].dump(),
            R"({"name":"x","role":"in","dtype":"f32","layouts":["contiguous","row padding",)"
            R"("transposed","offset","unit strides"],"align_bytes":16,"counted_by":null})");
  EXPECT_TRUE(t["tensors"][1]["dtype"].is_null());
  EXPECT_EQ(t["knobs"][1].dump(),
            R"({"name":"mode","values":["flat","persistent"],"drawn":2,"doc":""})");
  EXPECT_EQ(t["knobs"][0]["values"].dump(), "[4,8]");
}

TEST(ReportJson, Replay) {
  ReplayResult r = sample_replay();
  const OrderedJson j = parsed(replay_json(r));
  EXPECT_EQ(keys(j), "subject expected reliability other_finding runs");
  EXPECT_EQ(j["expected"]["kind"], "illegal-access");
  EXPECT_EQ(j["reliability"]["k"], 2);
  EXPECT_EQ(j["reliability"]["n"], 3);
  ASSERT_EQ(j["runs"].size(), 3u);
  EXPECT_EQ(keys(j["runs"][0]),
            "end outcome oracle reason signature call result as_recorded reference wall_us "
            "sanitizer");
  EXPECT_EQ(j["runs"][0]["end"], "fault");
  EXPECT_EQ(j["runs"][0]["outcome"], "fail");
  EXPECT_EQ(j["runs"][0]["as_recorded"], true);
  EXPECT_EQ(j["runs"][1]["outcome"], "pass");
  EXPECT_TRUE(j["runs"][1]["signature"].is_null());
  r.expected.reset();
  EXPECT_TRUE(parsed(replay_json(r))["expected"].is_null());
}

TEST(ReportJson, WhatAToolSaidInARunOfAReplay) {
  ReplayResult r = sample_replay();
  r.runs[0].sanitizer = redzone::testing::sample_sanitizer_report();
  const OrderedJson j = parsed(replay_json(r));
  EXPECT_EQ(j["runs"][0]["sanitizer"].dump(),
            R"({"tool":"memcheck","records":[{"kind":"invalid-write","warning":true,)"
            R"("space":"global","access":"write","size_bytes":4,"kernel":"scan","call":0,)"
            R"("buffer":"k","side":"before","distance_bytes":8,"address":9223372036854775807,)"
            R"("thread":"1,0,0","block":"2,0,0","location":"scan.cu:7",)"
            R"_("other":"write at scan.cu:5 by thread (0,0,0) of block (1,0,0)",)_"
            R"("text":"Invalid __global__ write of \"4\" bytes","count":3},{"kind":"race",)"
            R"("warning":false,"space":"","access":"unknown","size_bytes":0,"kernel":"",)"
            R"("call":-1,"buffer":"","side":"unknown","distance_bytes":0,"address":0,"thread":"",)"
            R"("block":"","location":"","other":"","text":"","count":1}],"dropped":5,)"
            R"("problem":"the log ends early"})");
  EXPECT_TRUE(j["runs"][1]["sanitizer"].is_null());
}

TEST(ReportJson, EnvironmentAndCulprits) {
  Finding f = sample_finding();
  f.environment = {"NVIDIA H100", "580.1", 90,
                   "nvcc 13.0",   "13.0",  "Linux 6.1.0 x86_64",
                   "c0de",        "0.1.0", {TargetSource::package, "/my/package"}};
  f.fault_attributions = {
      {"memcheck", 2, "scan", Access::read, "x", Side::after, "scan.cu:7", "4 bytes"},
      {.source = "progress markers"}};
  const OrderedJson j = parsed(finding_json(f));
  EXPECT_EQ(j["environment"].dump(),
            R"({"device":"NVIDIA H100","driver":"580.1","compute_capability":90,)"
            R"("toolkit":"nvcc 13.0","nvrtc":"13.0","host":"Linux 6.1.0 x86_64",)"
            R"("code_hash":"c0de","redzone_version":"0.1.0","origin":{"source":"package",)"
            R"("path":"/my/package","interpreter":"","interpreter_given":false}})");
  EXPECT_EQ(j["culprits"].dump(),
            R"([{"source":"memcheck","call":2,"kernel":"scan","access":"read","buffer":"x",)"
            R"("side":"after","location":"scan.cu:7","detail":"4 bytes"},)"
            R"({"source":"progress markers","call":-1,"kernel":"","access":"unknown","buffer":"",)"
            R"("side":"unknown","location":"","detail":""}])");
}

TEST(ReportJson, TextThatIsNotUtf8IsRepaired) {
  Finding f = sample_finding();
  f.reason = "bad \xff byte\x1b";
  EXPECT_EQ(parsed(finding_json(f))["reason"], "bad \xef\xbf\xbd byte\x1b");
}

}  // namespace
}  // namespace redzone::report
