#include "core/validate.h"

#include <gtest/gtest.h>

#include "core/sample.h"

namespace redzone {
namespace {

std::string error_with(const std::function<void(Call&)>& change) {
  Plan plan = testing::sample_plan();
  change(std::get<CallStep>(plan.steps[3]).call);
  const auto r = validate(plan, testing::sample_spec(), "p");
  return r ? "" : r.error().message;
}

TEST(Validate, TheSampleIsValid) {
  EXPECT_EQ(error_with([](Call&) {}), "");
}

TEST(Validate, EachMistakeIsNamed) {
  EXPECT_EQ(error_with([](Call& c) { c.dims["TT"] = 1; }),
            "p: step 4: unknown dim 'TT', did you mean 'T'? (dims: T, C, D)");
  EXPECT_EQ(error_with([](Call& c) { c.dims.erase("T"); }), "p: step 4: dim 'T' is missing");
  EXPECT_EQ(error_with([](Call& c) { c.dims["T"] = 128; }),
            "p: step 4: T = 128: must be in 0..64 and a multiple of 4");
  EXPECT_EQ(error_with([](Call& c) { c.dims["D"] = 17; }),
            "p: step 4: D = 17: must be one of 16, 32");
  EXPECT_EQ(error_with([](Call& c) { c.dims["C"] = 5; }), "p: step 4: C must divide T");
  EXPECT_EQ(error_with([](Call& c) { c.dims["C"] = 32, c.dims["D"] = 32; }),
            "p: step 4: C * D must be below 1024");
  EXPECT_EQ(error_with([](Call& c) { c.config["num_warps"] = 5; }),
            "p: step 4: num_warps = 5: must be one of 4, 8");
  EXPECT_EQ(error_with([](Call& c) { c.layouts["y"].transposed = true; }),
            "p: step 4: tensor 'y': a transposed layout is not allowed");
}

TEST(Validate, WrongTarget) {
  Plan plan = testing::sample_plan();
  plan.target = "other";
  EXPECT_EQ(validate(plan, testing::sample_spec()).error().message,
            "plan: target is 'other', not 'sample'");
}

TEST(Validate, CompleteFillsDefaultsOnly) {
  Plan plan = testing::sample_plan();
  auto& call = std::get<CallStep>(plan.steps[0]).call;
  call.config.erase("mode");
  complete(plan, testing::sample_spec());
  EXPECT_EQ(plan, testing::sample_plan());
}

}  // namespace
}  // namespace redzone
