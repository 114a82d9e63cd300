// The lazily compiled launch over a shipped package on the GPU, through the real binary: the right
// rules are never flagged, and too little scratch is found from the effects of the kernels.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "device/device.h"
#include "gpu/campaigns.h"

namespace redzone::e2e {
namespace {

class LazyPackageOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const auto probe = device::probe_cuda();
    if (!probe.device) GTEST_SKIP() << probe.problem;
    if (probe.compute_capability != 90)
      GTEST_SKIP() << "compiled for compute capability 9.0, not " << probe.compute_capability;
    if (!std::filesystem::exists(package_ / "target.toml"))
      GTEST_SKIP() << package_ << " is not there: ./scripts/triton_export.py shipped makes it";
  }
  Ran run(const Arguments& which, const char* plans) {
    Arguments words{"run",     "--package", package_.string(), "--device", "cuda",
                    "--plans", plans,       "--seed",          "1",        "--json"};
    words.insert(words.end(), which.begin(), which.end());
    return redzone(folder_, words);
  }
  std::set<std::string> kinds(const std::string& mistake) {
    Arguments words{"puzzle.triton.scale_descriptor.lazy_" + mistake};
    words.insert(words.end(), limited().begin(), limited().end());
    return confirmed_kinds(run(words, "200"));
  }

  const std::filesystem::path package_ = std::filesystem::path(PACKAGES) / "scale_descriptor";
  const TempFolder folder_;
};

TEST_F(LazyPackageOnGpu, TheRightRulesAreNeverFlagged) {
  const Ran ran = run({"--lazy"}, "500");
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_EQ(passed_or_empty(ran.json()), 500) << ran;
}

TEST_F(LazyPackageOnGpu, TooLittleScratchIsSeenFromWhatTheKernelsDo) {
  for (const char* mistake :
       {"scratch_per_cta", "scratch_first_call", "scratch_num_ctas", "scratch_null"}) {
    const auto seen = kinds(mistake);
    EXPECT_TRUE(seen.contains("illegal-access") || seen.contains("redzone")) << mistake;
  }
}

// The shipped kernels loop over their tiles, so any grid computes all of them. Only the request of
// the launcher is wrong; the dry run reports that (tests/e2e/package_none_test.cpp).
TEST_F(LazyPackageOnGpu, AFrozenGridDoesNoHarmToAKernelThatWalksOverItsTiles) {
  for (const char* mistake : {"grid_frozen", "key_without_dim"}) {
    const Ran ran = run({std::string("puzzle.triton.scale_descriptor.lazy_") + mistake}, "200");
    EXPECT_EQ(ran.exit, 0) << mistake << ran;
    EXPECT_EQ(passed_or_empty(ran.json()), 200) << mistake << ran;
  }
}

}  // namespace
}  // namespace redzone::e2e
