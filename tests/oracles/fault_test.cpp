// How faults are named.
#include <gtest/gtest.h>

#include "core/host_place.h"
#include "oracles/checks.h"
#include "oracles/fault.h"
#include "oracles/observations.h"

namespace redzone::oracles {
namespace {

using testing::compared_spec;
using testing::completed;
using testing::ended;
using testing::faulted;
using testing::plan_of_calls;

TEST(Fault, AddressFaultsNameWhatIsKnown) {
  const Fault fault{"SIGSEGV", 0, "scan", "k", Side::after, Access::read, 4, "thread 3"};
  const auto v = judge_fault("fault", plan_of_calls({7}), faulted(fault));
  ASSERT_TRUE(v);
  EXPECT_EQ(v->signature, (Signature{FailKind::illegal_access, "t", "scan", "k", "after", "read"}));
  EXPECT_NE(v->reason.find("N = 7"), std::string::npos) << v->reason;
}

TEST(Fault, AWriteBehindSharedMemoryIsAnIllegalAccessAlsoWithoutASignal) {
  const Fault fault{std::string(kSharedOverrunCode),
                    0,
                    "scan",
                    kSharedBuffer,
                    Side::after,
                    Access::write,
                    4,
                    "block (0, 0, 0) has 100 bytes of dynamic shared memory"};
  const auto v = judge_fault("fault", plan_of_calls({7}), faulted(fault));
  ASSERT_TRUE(v);
  EXPECT_EQ(v->signature,
            (Signature{FailKind::illegal_access, "t", "scan", "shared", "after", "write"}));
  EXPECT_EQ(v->reason,
            "illegal write in scan at 4 bytes after 'shared' of call 1 (N = 7) "
            "(shared-overrun, block (0, 0, 0) has 100 bytes of dynamic shared memory)");
}

TEST(Fault, AWildAddressNamesNoBuffer) {
  const Fault fault{"SIGSEGV", 0, "scan", "k", Side::after, Access::write, 1 << 24, ""};
  EXPECT_EQ(judge_fault("fault", plan_of_calls({7}), faulted(fault))->signature,
            (Signature{FailKind::illegal_access, "t", "scan", "", "", "write"}));
}

TEST(Fault, AReasonSpeaksOfAnAddressOnlyWhereTheFaultTellsOne) {
  const auto judged = [](const Fault& fault) {
    return *judge_fault("fault", plan_of_calls({7}), faulted(fault));
  };
  Fault fault{.code = "CUDA_ERROR_ILLEGAL_ADDRESS", .call = 0, .kernel = "scan"};
  EXPECT_EQ(judged(fault).reason,
            "illegal access in scan of call 1 (N = 7) (CUDA_ERROR_ILLEGAL_ADDRESS); "
            "the fault tells no address");
  EXPECT_EQ(judged(fault).signature,
            (Signature{FailKind::illegal_access, "t", "scan", "", "", ""}));
  fault = {.code = "SIGSEGV", .call = 0, .kernel = "scan", .access = Access::read};
  EXPECT_EQ(judged(fault).reason,
            "illegal read in scan at an address near no known buffer of call 1 (N = 7) (SIGSEGV)");
  fault = {.code = "SIGSEGV", .call = 0, .detail = std::string(kInRun)};
  EXPECT_EQ(judged(fault).reason,
            "illegal access, in run() of call 1 (N = 7) (SIGSEGV); the fault tells no address");
}

TEST(Fault, BeyondTheEndOfTheStackIsAStackOverflow) {
  const auto judged = [](const Fault& fault) {
    return *judge_fault("fault", plan_of_calls({7}), faulted(fault));
  };
  Fault fault{"SIGSEGV", 0, "scan", "stack", Side::unknown, Access::write, 0, ""};
  EXPECT_EQ(judged(fault).reason, "stack overflow in scan of call 1 (N = 7) (SIGSEGV)");
  EXPECT_EQ(judged(fault).signature,
            (Signature{FailKind::illegal_access, "t", "scan", "stack", "", "write"}));
  fault.kernel.clear();
  fault.detail = kInRun;
  EXPECT_EQ(judged(fault).reason, "stack overflow, in run() of call 1 (N = 7) (SIGSEGV)");
  fault.side = Side::after;  // a tensor of that name
  EXPECT_EQ(judged(fault).reason,
            "illegal write at 0 bytes after 'stack', in run() of call 1 (N = 7) (SIGSEGV)");
}

TEST(Fault, OtherEndsKeepTheirKind) {
  const Plan plan = plan_of_calls({7});
  EXPECT_EQ(judge_fault("f", plan, ended(End::hang))->signature.kind, FailKind::hang);
  EXPECT_EQ(judge_fault("f", plan, ended(End::exited))->signature.where, "exit");
  EXPECT_EQ(judge_fault("f", plan, faulted({"SIGABRT"}))->signature,
            (Signature{FailKind::fault, "t", "SIGABRT", "", "", ""}));
  EXPECT_FALSE(judge_fault("f", plan, completed({1})));
  const Fault unmade{.code = "target-error", .call = -1, .detail = "when it was made: no license"};
  EXPECT_EQ(judge_fault("f", plan, faulted(unmade))->reason,
            "target-error when it was made: no license");
  const Fault exception{.code = "exception: std::logic_error: no license for #",
                        .call = -1,
                        .detail = "when it was made: no license for 7"};
  EXPECT_EQ(judge_fault("f", plan, faulted(exception))->reason,
            "exception: std::logic_error when it was made: no license for 7");
}

TEST(Fault, OfAnExceptionTheReasonHasTheTypeAndTheSignatureAll) {
  const auto judged = [](std::string code, std::string detail) {
    return *judge_fault("f", plan_of_calls({7}),
                        faulted({.code = std::move(code), .call = 0, .detail = std::move(detail)}));
  };
  const Verdict cpp = judged("exception: std::logic_error: no plan for #", "no plan for 7");
  EXPECT_EQ(cpp.signature.where, "exception: std::logic_error: no plan for #");
  EXPECT_EQ(cpp.reason, "exception: std::logic_error in call 1 (N = 7): no plan for 7");
  const Verdict python = judged("exception: ValueError in f: g(x)", "my.py:3: no");
  EXPECT_EQ(python.reason, "exception: ValueError in call 1 (N = 7): my.py:3: no");
  EXPECT_EQ(judged("exception: int", "").reason, "exception: int in call 1 (N = 7)");
}

TEST(Fault, AMisalignedAccessIsAKindOfItsOwnAndSaysHowTensorsWereAligned) {
  Fault fault;
  fault.code = "CUDA_ERROR_MISALIGNED_ADDRESS";
  fault.call = 0;
  Plan plan = plan_of_calls({1});
  const auto judged = [&] {
    const std::vector<Observation> one{faulted(fault)};
    return FaultOracle().judge(plan, compared_spec(), one);
  };
  EXPECT_EQ(judged().signature.kind, FailKind::misaligned);
  EXPECT_EQ(judged().reason, "misaligned access of call 1 (N = 1) (CUDA_ERROR_MISALIGNED_ADDRESS)");
  fault.kernel = "copy";
  fault.buffer = "x";
  fault.side = Side::inside;
  fault.access = Access::read;
  plan.mode.alignment = Alignment::exact;
  EXPECT_EQ(judged().reason,
            "misaligned read of 'x' in copy of call 1 (N = 1) (CUDA_ERROR_MISALIGNED_ADDRESS); "
            "tensors were aligned to what the spec promises and no more");
  plan.mode.alignment = Alignment::element;
  EXPECT_NE(judged().reason.find("where the spec says no align_bytes"), std::string::npos)
      << judged().reason;
  plan.mode.alignment = Alignment::mixed;
  EXPECT_NE(judged().reason.find("; some tensors of each call were aligned to"), std::string::npos)
      << judged().reason;
}

}  // namespace
}  // namespace redzone::oracles
