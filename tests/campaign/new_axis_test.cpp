// An oracle on an axis that Redzone does not have, made of one row. All code that handles axes
// takes it from the table without any change.
#include <gtest/gtest.h>

#include "bisect/axes.h"
#include "campaign/attribution.h"
#include "campaign/fakes.h"
#include "campaign/listed_plans.h"
#include "report/text.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// A tool slows the threads of a kernel down, which may change their order.
ModeAxis tool_axis() {
  return {
      .name = "tool",
      .oracle = "watched",
      .kind = FailKind::schedule,
      .claim = "whether a tool slows its threads down",
      .value = [](const Plan& plan) { return std::string(name_of(plan.mode.sanitizer)); },
      .values = {{"none", [](Draft& d) { d.plan.mode.sanitizer = SanitizerTool::none; }},
                 {"synccheck", [](Draft& d) { d.plan.mode.sanitizer = SanitizerTool::synccheck; }}},
      .vary = [](const Plan&, TrialSpec& t) { t.mode.sanitizer = SanitizerTool::synccheck; },
      .screened = true};
}

oracles::Catalog catalog_with_tool_axis() {
  auto axes = all_mode_axes();
  axes.push_back(tool_axis());
  return oracles::Catalog({}, SanitizerTool::none, {}, std::move(axes));
}

bool is_watched(const TrialSpec& trial) {
  return trial.mode.sanitizer != SanitizerTool::none;
}

// Calls with more than 64 elements are wrong while a tool is in use.
Observation wrong_when_watched(const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
  return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
    return right_digest(call) + (is_watched(trial) && get(call.dims, "N") > 64);
  });
}

std::vector<Finding> found_with(const oracles::Catalog& catalog, const Bug& bug) {
  static const TargetSpec spec = small_spec();
  FakeExecutor executor(bug);
  RecordingSink sink;
  CampaignOptions options;
  options.plans_per_target = 20;
  std::vector<TargetUnderTest> targets;
  targets.push_back(
      {&spec,
       std::make_unique<ListedPlans>(std::vector{busy_plan({call_of(40, 16), call_of(90, 32)})}),
       {}});
  EXPECT_TRUE(
      Campaign(executor, catalog, real_simplify(), sink, std::move(targets), options).run());
  std::vector<Finding> found;
  for (auto& [id, finding] : sink.findings) found.push_back(finding);
  return found;
}

bool has_axis(const std::vector<AttributionRow>& rows, std::string_view axis) {
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.axis == axis; });
}

TEST(NewAxis, IsScreenedComparedNamedReducedAndReported) {
  const auto found = found_with(catalog_with_tool_axis(), wrong_when_watched);
  ASSERT_EQ(found.size(), 1u);
  const Finding& f = found[0];
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.signature.kind, FailKind::schedule);
  EXPECT_EQ(f.oracle, "watched");
  EXPECT_NE(f.reason.find("depends on whether a tool slows its threads down"), std::string::npos)
      << f.reason;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)}));
  EXPECT_TRUE(has_axis(f.attribution, "launch"));
  EXPECT_FALSE(has_axis(f.attribution, "tool")) << "its oracle varies it";
  const std::string text = report::finding_text(f);
  EXPECT_NE(text.find("watched"), std::string::npos) << text;
  EXPECT_NE(text.find("whether a tool slows its threads down"), std::string::npos) << text;
}

// The bug shows along no other axis, so the new row is what found it above.
TEST(NewAxis, WithoutItsRowNothingIsSeen) {
  EXPECT_TRUE(found_with(oracles::Catalog(), wrong_when_watched).empty());
}

TEST(NewAxis, IsAttributedAndBisectedForOtherOracles) {
  const auto catalog = catalog_with_tool_axis();
  const TargetSpec spec = small_spec();
  FakeExecutor executor(
      [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        return is_watched(trial) ? all_right(plan, trial) : faults_above(64)(plan, trial, before);
      });
  Evaluator evaluator(executor, spec, std::chrono::seconds(10));
  const Oracle& fault = *catalog.find("fault");
  const Plan plan = plain_plan({call_of(65, 16)});
  const Signature signature = evaluator.ask(fault, plan).verdict.signature;
  const auto rows =
      attribute(evaluator, catalog, fault, plan, signature, {.first_runs = 2, .runs = 4});
  const AttributionRow with{"tool", "none", {2, 2}}, without{"tool", "synccheck", {0, 4}};
  EXPECT_NE(std::find(rows.begin(), rows.end(), with), rows.end());
  EXPECT_NE(std::find(rows.begin(), rows.end(), without), rows.end());

  const auto bisected = [&](const Oracle& oracle) {
    const auto axes = bisect::axes_of(plan, spec, {catalog.axes(), oracle.varies()});
    return std::find_if(axes.begin(), axes.end(), [](const auto& a) { return a.name == "tool"; }) !=
           axes.end();
  };
  EXPECT_TRUE(bisected(fault));
  EXPECT_FALSE(bisected(*catalog.find("watched")));
}

}  // namespace
}  // namespace redzone::campaign
