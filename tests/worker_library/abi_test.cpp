// Bugs planted behind the C interface, run by a pool in processes of another program and judged by
// the screen.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "core/validate.h"
#include "exec/pool.h"
#include "oracles/catalog.h"
#include "python/targets.h"
#include "target/registry.h"
#include "worker_library/abi_targets.h"

namespace redzone::worker {
namespace {

class Abi : public ::testing::Test {
 protected:
  Abi() : registry_(*Registry::load_in_worker({})) {
    const auto described = python::read_descriptions(kAbiTargets, "targets");
    EXPECT_TRUE(described) << described.error().message;
    EXPECT_TRUE(python::add_targets(registry_, *described, {.source = TargetSource::python},
                                    python::without_python));
    exec::PoolOptions options;
    options.command.argv = {ABI_WORKER, "--device", "host", "--python-file", "my.py"};
    options.workers = 1;
    options.spares = 1;
    pool_.emplace(std::move(options));
  }

  Verdict screened(const std::string& target, const std::vector<std::int64_t>& lengths,
                   const Mode& mode = {}) {
    const TargetSpec& spec = registry_.find(target, DeviceKind::host)->spec;
    exec::Job job;
    job.plan.target = target;
    job.plan.mode = mode;
    for (const auto n : lengths) {
      CallStep step;
      step.call.dims = {{"N", n}};
      step.call.seed = job.plan.steps.size() + 1;  // other data in each call
      job.plan.steps.emplace_back(step);
    }
    job.deadline = std::chrono::seconds(20);
    complete(job.plan, spec);
    const oracles::Catalog catalog;
    job.trials = catalog.screen().expand(job.plan, spec);
    const Plan plan = job.plan;
    pool_->submit(std::move(job));
    auto result = pool_->next(std::chrono::minutes(1));
    if (!result) return {};
    seen_ = result->observations;
    return catalog.screen().judge(plan, spec, seen_);
  }

  Registry registry_;
  std::optional<exec::Pool> pool_;
  std::vector<Observation> seen_;
};

TEST_F(Abi, CorrectCodePassesAndIsComparedWithItsReference) {
  EXPECT_EQ(screened("abi.good", {5, 64, 1}).outcome, Outcome::pass);
  ASSERT_FALSE(seen_.empty());
  EXPECT_EQ(seen_.back().calls.at(1).comparison, Comparison::compared);
}

// Nothing can hold such a call back, or capture it.
TEST_F(Abi, EveryLaunchModeRunsIt) {
  for (const Launch launch : {Launch::blocking, Launch::async, Launch::gated}) {
    Mode mode;
    mode.launch = launch;
    EXPECT_EQ(screened("abi.good", {5, 64, 1}, mode).outcome, Outcome::pass);
  }
}

TEST_F(Abi, AWriteBehindATensorNamesItAndItsCall) {
  const Verdict verdict = screened("abi.overrun", {4, 16});
  EXPECT_EQ(verdict.outcome, Outcome::fail);
  ASSERT_TRUE(seen_.front().fault);
  EXPECT_EQ(seen_.front().fault->buffer, "y");
  EXPECT_EQ(seen_.front().fault->side, Side::after);
  EXPECT_EQ(seen_.front().fault->access, Access::write);
  EXPECT_EQ(seen_.front().fault->call, 0);
}

TEST_F(Abi, MemoryOfTheCallIsGuardedAndNamed) {
  EXPECT_EQ(screened("abi.scratch", {64}).outcome, Outcome::fail);
  ASSERT_TRUE(seen_.front().fault);
  EXPECT_EQ(seen_.front().fault->buffer, "scratch");
  EXPECT_EQ(seen_.front().fault->side, Side::after);
}

TEST_F(Abi, ATailThatIsNotWrittenIsSeen) {
  EXPECT_EQ(screened("abi.tail", {8}).outcome, Outcome::pass);
  EXPECT_EQ(screened("abi.tail", {9}).outcome, Outcome::fail);
}

// One instance lives for one trial, and its calls share it.
TEST_F(Abi, StateOfAnEarlierCallIsSeenWithinATrialAlone) {
  EXPECT_EQ(screened("abi.first_shape", {4}).outcome, Outcome::pass);
  EXPECT_EQ(screened("abi.first_shape", {16}).outcome, Outcome::pass);
  EXPECT_EQ(screened("abi.first_shape", {4, 16}).outcome, Outcome::fail);
}

TEST_F(Abi, AResultThatTheNextCallOverwritesIsWrong) {
  EXPECT_EQ(screened("abi.returns", {5}).outcome, Outcome::pass);
  EXPECT_EQ(screened("abi.returns", {5, 5}).outcome, Outcome::fail);
  EXPECT_EQ(screened("abi.returns_own", {5, 9, 5}).outcome, Outcome::pass);
}

TEST_F(Abi, WhatACallSaysOfItselfIsKept) {
  EXPECT_EQ(screened("abi.raises", {6}).outcome, Outcome::pass);
  EXPECT_EQ(screened("abi.raises", {6, 7}).outcome, Outcome::fail);
  ASSERT_TRUE(seen_.front().fault);
  EXPECT_EQ(seen_.front().fault->code, "exception: ValueError");
  EXPECT_EQ(seen_.front().fault->detail, "my.py:12: seven");
  EXPECT_EQ(seen_.front().fault->call, 1);

  EXPECT_EQ(screened("abi.refuses", {6}).outcome, Outcome::not_applicable);
  EXPECT_EQ(seen_.front().message, "my.py:9: not today");
}

TEST_F(Abi, ATargetThatCannotBeMadeFailsWithTheReason) {
  EXPECT_EQ(screened("abi.unmade", {6}).outcome, Outcome::fail);
  ASSERT_TRUE(seen_.front().fault);
  EXPECT_EQ(seen_.front().fault->code, "exception: ValueError");
  EXPECT_EQ(seen_.front().fault->detail, "when it was made: my.py:3: nothing to make it of");
}

TEST_F(Abi, AReferenceThatFailsIsAMistakeOfItsAuthor) {
  screened("abi.bad_reference", {6});
  bool told = false;
  for (const auto& seen : seen_)
    told |= seen.end == End::spec_error &&
            seen.message.find("my.py:20: no reference today") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST_F(Abi, AReferenceOfAnotherShapeIsSaidToHaveReturned) {
  screened("abi.wrong_reference", {6});
  const auto told = std::find_if(seen_.begin(), seen_.end(),
                                 [](const auto& seen) { return seen.end == End::spec_error; });
  ASSERT_NE(told, seen_.end());
  EXPECT_EQ(told->message,
            "target 'abi.wrong_reference': reference() returned 'y' of another shape");
}

}  // namespace
}  // namespace redzone::worker
