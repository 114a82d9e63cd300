// The targets over cuBLAS against a stand-in of cuBLAS that computes on the CPU: arguments, layouts
// and references together, over calls that the generator draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <variant>
#include <vector>

#include "generators/plan_generator.h"
#include "libraries/memory_context.h"
#include "target/registry.h"

namespace redzone::test {
namespace {

const Registry& cublas_targets() {
  static const Registry all = [] {
    // Before the plugin looks for the library.
    ::setenv("REDZONE_LIBRARIES", FAKE_FOLDER, 1);
    const std::filesystem::path plugins[] = {CUBLAS_PLUGIN};
    return Registry::load(plugins).value();
  }();
  return all;
}

generators::Budget tiny_budget() {
  generators::Budget budget;
  budget.work_per_plan = 3e5;
  budget.bytes_per_plan = 1 << 18;
  budget.max_calls = 4;
  return budget;
}

// What of the calls of a target was compared.
struct Compared {
  int calls = 0, absent = 0;
};

// Runs one call and compares each output with both forms of the reference.
void compare(const TargetEntry& target, const Call& call, std::uint64_t seed, Compared& compared) {
  MemoryContext context(target.spec, call, seed);
  PlainReference reference(context, target.spec);
  const PlainReference before(context, target.spec);
  const auto instance = target.make();
  instance->run(context);
  ASSERT_EQ(context.failure, "");
  if (!context.unsupported_reason.empty()) {
    // The stand-in has few of the 64-bit entry points.
    EXPECT_NE(context.unsupported_reason.find("this cuBLAS has no"), std::string::npos)
        << context.unsupported_reason;
    ++compared.absent;
    return;
  }
  instance->reference(reference);
  AllRows rows(before, target.spec);
  instance->reference_rows(rows);
  for (const auto& tensor : target.spec.tensors) {
    EXPECT_TRUE(context.gaps_are_untouched(tensor.name)) << tensor.name;
    if (tensor.role == Role::in) continue;
    const auto expected = reference.output(tensor.name);
    EXPECT_EQ(context.elements(tensor.name), std::vector<double>(expected.begin(), expected.end()))
        << tensor.name;
    const auto by_rows = rows.values(tensor.name);
    EXPECT_TRUE(std::equal(by_rows.begin(), by_rows.end(), expected.begin(), expected.end()))
        << tensor.name << " by rows";
  }
  ++compared.calls;
}

class CublasTargets : public testing::TestWithParam<const char*> {};

TEST_P(CublasTargets, CallTheRoutineWithTheArgumentsThatTheReferenceMeans) {
  const auto target = cublas_targets().require(GetParam(), DeviceKind::host);
  ASSERT_TRUE(target) << target.error().message;
  generators::PlanGenerator plans((*target)->spec, tiny_budget(), 1);
  Compared compared;
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i)
    for (const Step& step : plans.next().steps)
      if (const auto* call = std::get_if<CallStep>(&step))
        compare(**target, call->call, static_cast<std::uint64_t>(i) + 1, compared);
  EXPECT_GT(compared.calls, 20);
}

INSTANTIATE_TEST_SUITE_P(
    Routines, CublasTargets,
    testing::Values("cublas.sgemm", "cublas.sgemm.add", "cublas.sgemm_strided_batched",
                    "cublas.sgemm_strided_batched.add", "cublas.sgemv", "cublas.sgemv.add",
                    "cublas.ssymv", "cublas.ssbmv.add", "cublas.sspmv", "cublas.strmv",
                    "cublas.sger", "cublas.ssyr2", "cublas.ssymm.left", "cublas.ssymm.right.add",
                    "cublas.strmm.left", "cublas.strmm.right", "cublas.ssyr2k", "cublas.sgeam",
                    "cublas.sdgmm.left", "cublas.sdgmm.right"));

// What the 32-bit entry point cannot take is refused, and the 64-bit one takes it.
TEST(CublasTargetsApi, AnIncrementBeyondIntIsLeftToTheWideEntryPoint) {
  const auto target = cublas_targets().require("cublas.sgemv", DeviceKind::host);
  ASSERT_TRUE(target) << target.error().message;
  // A vector of one element, whose increment is never used, so that it needs no memory.
  Call call;
  call.dims = {{"M", 1}, {"K", 1}};
  for (const auto& knob : (*target)->spec.knobs) call.config[knob.name] = knob.values.front();
  call.layouts["x"] = {.row_padding_elems = std::int64_t{1} << 31};
  for (const std::int64_t api : {32, 64}) {
    call.config["api"] = api;
    MemoryContext context((*target)->spec, call, 1);
    (*target)->make()->run(context);
    EXPECT_EQ(context.failure, "");
    EXPECT_EQ(context.unsupported_reason,
              api == 32 ? "an argument exceeds int: only the _64 entry point takes it" : "");
  }
}

}  // namespace
}  // namespace redzone::test
