// Writes beside a buffer: some plans show them in a canary, others as a fault, and some in few
// runs.
#include <gtest/gtest.h>

#include "bisect/bisect.h"
#include "bisect/evaluator_runner.h"
#include "campaign/attribution.h"
#include "campaign/campaign.h"
#include "campaign/listed_plans.h"
#include "campaign/naming.h"
#include "campaign/plan_variants.h"
#include "campaign/run_judgement.h"
#include "campaign/triage_case.h"
#include "core/mode_axes.h"
#include "core/plan_text.h"
#include "core/validate.h"

namespace redzone::campaign {
namespace {

using namespace testing;

TEST(CanaryOrFault, AtGuardPagesAreValidAndNoOtherCalls) {
  const TargetSpec spec = small_spec();
  const Plan plan = busy_plan({call_of(10, 16), call_of(701, 64), call_of(1023, 32)});
  const auto forms = at_guard_pages(plan, spec, Placement::guard_before);
  const std::vector<std::vector<std::int64_t>> sizes{
      {16, 704, 1024}, {10, 688, 1008}, {10, 701, 1023}, {10, 701, 1023}};
  ASSERT_EQ(forms.size(), sizes.size());
  EXPECT_EQ(forms[2].mode.alignment, Alignment::promised);
  EXPECT_EQ(forms[3].mode.alignment, Alignment::element);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    EXPECT_TRUE(validate(forms[i], spec));
    EXPECT_EQ(forms[i].mode.placement, Placement::guard_before);
    EXPECT_EQ(forms[i].mode.allocator, Allocator::guard);
    std::vector<std::int64_t> n;
    for (const auto* step : calls_of(forms[i])) {
      n.push_back(get(step->call.dims, "N"));
      EXPECT_TRUE(step->call.layouts.empty());
    }
    EXPECT_EQ(n, sizes[i]);
  }
  // 1024 is the limit: what cannot be rounded up is not changed into what the target forbids.
  TargetSpec narrow = spec;
  narrow.dims[0].max = 1000;
  EXPECT_EQ(at_guard_pages(plain_plan({call_of(999, 16)}), narrow, Placement::guard_after).size(),
            2u);
}

// Every other run gives another output, which is found at once; every fortieth shows the write.
TEST(CanaryOrFault, NamesARareWriteByTheWriteAndNotByWhatItLeavesBehind) {
  int trials = 0;
  TriageCase c([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    const int now = trials++;
    Observation o = outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      return right_digest(call) + static_cast<std::uint64_t>(now % 2);
    });
    if (now % 40 == 0) o.calls[0].buffers[0].changed = 1;
    return o;
  });
  const Finding f = c.settle(plain_plan({call_of(64, 16)})).finding;
  EXPECT_EQ(f.signature.text(), "input-changed: write inside x (t)");
  EXPECT_EQ(f.oracle, "redzone");
  EXPECT_EQ(f.state, FindingState::flaky);
}

// Whether such a write shows in a canary or as a fault depends on the size, and is one bug.
TEST(CanaryOrFault, NamesAWriteBesideABufferByTheFaultWhicheverShowedIt) {
  for (const std::int64_t n : {701, 700}) {
    TriageCase c(writes_past_the_end(true));
    const Finding f = c.settle(busy_plan({call_of(n, 64)})).finding;
    EXPECT_EQ(f.signature.text(), "illegal-access: write after y in k (t)") << n;
    EXPECT_EQ(f.oracle, "fault");
    EXPECT_EQ(f.plan, plain_plan({call_of(4, 16)})) << print_plan(f.plan);
    EXPECT_TRUE(f.minimal);
  }
}

TEST(CanaryOrFault, LooksForNoFaultWhereFaultsNameNoBuffer) {
  TriageOptions options = patient();
  options.faults_name_buffers = false;
  TriageCase c(writes_past_the_end(true), options);
  const Finding f = c.settle(busy_plan({call_of(701, 64)})).finding;
  EXPECT_EQ(f.signature.text(), "redzone: write after y (t)");
}

TEST(CanaryOrFault, NamesAWriteThatNoGuardPageStopsByItsCanary) {
  TriageCase c(writes_past_the_end(false));
  const Finding f = c.settle(busy_plan({call_of(701, 64)})).finding;
  EXPECT_EQ(f.signature.text(), "redzone: write after y (t)");
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16)})) << print_plan(f.plan);
}

using Merged = std::vector<std::pair<std::int64_t, std::int64_t>>;

// A campaign over these plans, which are run again and again. `merged`: what it told to be another.
CampaignResult campaign_over(std::vector<Plan> plans, RecordingSink& sink,
                             Merged* merged = nullptr) {
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog;
  FakeExecutor executor(sized_by_the_first_call());
  CampaignOptions options;
  options.triage.reduce_time = std::chrono::hours(1);
  options.plans_per_target = 40;
  if (merged != nullptr)
    options.merged = [merged](auto id, auto other) { merged->emplace_back(id, other); };
  std::vector<TargetUnderTest> targets;
  targets.push_back({&spec, std::make_unique<ListedPlans>(std::move(plans)), {}});
  auto result =
      Campaign(executor, catalog, real_simplify(), sink, std::move(targets), options).run();
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

// Only some shapes let such a write reach the guard page, and none of the canary's own plan does.
TEST(CanaryOrFault, OfOneWriteInOtherPlansAreOneFinding) {
  const Plan canary = plain_plan({call_of(1, 16), call_of(3, 16)});
  const Plan fault = plain_plan({call_of(1, 16), call_of(40, 16)});
  for (const auto& plans : {std::vector{canary, fault}, std::vector{fault, canary}}) {
    RecordingSink sink;
    Merged merged;
    const auto result = campaign_over(plans, sink, &merged);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].signature.text(), "illegal-access: write after y in k (t)");
    EXPECT_EQ(result.new_ids, std::vector{result.findings[0].id});
    EXPECT_EQ(merged, (Merged{{3 - result.findings[0].id, result.findings[0].id}}));
    EXPECT_EQ(result.stats.new_findings, 1u);
    EXPECT_EQ(result.stats.known_findings, 0u);
    ASSERT_EQ(sink.findings.size(), 1u);
    const Finding& f = sink.findings.begin()->second;
    EXPECT_EQ(f.id, result.findings[0].id);
    EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(17, 16)})) << print_plan(f.plan);
  }
}

TEST(CanaryOrFault, ACanaryWhoseWriteNeverFaultsStays) {
  RecordingSink sink;
  const auto result = campaign_over({plain_plan({call_of(1, 16), call_of(3, 16)})}, sink);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].signature.text(), "redzone: write after y (t)");
}

// The older one may be marked as known: a new write must not hide behind the mark.
TEST(CanaryOrFault, ANewCanaryIsNotMergedIntoAnOlderFault) {
  const Plan canary = plain_plan({call_of(1, 16), call_of(3, 16)});
  const Plan fault = plain_plan({call_of(1, 16), call_of(40, 16)});
  RecordingSink sink;
  const auto earlier = campaign_over({fault}, sink).new_ids;
  ASSERT_EQ(earlier.size(), 1u);
  sink.older = {earlier.front()};
  const auto result = campaign_over({canary, fault}, sink);
  EXPECT_EQ(result.findings.size(), 2u);
  ASSERT_EQ(result.new_ids.size(), 1u);
  EXPECT_EQ(sink.findings.at(result.new_ids[0]).signature.text(), "redzone: write after y (t)");
}

// What explain, bisect, replay and show make of runs of the finding: its evaluator, and a plan that
// shows the write as a fault.
class OneWrite : public ::testing::Test {
 protected:
  const Oracle& fault() const { return *catalog_.find("fault"); }
  Plan under(Placement placement) const {
    Plan plan = plain_plan({call_of(4, 16)});
    plan.mode.placement = placement;
    return plan;
  }

  const TargetSpec spec_ = small_spec();
  const oracles::Catalog catalog_;
  FakeExecutor executor_{writes_past_the_end(true)};
  Evaluator evaluator_{executor_, spec_, std::chrono::seconds(10)};
  const Signature recorded_ =
      evaluator_.ask(fault(), under(Placement::guard_after)).verdict.signature;
};

TEST_F(OneWrite, IsTheRecordedFailureHoweverItShows) {
  ASSERT_EQ(recorded_.text(), "illegal-access: write after y in k (t)");
  const Plan canary = under(Placement::guard_before);
  const Answer answer = evaluator_.ask(fault(), canary);
  const auto judged = judge_run(canary, std::span(&answer, 1), recorded_);
  EXPECT_EQ(judged.result, RunResult::recorded);
  EXPECT_EQ(judged.verdict.signature.text(), "redzone: write after y (t)");
  EXPECT_FALSE(judged.other) << "it would be stored as a finding of its own";
}

TEST_F(OneWrite, DependsOnNoPlacement) {
  const auto rows = attribute(evaluator_, catalog_, fault(), under(Placement::guard_after),
                              recorded_, {.first_runs = 2, .runs = 4});
  std::size_t placements = 0;
  for (const auto& row : rows) {
    if (row.axis != "placement") continue;
    ++placements;
    EXPECT_EQ(row.failed, (Reliability{2, 2})) << row.value;
  }
  EXPECT_EQ(placements, 2u);
}

TEST_F(OneWrite, BisectedSaysWithWhichValueItShowsOtherwise) {
  bisect::EvaluatorRunner runner(evaluator_, catalog_, fault(), recorded_);
  bisect::Prober prober(runner, {});
  const auto b = bisect::bisect(under(Placement::guard_after), spec_, prober,
                                {.axes = {catalog_.axes(), {}}, .combinations = 0});
  EXPECT_FALSE(runner.other());
  const auto row = std::find_if(b.rows.begin(), b.rows.end(),
                                [](const auto& r) { return r.axis == "placement"; });
  ASSERT_NE(row, b.rows.end());
  EXPECT_EQ(row->relevance(), bisect::Relevance::irrelevant);
  ASSERT_EQ(row->tried.size(), 1u);
  EXPECT_EQ(row->tried[0].probe.counts.shown_as(), "redzone: write after y (t)");
}

// Nor does it depend on a value with which something else fails, as the reference may show alone.
TEST_F(OneWrite, IsNotSaidToNeedAValueWithoutWhichItFailsOtherwise) {
  TargetSpec spec = spec_;
  for (const bool by_reference : {false, true}) {
    spec.has_reference = by_reference;
    FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      Observation o = all_right(plan, trial);
      auto& y = o.calls.back().buffers.back();
      if (trial.mode.placement == Placement::guard_after)
        y.dirty_after = 4;
      else if (!by_reference)
        y.dirty_before = 4;
      else if (trial.reference)
        o.calls.back().references = {{.tensor = "y", .numel = 8, .mismatches = 8}};
      return o;
    });
    Evaluator evaluator(executor, spec, std::chrono::seconds(10));
    const Oracle& canaries = *catalog_.find("redzone");
    const Plan plan = under(Placement::guard_after);
    const Signature after = evaluator.ask(canaries, plan).verdict.signature;
    const auto rows =
        attribute(evaluator, catalog_, canaries, plan, after, {.first_runs = 2, .runs = 4});
    int placements = 0;
    for (const auto& row : rows) {
      if (row.axis != "placement") continue;
      ++placements;
      EXPECT_EQ(row.failed, row.value == "guard_after" ? (Reliability{2, 2}) : Reliability{});
    }
    EXPECT_EQ(placements, 2) << by_reference;
  }
}

// As for a replay. Where the failure itself shows, the reference is not asked.
TEST_F(OneWrite, IsNotGoneWhereTheOutputsAreWrong) {
  FakeExecutor executor([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    if (trial.mode.placement == Placement::guard_after)
      o.calls.back().buffers.back().dirty_after = 4;
    else if (trial.reference)
      o.calls.back().references = {{.tensor = "y", .numel = 8, .mismatches = 8}};
    return o;
  });
  TargetSpec spec = spec_;
  spec.has_reference = true;
  Evaluator evaluator(executor, spec, std::chrono::seconds(10));
  const Oracle& canaries = *catalog_.find("redzone");
  const Signature write = evaluator.ask(canaries, under(Placement::guard_after)).verdict.signature;
  bisect::EvaluatorRunner runner(evaluator, catalog_, canaries, write);
  const std::vector<bisect::Request> requests{{under(Placement::guard_after), 3},
                                              {under(Placement::guard_before), 2}};
  const std::uint64_t before = executor.trials();
  const auto counts = runner.run(requests);
  EXPECT_EQ(counts.at(0).same, 3);
  EXPECT_EQ(counts.at(1).other, 2);
  EXPECT_EQ(counts.at(1).said, "reference: y (t)");
  EXPECT_EQ(executor.trials() - before, 5u + 2u);
}

TEST_F(OneWrite, ReducedAgainIsNoOtherFailure) {
  RecordingSink sink;
  Finding stored;
  stored.signature = recorded_;
  stored.oracle = "fault";
  stored.state = FindingState::confirmed;
  stored.plan = stored.original = plain_plan({call_of(64, 16), call_of(700, 64)});
  stored.id = sink.record(stored)->id;
  Triage triage(executor_, catalog_, real_simplify(), sink, patient());
  const auto settled = triage.reduce_again(stored, spec_);
  ASSERT_TRUE(settled);
  EXPECT_TRUE(settled->finding.minimal);
  EXPECT_EQ(settled->finding.signature, recorded_);
  EXPECT_FALSE(settled->other);
}

TEST(CanaryOrFault, OfTheSameWriteHaveAllButTheKernelInCommon) {
  const Signature canary{.kind = FailKind::redzone,
                         .target = "t",
                         .where = "",
                         .buffer = "x",
                         .side = "after",
                         .access = "write"};
  Signature fault = canary;
  fault.kind = FailKind::illegal_access;
  fault.where = "k";
  EXPECT_TRUE(is_fault_of(fault, canary));
  EXPECT_FALSE(is_fault_of(canary, fault));
  for (auto part : {&Signature::target, &Signature::buffer, &Signature::side, &Signature::access}) {
    Signature other = fault;
    other.*part = "other";
    EXPECT_FALSE(is_fault_of(other, canary));
  }
}

}  // namespace
}  // namespace redzone::campaign
