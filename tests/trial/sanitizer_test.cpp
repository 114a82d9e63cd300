// Records of compute-sanitizer, and the calls to which they belong. When the kernels of the fake
// device run, they write to the log what a tool would.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "core/temporary_folder.h"
#include "sanitizer/new_log.h"
#include "trial/bench.h"
#include "trial/sanitizer_watch.h"

namespace redzone::testing {
namespace {

void say(const std::filesystem::path& log, const std::string& text) {
  std::ofstream(log, std::ios::app) << text;
}

// `address`: of the access; null for a record without an address.
void complaining_kernel(const std::filesystem::path* log, const float* address) {
  std::string text =
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at scan(int *, int)+0xb0 in p.cu:8\n";
  if (address != nullptr)
    text += fmt::format("=========     Access to 0x{:x} is out of bounds\n",
                        reinterpret_cast<std::uintptr_t>(address));
  say(*log, text + "========= \n");
}

class SanitizerHooks : public ::testing::Test {
 protected:
  SanitizerHooks() { say(log_, "========= COMPUTE-SANITIZER\n"); }

  // Calls with C > 1 write a record; with `with_address`, about the element behind y.
  RunFunction complain(bool with_address) {
    return [this, with_address](Context& ctx) {
      const Matrix y = matrix(ctx.tensor("y"));
      const float* end = with_address ? y.data + y.rows * y.columns : nullptr;
      if (ctx.dim("C") > 1)
        launch(ctx, "scan", complaining_kernel, {},
               static_cast<const std::filesystem::path*>(&log_), end);
    };
  }
  static Mode mode(Launch launch, SanitizerTool tool = SanitizerTool::memcheck) {
    Mode mode;
    mode.launch = launch;
    mode.sanitizer = tool;
    return mode;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("sanitizer").value();
  std::filesystem::path log_ = sanitizer::new_log(folder_.path()).value();
  trial::SanitizerWatch watch_{{SanitizerTool::memcheck, log_}};
};

TEST_F(SanitizerHooks, BlockingLaunchesGiveEachRecordToItsCall) {
  Bench bench(complain(false));
  bench.runner().set_sanitizer(watch_);
  const auto seen = bench.run({call_of(1, 1), call_of(1, 2), call_of(1, 1), call_of(1, 3)},
                              mode(Launch::blocking));
  ASSERT_TRUE(seen.sanitizer);
  const auto& records = seen.sanitizer->records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].call, 1);
  EXPECT_EQ(records[1].call, 3);
  EXPECT_EQ(records[0].kernel, "scan");
}

TEST_F(SanitizerHooks, OtherwiseARecordWithoutAnAddressIsNoCalls) {
  for (const auto launch : {Launch::async, Launch::gated}) {
    Bench bench(complain(false));
    bench.runner().set_sanitizer(watch_);
    const auto seen = bench.run({call_of(1, 1), call_of(1, 2)}, mode(launch));
    ASSERT_EQ(seen.sanitizer->records.size(), 1u);
    EXPECT_EQ(seen.sanitizer->records[0].call, -1);
  }
}

TEST_F(SanitizerHooks, AnAddressLeadsToBufferAndCall) {
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated}) {
    Bench bench(complain(true));
    bench.runner().set_sanitizer(watch_);
    const auto seen = bench.run({call_of(1, 1), call_of(1, 2)}, mode(launch));
    ASSERT_EQ(seen.sanitizer->records.size(), 1u);
    const auto& record = seen.sanitizer->records[0];
    EXPECT_EQ(record.call, 1);
    EXPECT_EQ(record.buffer, "y");
    EXPECT_EQ(record.side, Side::after);
    EXPECT_EQ(record.distance_bytes, 1);
  }
}

TEST_F(SanitizerHooks, TheOnlyCallIsTheOne) {
  Bench bench(complain(false));
  bench.runner().set_sanitizer(watch_);
  const auto seen = bench.run({call_of(1, 2)}, mode(Launch::async));
  ASSERT_EQ(seen.sanitizer->records.size(), 1u);
  EXPECT_EQ(seen.sanitizer->records[0].call, 0);
}

TEST_F(SanitizerHooks, WhatWasSaidBeforeATrialIsNobodys) {
  Bench bench(complain(false));
  bench.runner().set_sanitizer(watch_);
  complaining_kernel(&log_, nullptr);
  EXPECT_TRUE(bench.run({call_of(1, 1)}, mode(Launch::blocking)).sanitizer->records.empty());
  EXPECT_EQ(bench.run({call_of(1, 2)}, mode(Launch::async)).sanitizer->records.size(), 1u);
  EXPECT_TRUE(bench.run({call_of(1, 1)}, mode(Launch::async)).sanitizer->records.empty());
}

TEST_F(SanitizerHooks, ATrialForAnotherToolDoesNotRun) {
  Bench bench(complain(false));
  bench.runner().set_sanitizer(watch_);
  for (const auto tool : {SanitizerTool::none, SanitizerTool::initcheck})
    EXPECT_EQ(bench.run({call_of(1, 2)}, mode(Launch::async, tool)).end, End::worker_error);
  Bench native(complain(false));
  const auto seen = native.run({call_of(1, 2)}, mode(Launch::async));
  EXPECT_EQ(seen.end, End::worker_error);
  EXPECT_FALSE(seen.sanitizer);
  for (const auto* log : {&bench.device.log, &native.device.log})
    EXPECT_EQ(std::count(log->begin(), log->end(), "launch scan"), 0);
}

TEST_F(SanitizerHooks, UnderInitcheckNothingIsChecked) {
  trial::SanitizerWatch initcheck{{SanitizerTool::initcheck, log_}};
  Bench bench(complain(false));
  bench.runner().set_sanitizer(initcheck);
  const auto seen = bench.run({call_of(1, 2)}, mode(Launch::async, SanitizerTool::initcheck));
  EXPECT_EQ(seen.end, End::completed);
  EXPECT_EQ(std::count(bench.device.log.begin(), bench.device.log.end(), "check"), 0)
      << "a check of what was never written is a read";
  EXPECT_EQ(seen.sanitizer->records.size(), 1u);
}

}  // namespace
}  // namespace redzone::testing
