#include "oracles/launch_config.h"

#include <gtest/gtest.h>

#include "oracles/observations.h"

namespace redzone::oracles {
namespace {

Verdict judge_geometry(std::function<Geometry(std::int64_t n)> geometry, std::int64_t n) {
  TargetSpec spec;
  spec.name = "t";
  spec.geometry = [geometry](const Dims& d, const Config&) { return geometry(get(d, "N")); };
  return LaunchConfigOracle().judge(testing::plan_of_calls({1, n}), spec, {});
}

Geometry launch(LaunchDecl d) {
  return {{std::move(d)}, {}};
}

TEST(LaunchConfig, LimitsAreExact) {
  const auto grid_y = [](std::int64_t n) { return launch({"k", {1, n, 1}, {32, 1, 1}, 0}); };
  EXPECT_FALSE(judge_geometry(grid_y, 65535).failed());
  const auto v = judge_geometry(grid_y, 65536);
  EXPECT_EQ(v.signature, (Signature{FailKind::launch_config, "t", "k", "", "grid", ""}));
  EXPECT_EQ(v.call, 1);
  EXPECT_NE(v.reason.find("grid.y is 65536, must be in 1..65535"), std::string::npos) << v.reason;

  const auto shared = [](std::int64_t n) { return launch({"k", {1, 1, 1}, {32, 1, 1}, n}); };
  EXPECT_FALSE(judge_geometry(shared, 232448).failed());
  EXPECT_EQ(judge_geometry(shared, 232449).signature.side, "shared");

  const auto threads = [](std::int64_t n) { return launch({"k", {1, 1, 1}, {n, 2, 1}, 0}); };
  EXPECT_FALSE(judge_geometry(threads, 512).failed());
  EXPECT_EQ(judge_geometry(threads, 513).signature.side, "block");
  EXPECT_TRUE(judge_geometry(
                  [](std::int64_t) {
                    return launch({"k", {0, 1, 1}, {1, 1, 1}, 0});
                  },
                  1)
                  .failed());
}

TEST(LaunchConfig, ProductsOverflowAtTheirWidth) {
  const auto product = [](int bits, bool is_signed) {
    return [=](std::int64_t n) {
      return Geometry{{}, {{"row * pitch", {n, 65536}, bits, is_signed}}};
    };
  };
  EXPECT_FALSE(judge_geometry(product(32, true), 32767).failed());
  EXPECT_TRUE(judge_geometry(product(32, true), 32768).failed());
  EXPECT_FALSE(judge_geometry(product(32, false), 65535).failed());
  EXPECT_TRUE(judge_geometry(product(32, false), 65536).failed());
  EXPECT_FALSE(judge_geometry(product(64, true), std::int64_t{1} << 46).failed());
  EXPECT_TRUE(judge_geometry(product(64, true), std::int64_t{1} << 47).failed());
}

TEST(LaunchConfig, SaysNothingOfTargetsThatDeclareNothing) {
  TargetSpec spec;
  EXPECT_EQ(LaunchConfigOracle().judge(testing::plan_of_calls({1}), spec, {}).outcome,
            Outcome::not_applicable);
}

}  // namespace
}  // namespace redzone::oracles
