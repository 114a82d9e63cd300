#include <csignal>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/check_failure.h"
#include "core/host_place.h"
#include "core/observation_check.h"
#include "core/utf8.h"
#include "exec/fault_attribution.h"

namespace redzone::exec {
namespace {

constexpr TrialContext kAsync{Launch::async, 5};
constexpr TrialContext kBlocking{Launch::blocking, 5};
constexpr TrialContext kOfTarget{Launch::async, 5, "t"};

device::BlackBox marks(std::int32_t begun, std::int32_t ended, std::int32_t running = -1) {
  device::BlackBox box;
  box.call_begun = begun;
  box.call_ended = ended;
  box.call_running = running;
  device::copy_name(box.kernel, "k");
  return box;
}

TEST(Blame, AHangIsTheCallOnTheCore) {
  const auto seen = observe_hang(marks(4, 4, 2), kAsync, std::chrono::milliseconds(5));
  EXPECT_EQ(seen.end, End::hang);
  EXPECT_EQ(seen.fault->call, 2);
  EXPECT_EQ(seen.fault->kernel, "k");
}

TEST(Blame, AHangWithSeveralCallsInFlightIsNobodys) {
  const auto seen = observe_hang(marks(4, 4), kAsync, std::chrono::milliseconds(5));
  EXPECT_EQ(seen.fault->call, -1);
  EXPECT_EQ(seen.fault->kernel, "");
}

TEST(Blame, AHangInABlockingTrialIsTheLastCall) {
  const auto call = [](const device::BlackBox& box, const TrialContext& trial) {
    return observe_hang(box, trial, std::chrono::milliseconds(5)).fault->call;
  };
  EXPECT_EQ(call(marks(4, 3), kBlocking), 4);
  EXPECT_EQ(call(marks(1, 3), kBlocking), 1);  // reordered
  EXPECT_EQ(call(marks(4, 3), kAsync), 4);
  EXPECT_EQ(call(marks(0, 0), {Launch::async, 1}), 0);  // the only call
  EXPECT_EQ(call(marks(-1, -1), kBlocking), -1);
}

TEST(Blame, ASignalIsAFaultOfTheOpenCall) {
  const auto seen = observe_exit({SIGSEGV, 0}, marks(3, 2), kAsync, "last words");
  EXPECT_EQ(seen.end, End::fault);
  EXPECT_EQ(seen.fault->code, "SIGSEGV");
  EXPECT_EQ(seen.fault->call, 3);
  EXPECT_EQ(seen.fault->detail, "last words");
  EXPECT_EQ(observe_exit({SIGFPE, 0}, marks(3, 3), kAsync, "").fault->call, -1);
}

TEST(Blame, AnAbortSaysWhy) {
  auto box = marks(3, 2);
  box.fault.valid = 1;
  box.fault.signal = SIGABRT;
  const auto seen = observe_exit({0, device::kFaultExit}, box, kAsync, "n > 0 does not hold");
  EXPECT_EQ(seen.fault->code, "SIGABRT");
  EXPECT_NE(seen.message.find("does not hold"), std::string::npos);
}

TEST(Blame, ACheckOfRedzonesOwnThatFailedIsNoFault) {
  const std::string said = std::string(kCheckFailedText) + "1 == 2 (a.cpp:3)";
  const auto seen = observe_exit({0, kCheckFailedExit}, marks(3, 2), kAsync, said);
  EXPECT_EQ(seen.end, End::worker_error);
  EXPECT_NE(seen.message.find("1 == 2"), std::string::npos);
  EXPECT_EXIT(RZ_CHECK(1 == 2), testing::ExitedWithCode(kCheckFailedExit),
              std::string(kCheckFailedText) + "1 == 2");
  // Code under test may exit with any code.
  EXPECT_EQ(observe_exit({0, kCheckFailedExit}, marks(3, 2), kAsync, "bye").end, End::exited);
}

TEST(Blame, AFaultRecordSaysWhatWasAccessed) {
  auto box = marks(4, 4, 1);
  box.fault.valid = 1;
  box.fault.signal = SIGBUS;
  box.fault.access = static_cast<std::uint32_t>(Access::read);
  box.fault.side = static_cast<std::uint32_t>(Side::before);
  box.fault.distance_bytes = -4;
  box.fault.block[0] = 2;
  box.fault.thread[0] = 31;
  device::copy_name(box.fault.buffer, "x");
  const auto seen = observe_exit({0, device::kFaultExit}, box, kAsync, "");
  EXPECT_EQ(seen.end, End::fault);
  ASSERT_TRUE(seen.fault.has_value());
  EXPECT_EQ(seen.fault->code, "SIGBUS");
  EXPECT_EQ(seen.fault->call, 1);
  EXPECT_EQ(seen.fault->buffer, "x");
  EXPECT_EQ(seen.fault->side, Side::before);
  EXPECT_EQ(seen.fault->access, Access::read);
  EXPECT_EQ(seen.fault->distance_bytes, -4);
  EXPECT_EQ(seen.fault->detail, "block (2, 0, 0), thread (31, 0, 0) of k");
  EXPECT_EQ(seen.fault->known_by, "host device");
}

TEST(Blame, TheCodeOfAFaultWithoutARecordIsAnExit) {
  const auto seen = observe_exit({0, device::kFaultExit}, marks(3, 2), kAsync, "");
  EXPECT_EQ(seen.end, End::exited);
  EXPECT_EQ(seen.fault->call, 3);
}

TEST(Blame, MarksThatCannotBeAreNotBelieved) {
  auto box = marks(1000, 999, 77777);
  box.fault.valid = 1;
  box.fault.signal = SIGSEGV;
  box.fault.side = box.fault.access = 0xdeadbeef;
  const auto seen = observe_exit({SIGSEGV, 0}, box, kAsync, "");
  EXPECT_EQ(seen.fault->call, -1);
  EXPECT_EQ(seen.fault->side, Side::unknown);
  EXPECT_EQ(seen.fault->access, Access::unknown);
}

TEST(Blame, NoCallIsNegativeAndNoTextIsRubbish) {
  auto box = marks(-7, std::numeric_limits<std::int32_t>::max());
  std::memset(box.kernel, 0xff, 4);
  std::memset(box.fault.buffer, 0xfe, 4);
  box.fault.valid = 1;
  box.fault.distance_bytes = std::numeric_limits<std::int64_t>::min();
  const auto died = observe_exit({SIGSEGV, 0}, box, kBlocking, "");
  EXPECT_EQ(died.fault->call, -1);
  EXPECT_EQ(died.fault->kernel, valid_utf8(died.fault->kernel));
  EXPECT_EQ(died.fault->buffer, valid_utf8(died.fault->buffer));
  EXPECT_EQ(observation_problem(died, 5), std::nullopt);
  const auto hung = observe_hang(box, kBlocking, std::chrono::milliseconds(5));
  EXPECT_EQ(hung.fault->call, -1);
  EXPECT_EQ(observation_problem(hung, 5), std::nullopt);
}

TEST(Blame, WhatComesFromOutsideIsNoFinding) {
  EXPECT_EQ(observe_exit({SIGKILL, 0, true}, marks(3, 2), kAsync, "").end, End::out_of_memory);
  EXPECT_EQ(observe_exit({SIGTERM, 0}, marks(3, 2), kAsync, "").end, End::worker_error);
  EXPECT_FALSE(observe_exit({SIGTERM, 0}, marks(3, 2), kAsync, "").fault.has_value());
}

TEST(Blame, AKilledWorkerIsJudgedUnlessMemoryRanOut) {
  const auto seen = observe_exit({SIGKILL, 0}, marks(3, 2), kAsync, "");
  EXPECT_EQ(seen.end, End::fault);
  EXPECT_EQ(seen.fault->code, "SIGKILL");
  EXPECT_EQ(seen.fault->call, 3);
}

TEST(Blame, ACrashOfHostCodeIsOfNoThreadAndSaysWhere) {
  device::BlackBox box = marks(3, 2);
  box.kernel[0] = '\0';
  box.fault.valid = device::kFaultOfSignal | device::kFaultOfHostCode;
  box.fault.signal = SIGSEGV;
  const auto seen_in = [&](device::Phase phase) {
    box.phase = phase;
    return *observe_exit({0, device::kFaultExit}, box, kAsync, "").fault;
  };
  EXPECT_EQ(seen_in(device::Phase::running).detail, kInRun);
  EXPECT_EQ(seen_in(device::Phase::running).call, 3);
  EXPECT_EQ(seen_in(device::Phase::checking).detail, "");
  for (const auto& [phase, place] : {std::pair{device::Phase::constructing, kInConstructor},
                                     std::pair{device::Phase::destroying, kInDestructor}}) {
    EXPECT_EQ(seen_in(phase).detail, place);
    EXPECT_EQ(seen_in(phase).call, -1);
    const auto hung = observe_hang(box, kBlocking, std::chrono::milliseconds(5));
    EXPECT_EQ(hung.fault->detail, place);
    EXPECT_EQ(hung.fault->call, -1) << "the call has ended";
    const auto killed = observe_exit({SIGFPE, 0}, box, kBlocking, "");
    EXPECT_EQ(killed.fault->detail, place);
  }
  // The kernel launched last by a call that has ended is not to blame.
  device::copy_name(box.kernel, "k");
  EXPECT_EQ(seen_in(device::Phase::destroying).kernel, "");
  EXPECT_EQ(seen_in(device::Phase::running).detail, "in k");
}

// A hang inside a reference is not caused by a kernel.
TEST(Blame, AReferenceThatHangsIsNoFailure) {
  device::BlackBox box = marks(4, 4);
  box.phase = device::Phase::comparing;
  const auto hung = observe_hang(box, kOfTarget, std::chrono::milliseconds(300));
  EXPECT_EQ(hung.end, End::spec_error);
  EXPECT_FALSE(hung.fault);
  EXPECT_EQ(hung.message, "target 't': reference() did not end within 300 ms");
}

// The time that tensors take is the harness's own until a call of the target has begun.
TEST(Blame, SlowFillsBeforeTheFirstCallAreNoHang) {
  device::BlackBox box = marks(-1, -1);
  box.phase = device::Phase::preparing;
  const auto slow = observe_hang(box, kOfTarget, std::chrono::milliseconds(300));
  EXPECT_EQ(slow.end, End::worker_error);
  EXPECT_FALSE(slow.fault);
  EXPECT_EQ(slow.message,
            "target 't': its tensors were not filled within 300 ms of its constructor");
  TrialContext under_tool = kOfTarget;
  under_tool.under_tool = true;
  EXPECT_EQ(observe_hang(box, under_tool, std::chrono::milliseconds(300)).end, End::hang)
      << "which no oracle takes for the target's";
  box = marks(0, 0);
  box.phase = device::Phase::preparing;
  EXPECT_EQ(observe_hang(box, kOfTarget, std::chrono::milliseconds(300)).end, End::hang)
      << "what an earlier call enqueued may run forever";
}

// As if it had thrown. The call is not named, so that plans are counted together.
TEST(Blame, AReferenceThatCrashesIsTheAuthorsMistake) {
  device::BlackBox box = marks(4, 4);
  box.phase = device::Phase::comparing;
  const auto seen = [&](Exit exit) { return observe_exit(exit, box, kOfTarget, ""); };
  EXPECT_EQ(seen({SIGSEGV, 0}).message, "target 't': reference() crashed with SIGSEGV");
  EXPECT_EQ(seen({0, 3}).message,
            "target 't': reference() ended the worker, which exited with code 3");
  box.fault.valid = 1;
  box.fault.signal = SIGFPE;
  box.call_compared = 2;
  const auto crashed = seen({0, device::kFaultExit});
  EXPECT_EQ(crashed.message, "target 't': reference() crashed with SIGFPE");
  EXPECT_EQ(crashed.end, End::spec_error);
  EXPECT_FALSE(crashed.fault);
  const auto talks = observe_exit({0, device::kFaultExit}, box, kOfTarget, "last words");
  EXPECT_TRUE(talks.message.starts_with(crashed.message + "; its output ends:\n")) << talks.message;
  EXPECT_EQ(seen({SIGKILL, 0, true}).end, End::out_of_memory);
  EXPECT_EQ(seen({SIGKILL, 0}).end, End::worker_error);
  EXPECT_EQ(seen({SIGTERM, 0}).end, End::worker_error) << "it came from outside";
}

}  // namespace
}  // namespace redzone::exec
