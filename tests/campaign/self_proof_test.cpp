// The self-proof with an executor that hides one planted bug or shows one that does not exist.
#include "campaign/self_proof.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "campaign/fakes.h"
#include "campaign/planted_count.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::completed;
using redzone::testing::ended;
using redzone::testing::faulted;

// Whether a bug that shows along one axis is shown in this trial; nullopt for other bugs.
std::optional<bool> shown_along_axis(const Plan& plan, const TrialSpec& trial) {
  static const oracles::Catalog catalog;
  for (const auto& planted : planted_bugs(SelfProofOptions().allocators, true)) {
    if (!planted.kind || plan_of(planted) != plan) continue;
    const auto varied = catalog.find(planted.oracle)->varies();
    if (varied.empty()) return std::nullopt;
    const ModeAxis& axis = mode_axis(varied.front());
    Plan run = trial.plain_graphs ? with_plain_graphs(plan) : plan;
    run.mode = trial.mode;
    return (axis.has != nullptr && !axis.has(run)) || axis.value(run) != axis.value(plan);
  }
  return std::nullopt;
}

// Two operations that nothing orders: the outputs are those of the order that was forced.
Observation open_order(const TrialSpec& trial) {
  Observation o = completed({trial.direction && trial.direction->second_first ? 6u : 5u});
  if (!trial.records_order) return o;
  OrderCandidate pair;
  pair.buffer = "value";
  pair.first.number = 1;
  o.order.emplace().candidates.push_back(pair);
  o.order->directed = trial.direction.has_value();
  return o;
}

// What a sound harness observes of the selftest plugin.
Observation sound(const Plan& plan, const TrialSpec& trial, std::uint64_t run) {
  const auto n = calls_of(plan).size();
  const auto all = [&](bool changed) {
    return completed(std::vector<std::uint64_t>(n, changed ? 6 : 5));
  };
  const std::string name = plan.target.substr(plan.target.find('.') + 1);
  if (name == "missing_wait") return open_order(trial);
  if (const auto shown = shown_along_axis(plan, trial)) return all(*shown);
  if (name == "counts_runs") return completed(std::vector<std::uint64_t>(n, run));
  const auto calls = calls_of_trial(plan, trial);
  Observation o = completed(std::vector<std::uint64_t>(n, 5));
  if (plan.target == "selftest.write_past_end")
    return faulted(fault_at(0, "y", Access::write, Side::after));
  if (plan.target == "selftest.write_before_start" &&
      trial.mode.placement == Placement::guard_before)
    return faulted(fault_at(0, "y", Access::write, Side::before));
  if (plan.target == "selftest.write_before_start") o.calls[0].buffers[0].dirty_before = 4;
  if (plan.target == "selftest.stale_state")
    return completed(std::vector<std::uint64_t>(
        n, static_cast<std::uint64_t>(get(calls.front().second.dims, "N"))));
  if (name == "write_after_free") {
    auto freed = o.calls[0].buffers[0];
    freed.name = "freed";
    freed.scratch = true;
    freed.changed = freed.numel = 64;
    o.calls[0].buffers.push_back(freed);
  }
  if (plan.target == "selftest.short_scratch")
    o.calls[0].scratch = {{.name = "scratch", .bytes = 64, .bytes_per_cta = 64, .grid = {2, 1, 1}}};
  if (plan.target == "selftest.oversized_block") return faulted({.code = "invalid-launch"});
  if (plan.target == "selftest.stale_launch")
    for (auto& call : o.calls) call.launches = {{.kernel = "write_range", .grid = {1, 1, 1}}};
  if (plan.target == "selftest.wrong_value") {
    ReferenceObservation r;
    r.tensor = "y";
    r.numel = r.mismatches = 64;
    o.calls[0].references = {r};
  }
  EXPECT_TRUE(name == "clean" || o != completed(std::vector<std::uint64_t>(n, 5)))
      << "sound() has to say what the harness sees of '" << plan.target << "'";
  return o;
}

TargetSpec selftest_spec() {
  TargetSpec spec = small_spec();
  spec.has_reference = true;
  return spec;
}

class SelfProofTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  Result<SelfProof> run(Bug bug) {
    executor_ = std::make_unique<FakeExecutor>(std::move(bug), &journal_);
    executor_->set_max_in_flight(GetParam());
    return prove(*executor_, catalog_, [this](std::string_view) { return &spec_; }, {});
  }
  // The error message if `target` behaves like `instead`; "" if the proof holds.
  std::string failure(const std::string& target, std::function<Observation(const Plan&)> instead) {
    auto proof = run([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      return plan.target == "selftest." + target ? instead(plan) : sound(plan, trial, ++runs_);
    });
    if (proof) return "";
    EXPECT_EQ(proof.error().kind, ErrorKind::harness);
    EXPECT_EQ(proof.error().message.find('\n'), std::string::npos);
    return proof.error().message;
  }

  TargetSpec spec_ = selftest_spec();
  oracles::Catalog catalog_;
  Journal journal_;
  std::uint64_t runs_ = 0;
  std::unique_ptr<FakeExecutor> executor_;
};

Observation nothing_wrong(const Plan& plan) {
  return completed(std::vector<std::uint64_t>(calls_of(plan).size(), 5));
}

TEST_P(SelfProofTest, PassesWhereAllIsCaught) {
  const auto proof = run([this](const Plan& plan, const TrialSpec& trial,
                                const std::vector<Call>&) { return sound(plan, trial, ++runs_); });
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->caught, planted_count(false));
  EXPECT_EQ(executor_->in_flight(), 0u);
}

TEST_P(SelfProofTest, PlantsARaceWhereASeedSaysInWhichOrderBlocksRun) {
  FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return sound(plan, trial, ++runs_);
  });
  SelfProofOptions options;
  options.seeded_schedules = true;
  const auto proof = prove(
      executor, catalog_, [this](std::string_view) { return &spec_; }, options);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->caught, planted_count(true));
  EXPECT_GT(planted_count(true), planted_count(false));
}

// Each call launches `n` elements in blocks of 128.
TargetSpec stale_launch_spec() {
  TargetSpec spec = selftest_spec();
  spec.geometry = [](const Dims& d, const Config&) -> Geometry {
    return {{{"write_range", {(get(d, "N") + 127) / 128, 1, 1}, {1, 1, 1}, 0}}, {}};
  };
  return spec;
}

// A correct observation, launches included.
Observation right_observation(const Plan& plan) {
  Observation o = completed(std::vector<std::uint64_t>(calls_of(plan).size(), 5));
  const TargetSpec spec = stale_launch_spec();
  for (auto& call : o.calls) {
    const Call& made = calls_of(plan)[static_cast<std::size_t>(call.call)]->call;
    const LaunchDecl d = spec.geometry(made.dims, made.config).launches.front();
    call.launches = {{.kernel = d.kernel, .grid = {d.grid[0], 1, 1}}};
  }
  return o;
}

TEST_P(SelfProofTest, HasItsOwnProofsWhereNothingRuns) {
  const auto dry = [&](const std::string& hidden) {
    executor_ = std::make_unique<FakeExecutor>(
        [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
          Observation o = plan.target == "selftest." + hidden ? right_observation(plan)
                                                              : sound(plan, trial, ++runs_);
          for (auto& call : o.calls)
            if (call.launches.empty())
              call.launches = {{.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}}};
          return o;
        },
        &journal_);
    executor_->set_max_in_flight(GetParam());
    const TargetSpec stale = stale_launch_spec();
    return prove(
        *executor_, oracles::Catalog::dry(),
        [&](std::string_view name) { return name == "selftest.stale_launch" ? &stale : &spec_; },
        {});
  };
  const auto proof = dry("");
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->caught, 3u);
  for (const auto& [target, what] : {std::pair{"short_scratch", "scratch for one CTA of two"},
                                     {"oversized_block", "a launch that no device takes"},
                                     {"stale_launch", "the launch of an earlier call"}}) {
    const auto missed = dry(target);
    ASSERT_FALSE(missed) << target;
    EXPECT_NE(missed.error().message.find(what), std::string::npos) << missed.error().message;
  }
}

TEST_P(SelfProofTest, RunsEveryLaunchModeAndPlacement) {
  std::set<std::pair<Launch, Placement>> seen;
  ASSERT_TRUE(run([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    seen.emplace(trial.mode.launch, trial.mode.placement);
    return sound(plan, trial, ++runs_);
  }));
  for (auto launch : {Launch::blocking, Launch::async, Launch::gated})
    EXPECT_TRUE(seen.contains({launch, Placement::guard_after})) << name_of(launch);
  for (auto launch : {Launch::blocking, Launch::async, Launch::gated})
    EXPECT_TRUE(seen.contains({launch, Placement::guard_before})) << name_of(launch);
}

TEST_P(SelfProofTest, RunsOverEveryAllocatorThatPlansMayName) {
  const auto allocators_of = [&](std::vector<Allocator> named) {
    std::set<Allocator> seen;
    FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      seen.insert(plan.mode.allocator);
      return sound(plan, trial, ++runs_);
    });
    SelfProofOptions options;
    options.allocators = std::move(named);
    EXPECT_TRUE(prove(
        executor, catalog_, [this](std::string_view) { return &spec_; }, options));
    return seen;
  };
  using enum Allocator;
  EXPECT_EQ(allocators_of({guard, plain, pool, caching}), (std::set{guard, plain, pool, caching}));
  EXPECT_EQ(allocators_of({pool}), (std::set{guard, pool}));
  EXPECT_EQ(allocators_of({guard}), (std::set{guard}));
}

TEST_P(SelfProofTest, AnAllocatorThatGivesNothingBackIsNamed) {
  const auto proof =
      run([this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
        Observation o = sound(plan, trial, ++runs_);
        return plan.mode.allocator == Allocator::pool ? nothing_wrong(plan) : o;
      });
  ASSERT_FALSE(proof);
  EXPECT_NE(proof.error().message.find("pool"), std::string::npos) << proof.error().message;
}

TEST_P(SelfProofTest, NamesTheBugThatIsNotCaught) {
  // The first bug of each target: the proof ends with it.
  std::map<std::string, std::string> first;
  for (const auto& planted : planted_bugs(SelfProofOptions().allocators, false))
    if (planted.kind) first.emplace(planted.target, planted.what);
  EXPECT_GE(first.size(), 12u);
  for (const auto& [target, what] : first) {
    const std::string message = failure(target, nothing_wrong);
    EXPECT_NE(message.find(what), std::string::npos) << target << ": " << message;
    EXPECT_NE(message.find("NOT caught"), std::string::npos) << target << ": " << message;
  }
}

// A new oracle needs a bug that it must catch wherever Redzone runs. What judges before any trial
// runs is no part of the proof.
TEST(PlantedBugs, EveryOracleHasOne) {
  std::set<std::string> caught_by;
  for (const auto& planted : planted_bugs(SelfProofOptions().allocators, true))
    if (planted.kind) caught_by.insert(planted.oracle);
  const oracles::Catalog catalog;
  for (const auto* oracle : catalog.all()) {
    if (oracle == &catalog.device_free()) continue;
    EXPECT_TRUE(caught_by.contains(std::string(oracle->name()))) << oracle->name();
  }
}

TEST_P(SelfProofTest, AFailureOfAnotherKindIsNotCaught) {
  const std::string message =
      failure("write_past_end", [](const Plan&) { return ended(End::hang); });
  EXPECT_NE(message.find("NOT caught"), std::string::npos) << message;
  EXPECT_NE(message.find("hang"), std::string::npos) << message;
}

// Where no worker can be started, no oracle is to blame.
TEST_P(SelfProofTest, WhatCouldNotBeTriedIsNotMissed) {
  const std::string message = failure("write_past_end", [](const Plan&) {
    Observation o = ended(End::worker_error);
    o.message = "cannot create a pipe for a worker: Too many open files";
    return o;
  });
  EXPECT_EQ(message.find("caught"), std::string::npos) << message;
  EXPECT_NE(message.find("could not be tried: "), std::string::npos) << message;
  EXPECT_NE(message.find("Too many open files"), std::string::npos) << message;
}

TEST_P(SelfProofTest, TheCleanTargetMustPass) {
  std::uint64_t digest = 0;
  const std::string message = failure("clean", [&](const Plan& plan) {
    return completed(std::vector<std::uint64_t>(calls_of(plan).size(), ++digest));
  });
  EXPECT_NE(message.find("the clean target was NOT passed"), std::string::npos) << message;
}

TEST_P(SelfProofTest, WhatCannotBeJudgedProvesNothing) {
  for (const char* target : {"write_past_end", "stale_state", "clean"}) {
    const std::string message =
        failure(target, [](const Plan&) { return ended(End::worker_error, "no worker came up"); });
    EXPECT_NE(message.find("no worker came up"), std::string::npos) << message;
  }
}

TEST_P(SelfProofTest, AMissingTargetIsSaid) {
  FakeExecutor executor([this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return sound(plan, trial, ++runs_);
  });
  const auto proof = prove(
      executor, catalog_,
      [this](std::string_view name) { return name == "selftest.clean" ? nullptr : &spec_; }, {});
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().message,
            "self-proof failed: no plugin has 'selftest.clean' for this device");
}

TEST_P(SelfProofTest, EndsWhenItIsStopped) {
  executor_ = std::make_unique<FakeExecutor>(
      [this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
        return sound(plan, trial, ++runs_);
      });
  const auto proof = prove(*executor_, catalog_, [this](std::string_view) { return &spec_; },
                           {std::chrono::seconds(1), [] { return true; }});
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().message, "the self-proof was interrupted");
}

// With warm workers and without.
INSTANTIATE_TEST_SUITE_P(Appetite, SelfProofTest, ::testing::Values(0, 2));

}  // namespace
}  // namespace redzone::campaign
