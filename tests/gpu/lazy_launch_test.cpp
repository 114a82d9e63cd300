// The lazily compiled launch on the GPU, through the real binary: NVRTC compiles its configs, the
// right rules are never flagged, and each wrong rule is found from the effects of the kernels.
#include <gtest/gtest.h>

#include <set>

#include "gpu/campaigns.h"

namespace redzone::e2e {
namespace {

class LazyOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Json doctor = redzone(folder_, {"doctor", "--json"}).json();
    ASSERT_TRUE(doctor.is_object());
    for (const auto& line : doctor["lines"])
      if ((line["what"] == "GPU" || line["what"] == "NVRTC") && line["ok"] == false)
        GTEST_SKIP() << line["what"] << ": " << line["found"];
  }
  Ran run(const std::string& target, const char* plans, const Arguments& more = {}) {
    return run_on_gpu(folder_, target, plans, more);
  }
  std::set<std::string> kinds(const std::string& target) {
    return confirmed_kinds(run(target, "200", limited()));
  }

  const TempFolder folder_;
};

TEST_F(LazyOnGpu, TheRightRulesAreNeverFlagged) {
  for (const char* target : {"lazy_launch", "twin.lazy_scratch_per_cta"}) {
    const Ran ran = run(target, "500");
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_EQ(passed_or_empty(ran.json()), 500) << ran;
  }
}

TEST_F(LazyOnGpu, TooLittleScratchFaultsOnAGuardPage) {
  for (const char* name : {"per_cta", "first_call", "num_ctas", "null"}) {
    const auto seen = kinds(std::string("puzzle.lazy_scratch_") + name);
    EXPECT_TRUE(seen.contains("illegal-access") || seen.contains("redzone")) << name;
  }
}

TEST_F(LazyOnGpu, WhatIsFrozenOfAnotherShapeIsHistory) {
  EXPECT_TRUE(kinds("puzzle.lazy_grid_frozen").contains("history"));
  EXPECT_TRUE(kinds("puzzle.lazy_key_without_n").contains("history"));
}

TEST_F(LazyOnGpu, TuningThatAccumulatesGivesWrongValues) {
  const auto seen = kinds("puzzle.lazy_tuning_accumulates");
  EXPECT_TRUE(seen.contains("history") || seen.contains("reference"));
}

}  // namespace
}  // namespace redzone::e2e
