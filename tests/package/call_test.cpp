#include "package/call.h"

#include <gtest/gtest.h>

#include <cstring>

#include "package/parameters.h"
#include "package/reader.h"
#include "package/sample.h"

namespace redzone::package {
namespace {

class Calls : public testing::Test {
 protected:
  static tl::expected<LaunchPlan, std::string> plan_launch(const Package& package,
                                                           const Variant& variant,
                                                           const Values& values,
                                                           int multiprocessors) {
    const auto programs = programs_of(package, values, multiprocessors);
    EXPECT_TRUE(programs) << programs.error();
    return launch_of(package, variant, *programs);
  }
  Config config(std::int64_t block, const char* grid, std::int64_t ctas) const {
    return {{"BLOCK", block}, {"grid", std::string(grid)}, {"num_ctas", ctas}};
  }
  const Variant& variant(const ResolvedCall& call, std::uintptr_t x = 0x1000) const {
    std::vector<std::uintptr_t> addresses(package_.arguments.size());
    addresses[0] = x;
    addresses[1] = 0x2000;
    const auto chosen = choose(package_, call, addresses);
    EXPECT_TRUE(chosen) << chosen.error();
    return package_.variants[*chosen];
  }
  LaunchPlan plan(const Dims& dims, const Config& config, int multiprocessors = 132) const {
    const auto call = resolve(package_, dims, config);
    EXPECT_TRUE(call) << call.error();
    const auto plan = plan_launch(package_, variant(*call), call->values, multiprocessors);
    EXPECT_TRUE(plan) << plan.error();
    return *plan;
  }

  const test::SamplePackage sample_;
  Package package_ = *read_package(sample_.folder());
};

TEST(Class, IsTritonsOfAnInteger) {
  EXPECT_EQ(class_of(1), Class::one);
  EXPECT_EQ(class_of(0), Class::sixteen);
  EXPECT_EQ(class_of(16), Class::sixteen);
  EXPECT_EQ(class_of(-32), Class::sixteen);
  EXPECT_EQ(class_of(4), Class::other);
  EXPECT_EQ(class_of(-1), Class::other);
}

TEST_F(Calls, TakeTheVariantOfTheirKnobsConstantsAndClasses) {
  for (const std::int64_t n : {1, 16, 17, 32, 4096}) {
    const std::int64_t r = n < 3 ? 1 : 3;
    const auto call = resolve(package_, {{"R", r}, {"N", n}}, config(256, "persistent", 2));
    ASSERT_TRUE(call) << call.error();
    ASSERT_EQ(call->variants.size(), 2u) << "one for each class of x";
    const Variant& v = variant(*call);
    EXPECT_EQ(v.knobs, config(256, "persistent", 2));
    EXPECT_EQ(v.constants,
              (std::vector<Constant>{std::int64_t{256}, r == 1 ? std::int64_t{1} : 4}));
    EXPECT_EQ(v.classes[2], class_of(n));
    EXPECT_EQ(v.classes[0], Class::sixteen);
    EXPECT_EQ(variant(*call, 0x1008).classes[0], Class::other);
  }
}

TEST_F(Calls, AreNotServedWithoutAVariant) {
  Package package = package_;
  const auto call = resolve(package, {{"R", 3}, {"N", 17}}, config(128, "flat", 1));
  // As if exported from a cache without these variants.
  package.by_key.erase(variant_key(package, config(128, "flat", 1),
                                   {std::int64_t{128}, std::int64_t{4}},
                                   {{}, {}, Class::other, {}, {}, {}, {}}));
  const auto gone = resolve(package, {{"R", 3}, {"N", 17}}, config(128, "flat", 1));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error(),
            "no variant was compiled for BLOCK = 128, grid = \"flat\", num_ctas = 1, n of class "
            "'other', RDIM = 4");
  // y has no variant for addresses that are not multiples of 16.
  std::vector<std::uintptr_t> addresses(7, 0x1000);
  addresses[1] = 0x1004;
  const auto chosen = choose(package_, *call, addresses);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error(),
            "no variant was compiled for addresses x of class '16', y of class 'other'");
}

TEST_F(Calls, AreNotServedWithValuesOutOfRange) {
  const std::int64_t large = std::int64_t{1} << 31;
  const auto call = resolve(package_, {{"R", 1}, {"N", large}}, config(128, "flat", 1));
  ASSERT_FALSE(call);
  EXPECT_NE(call.error().find("target.toml: argument[n].value: 2147483648 does not fit i32"),
            std::string::npos)
      << call.error();
}

TEST_F(Calls, KeepTheAlignmentThatSomeVariantTakes) {
  EXPECT_EQ(least_align(package_, 0), 4u);
  EXPECT_EQ(least_align(package_, 1), 16u);
  // If every variant requires aligned addresses, the description's alignment is not enough.
  for (auto& v : package_.variants) v.classes[0] = Class::sixteen;
  EXPECT_EQ(least_align(package_, 0), 16u);
}

TEST_F(Calls, AreAlignedAsVariantsWereCompiledWhereTheDescriptionIsSilent) {
  package_.tensors[0].align_bytes = 0;
  EXPECT_EQ(least_align(package_, 0), 16u);
  for (auto& argument : package_.arguments) argument.specialized = false;
  EXPECT_EQ(least_align(package_, 0), 0u);
}

TEST_F(Calls, LaunchCtasForPrograms) {
  const LaunchPlan flat = plan({{"R", 3}, {"N", 1000}}, config(128, "flat", 1));
  EXPECT_EQ(flat.programs.x, 8);
  EXPECT_EQ(flat.programs.y, 3);
  EXPECT_EQ(flat.shape.grid.x, 8);
  EXPECT_EQ(flat.shape.grid.y, 3);
  EXPECT_EQ(flat.shape.grid.z, 1);
  EXPECT_EQ(flat.shape.block.x, 128);
  EXPECT_EQ(flat.shape.cluster.x, 1);
  EXPECT_EQ(flat.shape.shared_bytes, 57344u);
  EXPECT_EQ(flat.global.bytes, 384u * 24);
  EXPECT_EQ(flat.global.align, 128u);
  EXPECT_EQ(flat.profile.bytes, 0u);

  const LaunchPlan clusters = plan({{"R", 3}, {"N", 1000}}, config(128, "flat", 2));
  EXPECT_EQ(clusters.programs.x, 8);
  EXPECT_EQ(clusters.shape.grid.x, 16) << "a program is a cluster";
  EXPECT_EQ(clusters.shape.cluster.x, 2);
  EXPECT_EQ(clusters.shape.grid.y, 3);
  EXPECT_EQ(clusters.global.bytes, 384u * 24 * 2);

  const LaunchPlan persistent = plan({{"R", 1}, {"N", 4096}}, config(128, "persistent", 2), 20);
  EXPECT_EQ(persistent.programs.x, 10);
  EXPECT_EQ(persistent.shape.grid.x, 20);
  EXPECT_EQ(persistent.global.bytes, 384u * 10 * 2);
}

TEST_F(Calls, WithoutProgramsLaunchNothing) {
  EXPECT_TRUE(plan({{"R", 1}, {"N", 4096}}, config(128, "persistent", 2), 1).empty());
}

TEST_F(Calls, RefuseScratchThatNoMemoryHas) {
  for (auto& compiled : package_.compiled) compiled.global.bytes = std::size_t{1} << 40;
  const auto call = resolve(package_, {{"R", 8}, {"N", 4096}}, config(128, "flat", 1));
  ASSERT_TRUE(call);
  Values values = call->values;
  values["N"] = std::int64_t{1} << 52;
  const auto plan = plan_launch(package_, variant(*call), values, 132);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().find("more than 2^62 bytes of scratch"), std::string::npos);
}

std::vector<std::uint64_t> values_of(const LaunchArgs& args) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < args.count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, args.pointers[i], args.sizes[i]);
    out.push_back(value);
  }
  return out;
}

TEST_F(Calls, PassArgumentsInOrderThenBothScratchPointers) {
  const auto call = resolve(package_, {{"R", 3}, {"N", 17}}, config(128, "flat", 1));
  ASSERT_TRUE(call);
  std::vector<std::uintptr_t> addresses(7);
  addresses[0] = 0x1000;
  addresses[1] = 0x2000;
  int global = 0;
  const Parameters all(package_, variant(*call), *call, addresses, &global, nullptr);
  EXPECT_EQ(values_of(all.args()),
            (std::vector<std::uint64_t>{0x1000, 0x2000, 17, 3, 0x3fc00000,
                                        reinterpret_cast<std::uintptr_t>(&global), 0}));
  EXPECT_EQ(std::vector<std::size_t>(all.args().sizes, all.args().sizes + all.args().count),
            (std::vector<std::size_t>{8, 8, 4, 8, 4, 8, 8}));
}

TEST_F(Calls, DropAnIntegerThatIsOne) {
  const auto call = resolve(package_, {{"R", 1}, {"N", 1}}, config(128, "flat", 1));
  ASSERT_TRUE(call);
  const std::vector<std::uintptr_t> addresses{0x1000, 0x2000, 0, 0, 0, 0, 0};
  const Parameters parameters(package_, variant(*call), *call, addresses, nullptr, nullptr);
  // `rows` is 1, too, but stays an argument: it is not specialized.
  EXPECT_EQ(values_of(parameters.args()),
            (std::vector<std::uint64_t>{0x1000, 0x2000, 1, 0x3fc00000, 0, 0}));
}

}  // namespace
}  // namespace redzone::package
