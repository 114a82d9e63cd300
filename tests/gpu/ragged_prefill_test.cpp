// Ragged prefill and the puzzles about descriptors on the GPU, through the real binary.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "gpu/campaigns.h"

namespace redzone::e2e {
namespace {

class RaggedOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Json doctor = redzone(folder_, {"doctor", "--json"}).json();
    ASSERT_TRUE(doctor.is_object());
    for (const auto& line : doctor["lines"])
      if (line["what"] == "GPU" && line["ok"] == false)
        GTEST_SKIP() << line["what"] << ": " << line["found"];
  }
  Ran run(const std::string& target, const char* plans, const Arguments& more = {}) {
    return run_on_gpu(folder_, target, plans, more);
  }

  const TempFolder folder_;
};

TEST_F(RaggedOnGpu, IsNeverFlagged) {
  for (const char* target : {"ragged_prefill", "twin.tma_unit_stride"}) {
    const Ran ran = run(target, "1000");
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_EQ(passed_or_empty(ran.json()), 1000) << ran;
  }
}

// Compared with the naive kernel, which traps on a difference.
TEST_F(RaggedOnGpu, LongSequencesAgreeWithTheNaiveKernel) {
  for (const char* dtype : {"bf16", "f16"})
    for (const char* causal : {"0", "1"})
      for (const char* width : {"64", "128", "256"}) {
        const auto file = folder_.path() / "long.toml";
        std::ofstream(file) << "redzone_plan = 1\ntarget = \"ragged_prefill\"\n\n[[step]]\n"
                            << "do = \"call\"\ndims = { B = 2, D = " << width
                            << ", HK = 2, HQ = 8, TK = 5000, TQ = 4000 }\nconfig = { causal = "
                            << causal << ", dtype = \"" << dtype
                            << "\", on_refusal = \"error\", verify = 1 }\n"
                            << "layout = { q = { hnd = true }, k = { slice = 4096 } }\n"
                            << "seed = 7\n";
        const Ran ran =
            redzone(folder_, {"replay", file.string(), "--device", "cuda", "--runs", "1"});
        EXPECT_EQ(ran.exit, 0) << ran;
      }
}

TEST_F(RaggedOnGpu, PuzzlesAreFound) {
  for (const char* name : {"tma_unit_stride", "tma_base", "tma_box", "tma_cached_map",
                           "tma_next_rows", "negative_stride", "empty_keys"}) {
    const Ran ran = run(std::string("puzzle.") + name, "300", limited());
    EXPECT_EQ(ran.exit, 1) << name << ran;
    const Ran twin = run(std::string("twin.") + name, "300");
    EXPECT_EQ(twin.exit, 0) << name << twin;
  }
}

// Reduced to one call of one sequence of length 1.
TEST_F(RaggedOnGpu, LengthOneIsFoundWithNoHint) {
  const Ran ran = run("puzzle.tma_unit_stride", "300");
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json campaign = ran.json();
  for (const auto& finding : campaign["findings"]) {
    const std::string plan = finding["plan"];
    EXPECT_NE(plan.find("dims = { B = 1, D = 64, HK = 1, HQ = 1, TK = 1, TQ = 1 }"),
              std::string::npos)
        << plan;
    EXPECT_NE(plan.find("unit_stride = 1"), std::string::npos) << plan;
  }
}

}  // namespace
}  // namespace redzone::e2e
