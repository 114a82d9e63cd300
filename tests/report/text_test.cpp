// Exact texts. When a change is intended, change docs/ and the help texts, too.
#include "report/text.h"

#include <gtest/gtest.h>

#include "core/campaign_record.h"
#include "core/environment.h"
#include "report/needs.h"
#include "report/sample.h"

namespace redzone::report {
namespace {

using namespace testing;

TEST(ReportText, FindingWithTheLastWordsOfItsWorker) {
  const std::vector<Artifact> artifacts = {
      {"log", "confirm", "2025-01-31T12:00:00Z", "early"},
      {"log", "final", "2025-01-31T12:00:01Z", "the worker was killed\nx.cu:7: n > \x1b 0\n"},
      {"ptx", "k", "2025-01-31T12:00:02Z", "not shown"}};
  const std::string text = finding_text(sample_finding(), "", artifacts);
  EXPECT_NE(text.find("\nlast output of the worker\n  the worker was killed\n  x.cu:7: n > "),
            std::string::npos);
  for (const char* other : {"early", "not shown", "\x1b"})
    EXPECT_EQ(text.find(other), std::string::npos) << other;
}

TEST(ReportText, Finding) {
  EXPECT_EQ(finding_text(sample_finding()),
            R"(finding 3: illegal-access: read after x in scan (sample)

state        flaky
reason       scan reads 4 bytes past the end of x
oracle       fault
reliability  7 of 10 runs failed the same way (95% interval 35% to 93%)
reduction    1-minimal: no plan that is simpler by one step fails the same way; 84 plans tried in 160 trials, 0.6 s
fault        SIGSEGV at x + 64
first seen   2025-01-31T12:00:00Z, campaign 2, after 1,234 plans and 1.5 s
last seen    2025-01-31T13:00:00Z, 2 occurrences
replay       redzone replay 3

fault attribution (by source)
  host device  call 1: read after 'x' in scan; block (0, 0, 0)
  memcheck     call 1: read after 'x' in scan at scan.cu:7; 4 bytes

attribution (one axis changed at a time)
  axis       value         failed
  launch     blocking         0/5
  placement  guard_before     5/5

environment
  device   NVIDIA H100 (compute capability 9.0)
  driver   580.1
  toolkit  nvcc 13.0
  nvrtc    13.0
  machine  Linux 6.1.0 x86_64
  code     c0de
  redzone  0.1.0

plan (1 call, minimal; 4 calls as generated)

redzone_plan = 1
target = "sample"

[mode]
launch = "blocking"
allocator = "guard"
placement = "guard_before"
poison = "0x7fc00bad"
schedule_seed = 17

[[step]]
do = "call"
dims = { C = 8, D = 16, T = 32 }
config = { mode = "flat", num_warps = 8 }
seed = 123456789012345
)");
}

TEST(ReportText, FindingThatWasOnlySeenOnce) {
  Finding f = sample_finding();
  f.state = FindingState::suspect;
  f.reliability = {};
  f.attribution = {};
  f.fault_attributions = {};
  f.minimal = false;
  f.reduction = {};
  f.needs_history = true;
  f.fault_detail = "";
  f.environment = {};
  f.environment.device = "host";
  f.campaign = 0;
  f.occurrences = 1;
  f.plan = f.original;
  const std::string text = finding_text(f, "a b's.db");
  EXPECT_EQ(text.substr(0, text.find("redzone_plan")),
            R"(finding 3: illegal-access: read after x in scan (sample)

state        suspect
reason       scan reads 4 bytes past the end of x
oracle       fault
reliability  not run again yet
needs        calls of plans that the worker ran before
first seen   2025-01-31T12:00:00Z, after 1,234 plans and 1.5 s
last seen    2025-01-31T13:00:00Z, 1 occurrence
replay       redzone replay 3 --db 'a b'\''s.db'

environment
  device   host

plan (4 calls, not known to be minimal; as generated; includes calls of plans that the worker ran before)

)");
}

TEST(ReportText, WhatAFindingNeeds) {
  Finding f = sample_finding();
  EXPECT_EQ(needs_of(f), std::vector<std::string>{});  // flaky: a few passes prove nothing
  f.state = FindingState::confirmed;
  f.plan.mode.launch = Launch::gated;
  f.attribution = {{"launch", "blocking", {0, 3}},
                   {"launch", "gated", {3, 3}},
                   {"placement", "guard_after", {3, 3}},
                   {"placement", "guard_before", {3, 3}}};
  f.needs_history = true;
  EXPECT_EQ(needs_of(f), (std::vector<std::string>{"calls of plans that the worker ran before",
                                                   "launch gated (0/3 with blocking)"}));
  EXPECT_NE(finding_text(f).find("\nneeds        calls of plans that the worker ran before; launch "
                                 "gated (0/3 with blocking)\n"),
            std::string::npos);
  f.plan.mode = with_allocator({}, Allocator::caching);
  f.needs_history = false;
  f.attribution = {{"launch", "async", {3, 3}},
                   {"allocator", "guard", {0, 6}},
                   {"allocator", "caching", {3, 3}},
                   {"allocator, launch", "guard, async", {2, 3}}};
  EXPECT_EQ(
      needs_of(f),
      (std::vector<std::string>{"allocator caching (0/6 with guard; fails 2/3 with guard, async)"}))
      << "two mechanisms look the same";
  f = sample_finding();
  f.attribution = {{"load", "alone", {1, 16}}, {"load", "side by side", {14, 16}}};
  EXPECT_EQ(needs_of(f),
            std::vector<std::string>{"a busy machine (1/16 alone, 14/16 side by side)"});
  f.attribution[0].failed.k = 7;
  EXPECT_EQ(needs_of(f), std::vector<std::string>{}) << "as likely bad luck";
}

TEST(ReportText, Findings) {
  EXPECT_EQ(findings_text({}), "no findings\n");
  std::vector<Finding> all(2, sample_finding());
  all[1].id = 12;
  all[1].state = FindingState::unconfirmed;
  all[1].reliability = {0, 20};
  all[1].environment.device = "host";
  all.push_back(all[0]);
  all[2].reliability = {};
  EXPECT_EQ(findings_text(all),
            R"(id  state        failed  calls  device       first seen            signature
 3  flaky          7/10      1  NVIDIA H100  2025-01-31T12:00:00Z  illegal-access: read after x in scan (sample)
12  unconfirmed    0/20      1  host         2025-01-31T12:00:00Z  illegal-access: read after x in scan (sample)
 3  flaky             -      1  NVIDIA H100  2025-01-31T12:00:00Z  illegal-access: read after x in scan (sample)
)");
}

TEST(ReportText, Campaign) {
  const std::vector<Finding> found{sample_finding()};
  EXPECT_EQ(campaign_text(sample_campaign(), found, {6, std::chrono::milliseconds(212)}),
            R"(campaign 2 on host: 10.0 s, seed 18364758544493064720
  self-proof: 6 planted bugs caught in 212 ms
  plans     1,500 (150/s)
  calls     12,345 (1,235/s)
  trials    3,000
  verdicts  1,400 pass, 10 fail, 3 inconclusive, 80 not applicable, 7 harness errors
  suspects  4
  findings  1 new, 2 known
  workers   5 lost

finding  state  signature                                      replay
      3  flaky  illegal-access: read after x in scan (sample)  redzone replay 3
)");
}

TEST(ReportText, CampaignThatJudgedNothing) {
  CampaignRecord c = sample_campaign();
  c.stats = {};
  EXPECT_EQ(campaign_text(c, {}, {}), R"(campaign 2 on host: 0.0 s, seed 18364758544493064720
  self-proof: 0 planted bugs caught in 0 ms
  plans     0 (0/s)
  calls     0 (0/s)
  trials    0
  verdicts  0 pass, 0 fail, 0 inconclusive, 0 not applicable, 0 harness errors
  suspects  0
  findings  0 new, 0 known
  workers   0 lost
nothing was judged: no plan passed and none failed
)");
}

TEST(ReportText, CampaignSaysWhyPlansWereNotJudged) {
  Scope scope;
  for (std::uint64_t plans = 1; plans <= 7; ++plans)
    scope.unjudged.push_back({"scan", Outcome::not_applicable, std::to_string(plans), plans});
  scope.unjudged[6] = {"scan\n", Outcome::harness_error, "", 1200};
  const std::string text = campaign_text(sample_campaign(), {}, {}, "", scope);
  const auto at = text.find("  1,200 plans");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.substr(at, text.find("  suspects") - at),
            R"(  1,200 plans of scan\n harness-error: other reasons
  6 plans of scan not-applicable: 6
  5 plans of scan not-applicable: 5
  4 plans of scan not-applicable: 4
  3 plans of scan not-applicable: 3
  and 2 more reasons
)");
}

TEST(ReportText, ACampaignSaysHowManyCallsWereCompared) {
  CampaignRecord campaign = sample_campaign();
  EXPECT_EQ(campaign_text(campaign, {}, {}).find("compared"), std::string::npos);
  campaign.stats.reference = {612, 1000};
  EXPECT_NE(
      campaign_text(campaign, {}, {}).find("  compared  612 of 1,000 calls with the reference\n"),
      std::string::npos);
  campaign.stats.reference.sampled = 40;
  EXPECT_NE(campaign_text(campaign, {}, {})
                .find("  compared  612 of 1,000 calls with the reference, 40 of them in a sample "
                      "of rows\n"),
            std::string::npos);
}

TEST(ReportText, ACampaignNamesTheTargetsOfWhichNothingWasCompared) {
  CampaignRecord campaign = sample_campaign();
  campaign.stats.reference = {5, 17};
  Scope scope;
  scope.compared = {{"some", {5, 10}, "call 1 was left out"}};
  const auto lines = [&] {
    const std::string text = campaign_text(campaign, {}, {}, "", scope);
    const auto from = text.find('\n', text.find("  compared")) + 1;
    return text.substr(from, text.find("  suspects") - from);
  };
  EXPECT_EQ(lines(), "");
  scope.compared.push_back({"none\n", {0, 1}, "call 1 is too large for it"});
  EXPECT_EQ(lines(),
            "  none\\n: not judged by reference: none of 1 call was compared: call 1 is too large "
            "for it\n");
  for (int i = 0; i < 6; ++i) scope.compared.push_back({"more", {0, 1}, "no kernel ran"});
  EXPECT_TRUE(lines().ends_with("no kernel ran\n  and 2 more targets not judged by reference\n"))
      << lines();
}

// A mistake in a spec is reported first, however few plans met it.
TEST(ReportText, CampaignNamesAMistakeInASpec) {
  Scope scope;
  for (std::uint64_t plans = 1; plans <= 7; ++plans)
    scope.unjudged.push_back({"scan", Outcome::not_applicable, std::to_string(plans), 100});
  scope.unjudged.push_back({"sum\n", Outcome::harness_error, "target 'sum\n': no", 1, true});
  const std::string text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(text.find("  SPEC      target 'sum\\n': no (1 plan not judged)\n  100 plans of scan"),
            std::string::npos)
      << text;
}

TEST(ReportText, AMistakeThatEachShapeTellsWithItsNumbersIsOne) {
  Scope scope;
  const auto mistake = [&](const char* target, std::string reason, std::uint64_t plans) {
    scope.unjudged.push_back({target, Outcome::harness_error, std::move(reason), plans, true});
  };
  for (const std::uint64_t n : {17, 3, 255})
    mistake("scan", "shape (" + std::to_string(n) + ",)", n);
  mistake("sum", "shape (17,)", 2);
  mistake("scan", "no shape (17,)", 1);
  mistake("scan", "shape (-1.5,)", 5);
  const std::string text = campaign_text(sample_campaign(), {}, {}, "", scope);
  const auto at = text.find("  SPEC");
  EXPECT_EQ(text.substr(at, text.find("  suspects") - at),
            R"(  SPEC      shape (17,) (280 plans not judged; 3 further shapes alike)
  SPEC      shape (17,) (2 plans not judged)
  SPEC      no shape (17,) (1 plan not judged)
)");
}

TEST(ReportText, CampaignNamesTheTargetsWhoseOutputsNothingJudged) {
  Scope scope;
  scope.targets = {{"some", {}, {3, 1}, "why", ""}, {"compared", {1, 1}, {0, 1}, "why", ""}};
  const auto none = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_EQ(none.find("no oracle judged"), std::string::npos) << none;
  for (int i = 0; i < 6; ++i)
    scope.targets.push_back({"random\n", {}, {0, 2}, "it is declared nondeterministic", ""});
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(text.find("  no oracle judged the outputs of random\\n: it is declared "
                      "nondeterministic\n  and 1 more target whose outputs no oracle judged\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, CampaignNamesTheDimsThatTheBudgetKeepsSmall) {
  Scope scope;
  scope.targets = {{"scan", {}, {1, 0}, "", "N above 1000 (of 4000)"}};
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(
      text.find("  scan: beyond the work budget of the device, never generated: N above 1000 (of "
                "4000)\n"),
      std::string::npos)
      << text;
}

TEST(ReportText, CampaignNamesTheTargetsOfWhichPlansHadNoGuardPages) {
  Scope scope;
  scope.targets = {{"scan", {}, {1, 0}, "", "", 1}, {"sum", {}, {1, 0}, "", "", 0}};
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(text.find("  scan: 1 plan ran between canaries instead of guard pages: a fault of it "
                      "was found\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("sum:"), std::string::npos) << text;
}

TEST(ReportText, CampaignSaysWhatAToolWarnedOf) {
  Scope scope;
  scope.targets.resize(2);
  scope.targets[0].target = "scan";
  scope.targets[0].warnings = sample_warnings();
  scope.targets[1].target = "sum";
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(text.find("  scan: warnings of sync in 2 plans: barrier divergence in scan at "
                      "scan.cu:8\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("sum:"), std::string::npos) << text;
}

TEST(ReportText, CampaignSaysWhichMemoryOfATargetsOwnWasNotGuarded) {
  Scope scope;
  scope.targets = {{"all", {}, {1, 0}, "", "", 0, 0, "", {.blocks = 7, .bytes = 100}},
                   {"most",
                    {},
                    {1, 0},
                    "",
                    "",
                    0,
                    0,
                    "",
                    {.blocks = 7,
                     .left_out_blocks = 2,
                     .left_out_bytes = 12345,
                     .other_blocks = 1,
                     .other_bytes = 1,
                     .unpoisoned_blocks = 3}},
                   {"none", {}, {1, 0}, "", "", 0, 0, "", {.unguarded_trials = 4}}};
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_EQ(text.find("all:"), std::string::npos) << text;
  EXPECT_NE(text.find("  most: of its own memory, 2 blocks (12,345 bytes) exceeded the limits and "
                      "were not guarded; 1 block (1 bytes) of other libraries was not guarded; 3 "
                      "blocks were too large to poison\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  none: of its own memory, none was guarded in 4 trials: "
                      "the worker had nothing in front of its allocator\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, CampaignSaysHowManyCallsItLeftOutBecauseSuchHaveHung) {
  Scope scope;
  scope.targets = {{"scan", {}, {1, 0}, "", "", 0, 0, "", {}, {}, 1234}};
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_NE(text.find("  scan: 1,234 of its calls left out: such calls have hung\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, CampaignSaysWhichCallsATargetRefused) {
  Scope scope;
  scope.targets = {{"all", {}, {1, 0}, "", "", 0, 0, "", {}},
                   {"even", {}, {1, 0}, "", "", 0, 1234, "N is odd", {}}};
  const auto text = campaign_text(sample_campaign(), {}, {}, "", scope);
  EXPECT_EQ(text.find("  all:"), std::string::npos) << text;
  EXPECT_NE(text.find("  even: 1,234 of its calls refused and left out, the first: N is odd\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, Replay) {
  EXPECT_EQ(
      replay_text(sample_replay()),
      R"(finding 3: 2 of 3 runs failed as recorded: illegal-access: read after x in scan (sample)
  runs  outcome
     2  fail: illegal-access: read after x in scan (sample)
     1  pass
)");
}

TEST(ReportText, AReplayThatPassesSaysHowManyCallsWereCompared) {
  ReplayResult r = sample_replay();
  r.runs[1].verdict.reference = {1, 2};
  EXPECT_NE(replay_text(r).find("     1  pass: compared with the reference: 1 of 2 calls\n"),
            std::string::npos)
      << replay_text(r);
}

TEST(ReportText, ReplayThatFailsOtherwise) {
  ReplayResult r = sample_replay();
  r.runs.resize(1);
  r.runs[0].result = RunResult::other;
  r.other_finding = 7;
  EXPECT_EQ(
      replay_text(r),
      R"(finding 3: 0 of 1 run failed as recorded: illegal-access: read after x in scan (sample)
  runs  outcome
     1  fails otherwise: illegal-access: read after x in scan (sample)
  the other failure is stored as finding 7
)");
}

TEST(ReportText, ReplayOfAPlanThatExpectsNothing) {
  ReplayResult r = sample_replay();
  r.subject = "repro.toml";
  r.expected.reset();
  r.runs[1].verdict = {Outcome::inconclusive, "fault", "out of memory", {}, -1};
  r.runs[1].result = RunResult::not_judged;
  EXPECT_EQ(replay_text(r), R"(repro.toml: 2 of 2 judged runs failed
  runs  outcome
     2  fail: illegal-access: read after x in scan (sample)
     1  inconclusive: out of memory
)");
  r.runs.clear();
  EXPECT_EQ(replay_text(r), "repro.toml: 0 of 0 runs failed\n");
}

TEST(ReportText, Targets) {
  EXPECT_EQ(targets_text({}), "no targets\n");
  std::vector<TargetInfo> all(2, sample_target());
  all[1].spec.name = "oob_read.fixed";
  all[1].spec.category = Category::twin;
  EXPECT_EQ(targets_text(all), R"(target          kind    devices      dims   knobs
sample          kernel  host (cuda)  T C D  num_warps mode
oob_read.fixed  twin    host (cuda)  T C D  num_warps mode

(device): built, but cannot run here
)");
  for (auto& t : all) t.devices.pop_back();
  EXPECT_EQ(targets_text(all).find("cannot run"), std::string::npos);
}

TEST(ReportText, Target) {
  EXPECT_EQ(target_text(sample_target()), R"(sample  kernel
  a sample

devices
  device  runs here      plugin          code
  host    yes            sample.host.so  0123
  cuda    no: no driver  sample.cuda.so  4567

dims
  dim  values                  tile
  T    0..64, a multiple of 4
  C    1..64                     16
  D    16 32
  where C must divide T
  where C * D must be below 1024

tensors
  tensor  role  type       layouts
  x       in    f32        contiguous, row padding, transposed, offset, unit strides
  y       out   by config  contiguous

knobs
  knob       values, the default first
  num_warps  4 8
  mode       "flat" "persistent"

bitwise deterministic: yes, float64 reference: yes
)");
}

TEST(ReportText, ATargetSaysWhetherItsBitsAreTheSame) {
  TargetInfo target = sample_target();
  target.spec.alignment_changes_bits = true;
  EXPECT_NE(target_text(target).find("deterministic: yes, where tensors are aligned alike,"),
            std::string::npos);
  target.spec.deterministic = false;
  EXPECT_NE(target_text(target).find("deterministic: no,"), std::string::npos);
}

TEST(ReportText, Progress) {
  Progress p{10.0, 1500, 12345, 2, 1, 0, 43.2, {}};
  EXPECT_EQ(progress_line(p), "150 plans/s  1,235 calls/s  2 suspects  1 new finding  0:43 left");
  EXPECT_EQ(progress_line(p, 20), "150 plans/s  1,235 c");
  EXPECT_EQ(progress_log(p),
            "progress seconds=10.0 plans=1500 plans_per_s=150.0 calls=12345 calls_per_s=1234.5 "
            "suspects=2 new_findings=1 known_findings=0 seconds_left=43.2\n");
  p = {0, 0, 0, 0, 0, 3, {}, 7};
  EXPECT_EQ(progress_line(p),
            "0 plans/s  0 calls/s  0 suspects  0 new findings  3 known  7 plans left");
  EXPECT_EQ(progress_log(p),
            "progress seconds=0.0 plans=0 plans_per_s=0.0 calls=0 calls_per_s=0.0 suspects=0 "
            "new_findings=0 known_findings=3 plans_left=7\n");
}

TEST(ReportText, WhatIsFoundIsToldAtOnceAndAgainWhenItIsReduced) {
  Finding f = sample_finding();
  f.id = 7;
  f.state = FindingState::confirmed;
  f.reliability = {4, 4};
  f.signature = {FailKind::illegal_access, "t", "k", "x", "after", "read"};
  f.reduction = {};
  EXPECT_EQ(found_line(f, 1.25),
            "1.2 s: finding 7 confirmed, 4 of 4 runs: illegal-access: read after x in k (t)");
  f.reduction.end = ReductionEnd::time;
  f.reduction.plans = 0;
  EXPECT_EQ(found_line(f, 2),
            "2.0 s: finding 7 not reduced, budget of time: illegal-access: read after x in k (t)");
  f.reduction.end = ReductionEnd::minimal;
  f.plan.steps = {CallStep{}};
  EXPECT_EQ(
      found_line(f, 20.04),
      "20.0 s: finding 7 reduced to 1 call, 1-minimal: illegal-access: read after x in k (t)");
}

TEST(ReportText, WhatATargetSaysCannotSteerTheTerminal) {
  Finding f = sample_finding();
  f.reason = f.fault_detail = f.signature.where = "\x1b[2J\nreplay  rm";
  f.attribution[0].axis = f.environment.device = "\x1b]0;";
  Verdict verdict{Outcome::inconclusive, "", "\x1b[2J\n", {}, -1};
  const std::vector<Finding> all{f};
  CampaignRecord c = sample_campaign();
  c.device = "\x1b";
  TargetInfo t = sample_target();
  t.spec.doc = t.spec.dims[0].doc = t.spec.constraints[0].text = t.devices[1].why_not = "\x1b\r";
  for (const std::string& text :
       {finding_text(f), findings_text(all), campaign_text(c, all, {}),
        replay_text({"\x1b", f.signature, {{End::fault, verdict, RunResult::not_judged, 0}}}),
        target_text(t)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\nreplay  rm"), std::string::npos) << text;
  }
}

TEST(ReportText, ReplayCommandIsQuotedForTheShell) {
  Finding f;
  f.id = 3;
  EXPECT_EQ(replay_command(f), "redzone replay 3");
  EXPECT_EQ(replay_command(f, "/tmp/a-b_c.db"), "redzone replay 3 --db /tmp/a-b_c.db");
  EXPECT_EQ(replay_command(f, "it's $HOME"), "redzone replay 3 --db 'it'\\''s $HOME'");
}

TEST(ReportText, ReplayCommandNamesThePluginThatItNeeds) {
  Finding f;
  f.id = 3;
  f.environment.origin = {TargetSource::plugin, "/home/me/my own.so"};
  EXPECT_EQ(replay_command(f, "a.db"), "redzone replay 3 --plugin '/home/me/my own.so' --db a.db");
}

TEST(ReportText, ReplayCommandNamesThePackageThatItNeeds) {
  Finding f;
  f.id = 3;
  f.environment.device = "NVIDIA H100 80GB HBM3";
  f.environment.origin = {TargetSource::package, "/home/me/my package"};
  EXPECT_EQ(replay_command(f), "redzone replay 3 --package '/home/me/my package'");
  f.environment.device = "dry-run";
  EXPECT_EQ(replay_command(f, "a.db"),
            "redzone replay 3 --package '/home/me/my package' --device dry-run --db a.db");
}

TEST(ReportText, ReplayCommandNamesThePythonFileThatItNeeds) {
  Finding f;
  f.id = 3;
  f.environment.origin = {TargetSource::python, "/home/me/my.py", "/venv/bin/python", false};
  EXPECT_EQ(replay_command(f), "redzone replay 3 --python-file /home/me/my.py");
  f.environment.origin.interpreter_given = true;
  EXPECT_EQ(replay_command(f),
            "redzone replay 3 --python-file /home/me/my.py --python /venv/bin/python");
}

}  // namespace
}  // namespace redzone::report
