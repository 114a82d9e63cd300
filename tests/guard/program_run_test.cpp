#include "guard/program_run.h"

#include <gtest/gtest.h>

#include <set>

#include "guard/names.h"
#include "guard/sample.h"

namespace redzone::guard {
namespace {

using namespace testing;

ProcessRecord with(std::initializer_list<Fact> facts) {
  ProcessRecord out;
  for (const Fact fact : facts) out.facts[static_cast<std::size_t>(fact)] = true;
  return out;
}

interpose::Settings settings(bool driver, bool cpu) {
  interpose::Settings out;
  out.driver = driver;
  out.cpu = cpu;
  return out;
}

TEST(JudgedProcess, OnlyOneThatIsProven) {
  using enum Fact;
  const auto driver = settings(true, false), both = settings(true, true);
  EXPECT_EQ(judged(with({loaded}), driver), Judged::nothing_to_guard);
  EXPECT_EQ(judged(with({loaded, driver_present}), driver), Judged::no_allocation);
  EXPECT_EQ(judged(with({loaded, driver_seen}), driver), Judged::no_allocation);
  EXPECT_EQ(judged(with({loaded, driver_seen, driver_proven}), driver), Judged::yes);
  EXPECT_EQ(judged(with({loaded, driver_seen, driver_unproven}), driver), Judged::not_proven);
  EXPECT_EQ(judged(with({loaded}), both), Judged::not_proven);
  EXPECT_EQ(judged(with({loaded, cpu_proven}), both), Judged::yes);
  EXPECT_EQ(judged(with({loaded, cpu_proven, driver_seen}), both), Judged::no_allocation);
  EXPECT_EQ(judged(with({loaded, cpu_proven, driver_unproven, driver_seen}), both),
            Judged::not_proven);
}

// With --framework torch-pluggable nothing but tensors was to be guarded; with auto the segments
// are.
TEST(Judging, APyTorchThatAllocatesOtherwiseIsNotReplaced) {
  using enum Fact;
  interpose::Settings alone, all, none;
  alone.hooks = interpose::kTorchHook;
  all.hooks = interpose::kTorchHook | interpose::kCupyHook;
  const auto otherwise = with({loaded, driver_present, driver_proven, torch_present});
  const auto replaced =
      with({loaded, driver_present, driver_proven, torch_present, torch_replaced});
  EXPECT_EQ(judged(otherwise, alone), Judged::not_replaced);
  EXPECT_EQ(judged(replaced, alone), Judged::yes);
  EXPECT_EQ(judged(otherwise, all), Judged::yes);
  EXPECT_EQ(judged(otherwise, none), Judged::yes);
  EXPECT_EQ(judged(with({loaded, torch_present}), alone), Judged::nothing_to_guard);
  EXPECT_TRUE(torch_was_not_replaced(otherwise, all));
  EXPECT_FALSE(torch_was_not_replaced(replaced, all));
  EXPECT_FALSE(torch_was_not_replaced(otherwise, none));
}

TEST(FindingSignature, NamesWhatTwoRunsHaveInCommon) {
  EXPECT_EQ(signature(sample_finding()),
            "guard-page: write after a block, allocated in make_buffer(int) (train) from main "
            "(train)");
  Finding other = sample_finding();
  other.address = 5;
  other.distance_bytes = 99;
  other.block.ordinal = 1234;
  other.allocated[1].address = 77;
  EXPECT_EQ(signature(other), signature(sample_finding()));
}

TEST(FindingSignature, TellsKindsAndPlacesApart) {
  std::set<std::string> all{signature(sample_finding())};
  const auto differs = [&](auto change) {
    Finding other = sample_finding();
    change(other);
    EXPECT_TRUE(all.insert(signature(other)).second) << signature(other);
  };
  differs([](Finding& f) { f.access = Access::read; });
  differs([](Finding& f) { f.side = Side::before; });
  differs([](Finding& f) { f.kind = FindingKind::canary; });
  differs([](Finding& f) { f.kind = FindingKind::after_free; });
  differs([](Finding& f) { f.kind = FindingKind::bad_free; });
  differs([](Finding& f) { f.kind = FindingKind::bad_free, f.block.freed = true; });
  differs([](Finding& f) { f.kind = FindingKind::device_error, f.code = 700; });
  differs([](Finding& f) { f.allocated[1].function = "make_other(int)"; });
  differs([](Finding& f) { f.allocated[2].function = "load()"; });
  differs([](Finding& f) { f.where = {{9, "/home/x/train", 9, "fill(float*)"}}; });
  differs(
      [](Finding& f) { f.kind = FindingKind::device_error, f.code = 700, f.only_kernel = "fill"; });
  differs([](Finding& f) { f.kind = FindingKind::device_error, f.code = 700, f.kernel = "scale"; });
  differs([](Finding& f) { f.allocated.clear(); });
  differs([](Finding& f) { f.allocated.resize(1); });
}

// A free meets a canary long after the mistake, so where that was says nothing of it.
TEST(FindingSignature, OfACanaryDoesNotNameItsFree) {
  Finding canary = sample_finding(), elsewhere = sample_finding();
  canary.kind = elsewhere.kind = FindingKind::canary;
  elsewhere.where = {{9, "/home/x/train", 9, "drop(float*)"}};
  EXPECT_EQ(signature(canary), signature(elsewhere));
}

// A further run that names the kernel is repeated as it was, without core dumps.
TEST(FindingSignature, OfAnErrorHasNothingThatOnlyACoreDumpTells) {
  Finding dumped = sample_finding(), replayed = sample_finding();
  dumped.kind = replayed.kind = FindingKind::device_error;
  dumped.kernel = replayed.only_kernel = "fill";
  replayed.block = {}, replayed.side = Side::none, replayed.allocated.clear();
  EXPECT_EQ(signature(dumped), signature(replayed));
}

TEST(ProgramRunResult, CountsEachSignatureOnce) {
  ProgramRun run;
  ProcessRecord first = with({Fact::cpu_proven}), second = first;
  first.pid = 1, second.pid = 2;
  first.findings = {sample_finding(), sample_finding()};
  second.findings = {sample_finding(), sample_finding()};
  second.findings[1].side = Side::before;
  run.processes = {first, second};
  const auto findings = run.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].times, 3u);
  EXPECT_EQ(findings[0].pid, 1u);
  EXPECT_EQ(findings[0].in_processes, 2u);
  EXPECT_EQ(findings[1].pid, 2u);
  EXPECT_EQ(findings[1].in_processes, 1u);
}

// Helpers without a driver have nothing to guard, and are missing nowhere.
TEST(ProgramRunResult, CountsWhatWasNotJudgedOfWhatThereWasToGuard) {
  using enum Fact;
  ProgramRun run;
  run.settings = settings(true, false);
  run.processes = {with({loaded}), with({loaded}), with({loaded, driver_seen, driver_proven}),
                   with({loaded, driver_seen, driver_unproven}), with({loaded, driver_present})};
  EXPECT_EQ(run.count(Judged::nothing_to_guard), 2u);
  EXPECT_EQ(run.to_guard(), 3u);
  EXPECT_EQ(run.not_judged(), 2u);
  EXPECT_EQ(run.exit_code(1), 0) << "one was judged";
}

TEST(ProgramRunResult, ExitCodes) {
  ProgramRun run;
  run.settings = settings(true, true);
  run.ended.exit_code = 3;
  EXPECT_EQ(run.exit_code(1), kCannotGuard) << "nothing was guarded";
  run.processes = {with({Fact::loaded})};
  EXPECT_EQ(run.exit_code(1), kCannotGuard) << "not proven";
  run.processes.push_back(with({Fact::loaded, Fact::cpu_proven}));
  EXPECT_EQ(run.exit_code(1), 3) << "the program's own";
  run.processes[0].findings = {sample_finding()};
  EXPECT_EQ(run.exit_code(1), 1);
  EXPECT_EQ(run.exit_code(77), 77);
}

TEST(CounterNames, AreDistinctAndReasonsHaveAMeaning) {
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < interpose::kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    EXPECT_TRUE(keys.insert(key_of(counter)).second) << key_of(counter);
    if (counter >= interpose::kFirstLeftOut) {
      EXPECT_NE(meaning_of(counter), "") << key_of(counter);
    }
  }
}

}  // namespace
}  // namespace redzone::guard
