// The steps of a night: which plans are replayed and fuzzed, for how long, and how an interrupted
// night resumes.
#include <algorithm>
#include <set>

#include "campaign/recheck.h"
#include "core/exit_code.h"
#include "core/plan_text.h"
#include "nightly/fixture.h"
#include "report/night_formats.h"

namespace redzone::nightly {
namespace {

using namespace testing;
using std::chrono::seconds;

class NightSteps : public NightTest {
 protected:
  static bool noted(const Told& told, std::string_view part) {
    return std::any_of(told.notes.begin(), told.notes.end(), [&](const std::string& note) {
      return note.find(part) != std::string::npos;
    });
  }
  // A night of length `night` with one plan to replay, whose trials take `trial` each.
  void make_slow(seconds trial, seconds night) {
    options_.corpus = {corpus_plan("slow.toml", 8)};
    options_.plans = 0;
    options_.time = night;
    bug_ = [this, trial](const Plan& plan, const TrialSpec& spec, const std::vector<Call>&) {
      now_ += trial;
      return all_right(plan, spec);
    };
  }
  std::vector<std::string> replayed(std::int64_t campaign) {
    std::vector<std::string> subjects;
    for (const auto& r : replays(campaign))
      if (r.outcome != ReplayOutcome::not_run) subjects.push_back(r.subject);
    return subjects;
  }
};

TEST_F(NightSteps, AFailedSelfProofEndsTheNightBeforeAnythingIsRun) {
  self_proof_ = "self-proof failed: it misses a write";
  const Told told = night();
  EXPECT_EQ(told.code, kHarness);
  EXPECT_EQ(told.night.problem, self_proof_);
  EXPECT_EQ(trials_, 0u);
  EXPECT_EQ(told.gap("target t"), "no time was left to fuzz it");
  EXPECT_EQ(last_run().exit_code, kHarness) << "the next one begins anew";
}

TEST_F(NightSteps, APlanOfTheCorpusThatFailsIsAFinding) {
  options_.corpus = {corpus_plan("large.toml", 128), corpus_plan("small.toml", 8)};
  bug_ = faults_above(64);
  const Told told = night();
  EXPECT_EQ(told.code, kFound);
  ASSERT_EQ(told.night.corpus.size(), 2u);
  EXPECT_EQ(told.night.corpus[0].file, "corpus/large.toml");
  EXPECT_EQ(told.night.corpus[0].outcome, ReplayOutcome::fails);
  EXPECT_EQ(told.night.corpus[0].finding, 1);
  EXPECT_EQ(told.night.corpus[1].outcome, ReplayOutcome::passes);
  EXPECT_EQ(told.night.corpus[1].finding, std::nullopt);
  ASSERT_EQ(told.night.findings.size(), 1u);
  EXPECT_EQ(told.night.findings[0].outcome, ReplayOutcome::found);
}

// The time of the night ends during triage of the failure.
TEST_F(NightSteps, ANightThatHasNoTimeToConfirmWhatFailsIsNoCleanNight) {
  options_.plans = 0;
  options_.time = seconds(4);
  bug_ = [this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    now_ += seconds(1);
    return faults_above(0)(plan, trial, before);
  };
  const Told told = night();
  EXPECT_EQ(told.night.pass, 0u);
  EXPECT_GT(told.night.fail, 0u);
  EXPECT_EQ(told.code, kFound);
  ASSERT_EQ(told.night.findings.size(), 1u);
  EXPECT_EQ(told.night.findings[0].confidence, "suspect");
  EXPECT_EQ(told.night.findings[0].outcome, ReplayOutcome::seen);
}

TEST_F(NightSteps, APlanOfTheCorpusThatTheTargetRefusesIsNoPass) {
  options_.corpus = {corpus_plan("refused.toml", 128)};
  bug_ = above(64, ended(End::unsupported, "no such size"));
  const Told told = night();
  EXPECT_EQ(told.night.pass, 20u);
  EXPECT_EQ(told.gap("corpus/refused.toml"), "no such size");
  EXPECT_EQ(told.code, kNotJudged);
  options_.corpus.clear();
  options_.seed = 7;
  EXPECT_EQ(night().code, kOk);
}

TEST_F(NightSteps, APlanOfATargetThatIsNotFuzzedIsReplayedAndMayBeRefused) {
  targets_ = {"t", "unselected"};
  selected_ = {"t"};
  options_.corpus = {corpus_plan("refused.toml", 128), corpus_plan("sound.toml", 8)};
  for (auto& plan : options_.corpus) plan.repro.plan.target = "unselected";
  bug_ = above(64, ended(End::unsupported, "no such size"));
  const Told told = night();
  EXPECT_EQ(told.night.corpus.at(0).outcome, ReplayOutcome::not_applicable);
  EXPECT_EQ(told.night.corpus.at(1).outcome, ReplayOutcome::passes);
  EXPECT_EQ(told.code, kOk);
}

TEST_F(NightSteps, APlanOfAnUnknownTargetIsAUsageErrorThatNamesFileAndTarget) {
  Registry registry;
  for (const char* name : {"t", "unselected"}) {
    TargetEntry entry;
    entry.spec = small_spec();
    entry.spec.name = name;
    must(registry.add(std::move(entry)));
  }
  std::vector<CorpusPlan> plans{corpus_plan("a.toml", 8), corpus_plan("b.toml", 8),
                                corpus_plan("broken.toml", 8)};
  plans[1].repro.plan.target = "unselected";
  plans[2].repro.plan.target = "";
  plans[2].problem = "broken.toml: no plan";
  EXPECT_TRUE(check_targets(plans, registry)) << "what cannot be read is told later";
  plans[1].repro.plan.target = "gone";
  const auto checked = check_targets(plans, registry);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::usage);
  EXPECT_NE(checked.error().message.find("corpus/b.toml"), std::string::npos);
  EXPECT_NE(checked.error().message.find("'gone'"), std::string::npos) << checked.error().message;
}

// A failure of one run in ten is not reported as passing after a few runs.
TEST_F(NightSteps, APlanOfTheCorpusIsRunAsOftenAsItsFailureIsRare) {
  options_.corpus = {corpus_plan("rare.toml", 128)};
  auto& repro = options_.corpus[0].repro;
  repro.oracle = "fault";
  repro.signature = {FailKind::illegal_access, "t", "k", "x", "after", "read"};
  int trial = 0;
  bug_ = [&](const Plan& plan, const TrialSpec& spec, const std::vector<Call>& before) {
    return ++trial % 40 == 0 ? faults_above(64)(plan, spec, before) : all_right(plan, spec);
  };
  const Told unmeasured = night();
  EXPECT_EQ(unmeasured.code, kFound);
  EXPECT_EQ(unmeasured.night.corpus.at(0).outcome, ReplayOutcome::flaky);

  bug_ = kNoBug;
  const auto runs = [&](std::optional<Reliability> failed) {
    repro.failed = failed;
    options_.seed = options_.seed.value_or(1) + 1;
    return night().night.corpus.at(0);
  };
  const auto passed = runs(std::nullopt);
  EXPECT_EQ(passed.outcome, ReplayOutcome::passes);
  EXPECT_EQ(passed.n, campaign::passes_needed({1, 1}));
  EXPECT_EQ(runs(Reliability{10, 10}).n, 4);
  const auto rare = runs(Reliability{1, 50});
  EXPECT_EQ(rare.outcome, ReplayOutcome::unclear);
  EXPECT_EQ(rare.n, 100);
  EXPECT_NE(rare.reason.find("not judged often enough: 100 runs passed"), std::string::npos);
}

TEST_F(NightSteps, AFileThatCannotBeReadIsExitTwoUnlessSomethingIsWorse) {
  options_.corpus = {corpus_plan("broken.toml", 1)};
  options_.corpus[0].problem = "broken.toml:3: no such step";
  const Told told = night();
  EXPECT_EQ(told.code, kUsage);
  EXPECT_EQ(told.gap("corpus/broken.toml"), "broken.toml:3: no such step");
  EXPECT_EQ(told.night.pass, 20u) << "the fuzzing goes on";
  bug_ = faults_above(8);
  EXPECT_EQ(night().code, kFound);
}

TEST_F(NightSteps, ADeviceThatIsLostInReplaysEndsTheNight) {
  for (const char* name : {"a", "b", "c", "d"}) options_.corpus.push_back(corpus_plan(name, 128));
  bug_ = [&](const Plan&, const TrialSpec&, const std::vector<Call>&) {
    self_proof_ = "no device";  // from the first trial on
    return ended(End::worker_error, "gone");
  };
  const Told told = night();
  EXPECT_EQ(told.code, kHarness);
  EXPECT_EQ(told.night.problem, "the device no longer answers: no device");
  EXPECT_EQ(replays(told.night.campaign).size(), 3u);
  EXPECT_EQ(told.night.plans, 0u) << "nothing is fuzzed any more";
}

TEST_F(NightSteps, ReplaysThatAreLostOnADeviceThatAnswersDoNotEndIt) {
  for (const char* name : {"a", "b", "c", "d"}) options_.corpus.push_back(corpus_plan(name, 128));
  bug_ = above(64, ended(End::worker_error, "gone"));
  const Told told = night();
  EXPECT_EQ(told.night.problem, "");
  EXPECT_EQ(replays(told.night.campaign).size(), 4u);
  EXPECT_EQ(told.night.plans, 20u);
  EXPECT_EQ(told.code, kHarness);
}

TEST_F(NightSteps, FuzzingThatStallsEndsTheNight) {
  options_.plans = 500;
  bug_ = above(10, ended(End::worker_error, "gone"));
  const Told told = night();
  EXPECT_EQ(told.code, kHarness);
  EXPECT_EQ(told.night.problem, "40 plans in a row could not be run");
  EXPECT_LT(told.night.plans, 500u);
}

// A few lost workers do not invalidate the trials that were judged.
TEST_F(NightSteps, TheMajorityOfFuzzedPlansDecides) {
  const auto lost = [](int of_three) -> Bug {
    return [of_three](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      const auto n = get(calls_of(plan).front()->call.dims, "N");
      return n % 3 < of_three ? ended(End::worker_error, "gone") : all_right(plan, trial);
    };
  };
  options_.plans = 30;
  bug_ = lost(1);
  const Told few = night();
  EXPECT_EQ(few.night.harness_errors, 10u);
  EXPECT_EQ(few.code, kOk);
  EXPECT_EQ(few.gap("10 plans of the fuzzing"), "the harness could not run them");
  bug_ = lost(2);
  EXPECT_EQ(night().code, kHarness);
}

TEST_F(NightSteps, AMistakeInASpecIsNamedAndIsExitTwo) {
  options_.plans = 30;
  bug_ = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return get(calls_of(plan).front()->call.dims, "N") == 7
               ? ended(End::spec_error, "target 't': reference() threw \"7\"")
               : all_right(plan, trial);
  };
  const Told told = night();
  EXPECT_EQ(told.gap("the spec of t"), "target 't': reference() threw \"7\"");
  EXPECT_EQ(told.code, kUsage);
  EXPECT_EQ(told.night.pass, 29u);
}

// As for a nondeterministic target without a reference.
TEST_F(NightSteps, OutputsThatNothingJudgedAreNamed) {
  bug_ = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    for (auto& call : o.calls)
      for (auto& buffer : call.buffers) buffer.numel = 0;
    return o;
  };
  EXPECT_EQ(night().gap("target t"),
            "no oracle judged the outputs of t: all outputs of all calls are empty");
  bug_ = kNoBug;
  EXPECT_EQ(night().gap("target t"), "");
}

TEST_F(NightSteps, AFindingIsWorseThanAHarnessError) {
  options_.corpus = {corpus_plan("lost.toml", 1000)};
  bug_ = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return get(calls_of(plan).front()->call.dims, "N") == 1000
               ? ended(End::worker_error, "gone")
               : faults_above(8)(plan, trial, before);
  };
  const Told told = night();
  EXPECT_EQ(told.night.corpus.at(0).outcome, ReplayOutcome::harness_error);
  EXPECT_EQ(told.code, kFound);
}

TEST_F(NightSteps, OneThatWasInterruptedGoesOnWhereItWas) {
  options_.corpus = {corpus_plan("a.toml", 8), corpus_plan("b.toml", 8)};
  for (auto& plan : options_.corpus) {  // gives each plan one oracle
    plan.repro.oracle = "fault";
    plan.repro.signature = {FailKind::illegal_access, "t", "k", "x", "after", "read"};
    plan.repro.failed = Reliability{10, 10};
  }
  options_.plans = 200;
  options_.seed = 5;
  interrupt_at(150);
  const Told cut = night();
  EXPECT_EQ(cut.code, kInterrupted);
  EXPECT_EQ(cut.night.exit_code, kInterrupted);
  EXPECT_EQ(last_run().exit_code, store::NightRun::kUnfinished);
  EXPECT_EQ(replays(cut.night.campaign).size(), 2u);
  const auto done = cut.night.plans;
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, 200u);

  go_on();
  std::set<std::string> launched;
  bug_ = [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    launched.insert(print_plan(plan));
    return all_right(plan, trial);
  };
  const Told rest = night();
  EXPECT_EQ(rest.code, kOk) << rest.error;
  EXPECT_TRUE(noted(rest, "resumes night 1"));
  EXPECT_EQ(rest.night.campaign, cut.night.campaign);
  EXPECT_EQ(rest.night.resumed, 1);
  EXPECT_EQ(rest.night.plans, 200u) << "of both parts";
  EXPECT_EQ(rest.night.targets.at(0).plans, 200u);
  EXPECT_EQ(rest.night.pass, 200u);
  EXPECT_EQ(launched.size(), 200 - done) << "no plan of the corpus again";
  EXPECT_EQ(rest.night.self_proof_seconds, 6) << "each process proves itself";
  ASSERT_EQ(seeds_.size(), 2u);
  EXPECT_NE(seeds_[0], seeds_[1]) << "no plan of the first part again";
  EXPECT_EQ(last_run().exit_code, kOk);
}

TEST_F(NightSteps, HalfAReplaySaysNothing) {
  options_.corpus = {corpus_plan("a.toml", 8)};
  interrupt_at(2);
  const Told cut = night();
  EXPECT_EQ(cut.code, kInterrupted);
  EXPECT_TRUE(replays(cut.night.campaign).empty());
  go_on();
  EXPECT_EQ(replayed(night().night.campaign), std::vector<std::string>{"corpus/a.toml"});
}

TEST_F(NightSteps, OnlyWhoAsksForTheSameGoesOn) {
  options_.plans = 200;
  options_.commit = "abc";
  interrupt_at(100);
  const auto cut = night().night.campaign;
  go_on();
  options_.commit = "def";
  const Told other = night();
  EXPECT_NE(other.night.campaign, cut);
  EXPECT_TRUE(noted(other, "night 1 was cut off and is not resumed: it was of another commit"));
  options_.commit = "abc";
  targets_ = {"another"};
  EXPECT_TRUE(noted(night(), "had other targets"));
  targets_ = {"t"};
  options_.shard = {1, 2};
  EXPECT_NE(night().night.campaign, cut) << "another shard's";
  options_.shard = {};
  const Told same = night();
  EXPECT_EQ(same.night.campaign, cut);
  EXPECT_EQ(same.night.plans, 200u);
}

TEST_F(NightSteps, AShardOfAFleetGoesOnWheneverItGetsANode) {
  options_.plans = 200;
  options_.fleet = "f1";
  interrupt_at(100);
  const auto cut = night().night.campaign;
  go_on();
  days_later_ = 3;
  options_.fleet = "f2";
  EXPECT_NE(night().night.campaign, cut) << "another fleet's";
  options_.fleet = "f1";
  const Told same = night();
  EXPECT_EQ(same.night.campaign, cut);
  EXPECT_EQ(same.night.plans, 200u);
}

TEST_F(NightSteps, AfterTwentyHoursItIsAnotherNightsTurn) {
  options_.plans = 200;
  interrupt_at(100);
  const auto cut = night().night.campaign;
  go_on();
  days_later_ = 21.0 / 24;
  const Told next = night();
  EXPECT_NE(next.night.campaign, cut);
  EXPECT_EQ(next.night.resumed, 0);
  EXPECT_FALSE(noted(next, "continues"));
}

TEST_F(NightSteps, TheTimeOfBothPartsIsTheTimeOfTheNight) {
  options_.plans = 0;
  options_.time = seconds(120);
  interrupt_at(1000);  // after 40 s of trials
  const Told cut = night();
  EXPECT_NEAR(cut.night.fuzz_seconds, 40, 2);
  go_on();
  const Told rest = night();
  EXPECT_EQ(rest.night.resumed, 1);
  const auto& n = rest.night;
  EXPECT_NEAR(n.self_proof_seconds + n.replay_seconds + n.fuzz_seconds, 120, 3);
  EXPECT_EQ(n.budget_seconds, 120);
}

TEST_F(NightSteps, ReplaysTakeAThirdOfTheTimeAtMost) {
  for (int i = 0; i < 60; ++i)
    options_.corpus.push_back(corpus_plan(fmt::format("{:02}.toml", i), 8));
  options_.plans = 0;
  options_.time = seconds(100);
  const Told told = night();
  EXPECT_NEAR(told.night.replay_seconds, 30, 6) << "and the replay at hand";
  EXPECT_NEAR(told.night.fuzz_seconds, 67, 8);
  const auto first = replayed(told.night.campaign);
  EXPECT_EQ(told.night.corpus.size(), 60u) << "the others are listed, too";
  EXPECT_EQ(told.gap("corpus/59.toml"), "no time was left");
  EXPECT_EQ(told.code, kNotJudged) << "they were asked for";
  ASSERT_GT(first.size(), 1u);
  ASSERT_LT(first.size(), 60u);
  // The next night begins with those that waited longest.
  const auto second = replayed(night().night.campaign);
  const auto waited = static_cast<std::ptrdiff_t>(60 - first.size());
  EXPECT_GE(std::count_if(second.begin(), second.end(),
                          [&](const std::string& subject) {
                            return std::count(first.begin(), first.end(), subject) == 0;
                          }),
            std::min(waited, static_cast<std::ptrdiff_t>(second.size())));
}

// One replay may need more time than the night has.
TEST_F(NightSteps, AReplayIsEndedWithItsTime) {
  make_slow(seconds(2), seconds(10));
  const Told told = night();
  EXPECT_LT(told.night.replay_seconds, 10);
  EXPECT_NE(told.gap("corpus/slow.toml").find("no time was left"), std::string::npos);
}

TEST_F(NightSteps, ATargetWithoutATurnIsNoCleanNight) {
  make_slow(seconds(10), seconds(4));
  const Told told = night();
  EXPECT_EQ(told.night.plans, 0u);
  EXPECT_EQ(told.code, kNotJudged);
  EXPECT_NE(told.gap("target t").find("no time was left"), std::string::npos);
}

TEST_F(NightSteps, ADeadTargetIsNotOutvotedByAnother) {
  targets_ = {"dead", "t"};
  bug_ = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return plan.target == "dead" ? ended(End::worker_error) : all_right(plan, trial);
  };
  options_.plans = 5;
  EXPECT_EQ(night().code, kHarness);
}

TEST_F(NightSteps, TimeGoesWhereBugsWereFound) {
  targets_ = {"barren", "t"};
  options_.plans = 0;
  options_.time = seconds(200);
  first_size_ = 55;
  bug_ = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return plan.target == "t" ? faults_above(64)(plan, trial, before) : all_right(plan, trial);
  };
  const Told first = night();
  ASSERT_EQ(first.night.targets.size(), 2u);
  EXPECT_NEAR(first.night.targets[0].share, 0.5, 1e-9) << "nothing is known yet";
  first_size_ = 0;
  bug_ = kNoBug;
  code_ = "second build";
  const Told second = night();
  const auto& barren = second.night.targets[0];
  const auto& yielded = second.night.targets[1];
  EXPECT_GE(barren.share, 0.25);
  EXPECT_GT(yielded.share, 0.5);
  EXPECT_NEAR(barren.share + yielded.share, 1, 1e-9);
  const double fuzzed = yielded.device_seconds / (yielded.device_seconds + barren.device_seconds);
  EXPECT_NEAR(fuzzed, yielded.share, 0.1);
}

TEST_F(NightSteps, ShardsShareTheReplaysAndFuzzOtherPlans) {
  for (int i = 0; i < 12; ++i)
    options_.corpus.push_back(corpus_plan(fmt::format("{:02}.toml", i), 8));
  options_.seed = 9;
  std::set<std::string> all;
  for (int shard : {1, 2, 3}) {
    options_.shard = {shard, 3};
    const Told told = night();
    EXPECT_EQ(told.code, kOk);
    EXPECT_EQ(told.night.shard, shard);
    EXPECT_EQ(told.night.shards, 3);
    for (const auto& subject : replayed(told.night.campaign))
      EXPECT_TRUE(all.insert(subject).second) << subject << " by two shards";
  }
  EXPECT_EQ(all.size(), 12u);
  EXPECT_EQ(std::set(seeds_.begin(), seeds_.end()).size(), 3u);
}

TEST_F(NightSteps, WhatAnotherShardReplaysIsNoGapOfThisOne) {
  bug_ = faults_above(64);
  first_size_ = 55;
  ASSERT_EQ(night().night.findings.size(), 1u);
  const std::string hash = night().of("x")->signature_hash;
  const int owner = campaign::Shard{1, 2}.owns(hash) ? 1 : 2;
  first_size_ = 0;
  options_.shard = {owner, 2};
  EXPECT_EQ(night().of("x")->outcome, ReplayOutcome::fails);
  options_.shard = {3 - owner, 2};
  const Told other = night();
  EXPECT_EQ(other.of("x")->outcome, ReplayOutcome::not_run);
  EXPECT_EQ(other.of("x")->outcome_reason, "another shard replays it");
  EXPECT_EQ(other.gap("finding 1"), "");
}

TEST_F(NightSteps, WhatCannotBeFuzzedIsSaid) {
  skipped_ = {{.target = "gpu_only", .why = "its kernels are compiled for a GPU"}};
  const Told told = night();
  EXPECT_EQ(told.code, kOk);
  EXPECT_EQ(told.gap("target gpu_only"), "its kernels are compiled for a GPU");
}

TEST_F(NightSteps, AReportThatCannotBeWrittenIsAnErrorAndTheNightGoesOn) {
  report_ = dir_ / "not there";
  const Told told = night();
  EXPECT_EQ(told.code, -1);
  EXPECT_NE(told.error.find("cannot be written"), std::string::npos) << told.error;
  EXPECT_EQ(last_run().exit_code, store::NightRun::kUnfinished);
  bug_ = faults_above(8);
  options_.seed = 77;  // another night
  const Told found = night();
  EXPECT_EQ(found.code, kFound) << "what was found is not lost for it";
  EXPECT_TRUE(noted(found, "cannot be written"));
}

TEST_F(NightSteps, TheReportIsWrittenInAllFormats) {
  report_ = dir_ / "out";
  std::filesystem::create_directory(*report_);
  EXPECT_EQ(night().code, kOk);
  for (const auto& format : report::night_formats())
    EXPECT_GT(std::filesystem::file_size(*report_ / format.file), 0u) << format.file;
}

}  // namespace
}  // namespace redzone::nightly
