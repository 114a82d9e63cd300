#include "package/package_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/validate.h"
#include "generators/plan_generator.h"
#include "package/packages.h"
#include "package/reader.h"
#include "package/sample.h"
#include "target/capability.h"
#include "target/spec_check.h"
#include "targets/recording_context.h"

namespace redzone::package {
namespace {

using redzone::test::RecordingContext;

class PackageTargets : public testing::Test {
 protected:
  static Config config(std::int64_t ctas, const char* grid = "flat") {
    return {{"BLOCK", std::int64_t{128}}, {"grid", std::string(grid)}, {"num_ctas", ctas}};
  }

  const test::SamplePackage sample_;
  const std::shared_ptr<const Package> package_ =
      std::make_shared<const Package>(*read_package(sample_.folder()));
  static std::shared_ptr<const Settings> settings(const Package& package) {
    return std::make_shared<const Settings>(Settings::of(package));
  }
  const TargetSpec spec_ = spec_of(package_, settings(*package_));
};

TEST_F(PackageTargets, DeclareWhatThePackageSays) {
  EXPECT_EQ(spec_problem(spec_), std::nullopt);
  EXPECT_EQ(spec_.name, "test.add");
  EXPECT_EQ(spec_.only_compute_capability, 90);
  EXPECT_EQ(capability_problem(spec_, 90), std::nullopt);
  EXPECT_EQ(capability_problem(spec_, 100),
            "compiled for compute capability 9.0, the device has 10.0");
  EXPECT_FALSE(spec_.has_reference);
  EXPECT_EQ(spec_.tensors[0].shape({{"R", 3}, {"N", 5}}), (Shape{3, 5}));
  EXPECT_EQ(spec_.tensors[0].align_bytes, 4u);
  ASSERT_TRUE(spec_.tensors[1].tolerance);
  EXPECT_EQ(spec_.tensors[1].tolerance->rel, 1e-6);
  EXPECT_EQ(spec_.work({{"R", 3}, {"N", 5}}, config(1)), 15);
  const Geometry geometry = spec_.geometry({{"R", 3}, {"N", 1000}}, config(2));
  ASSERT_EQ(geometry.launches.size(), 1u);
  EXPECT_EQ(geometry.launches[0].grid[0], 16);
  EXPECT_EQ(geometry.launches[0].grid[1], 3);
  EXPECT_EQ(geometry.launches[0].block[0], 128);
  EXPECT_EQ(geometry.launches[0].shared_bytes, 57344);
}

TEST_F(PackageTargets, AreGivenOnlyCallsThatTheyServe) {
  // Half of the variants are missing, as in a package exported from a cache.
  Package half = *package_;
  std::erase_if(half.by_key, [&](const auto& alike) {
    return half.variants[alike.second.front()].classes[2] == Class::other;
  });
  const auto shared = std::make_shared<const Package>(std::move(half));
  const TargetSpec spec = spec_of(shared, settings(*shared));
  generators::PlanGenerator generator(spec, generators::gpu_budget(std::size_t{1} << 30), 7);
  int calls = 0;
  for (int i = 0; i < 60; ++i) {
    const Plan plan = generator.next();
    EXPECT_TRUE(validate(plan, spec, "generated"));
    for (const auto* step : calls_of(plan)) {
      ++calls;
      const auto n = get(step->call.dims, "N");
      EXPECT_TRUE(n == 1 || n % 16 == 0) << n;
    }
  }
  EXPECT_GT(calls, 60);
  Call other;
  other.dims = {{"R", 1}, {"N", 17}};
  other.config = config(1);
  const auto refused = validate_call(other, spec);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no compiled variant"), std::string::npos);
}

TEST_F(PackageTargets, LaunchWithScratchForEveryCta) {
  RecordingContext ctx(spec_, {{"R", 3}, {"N", 1000}}, config(2));
  PackageTarget target(package_, settings(*package_), nullptr);
  target.run(ctx);
  ASSERT_FALSE(ctx.ended()) << ctx.unsupported_reason;
  ASSERT_EQ(ctx.scratches.size(), 1u) << "the kernel has no profile scratch";
  const auto& scratch = ctx.scratches[0];
  EXPECT_EQ(scratch.name, "global_scratch");
  EXPECT_EQ(scratch.bytes, 384u * 8 * 3 * 2);
  EXPECT_EQ(scratch.align, 128u);
  EXPECT_EQ(scratch.need.bytes_per_cta, 384u);
  EXPECT_EQ(scratch.need.grid.x, 8);
  EXPECT_EQ(scratch.need.grid.y, 3);
  EXPECT_EQ(scratch.need.num_ctas, 2);
  EXPECT_EQ(scratch.need.align, 128u);
  ASSERT_EQ(ctx.launches.size(), 1u);
  const auto& launch = ctx.launches[0];
  EXPECT_EQ(launch.shape.grid.x, 16);
  EXPECT_EQ(launch.shape.cluster.x, 2);
  EXPECT_EQ(launch.shape.block.x, 128);
  EXPECT_EQ(launch.shape.shared_bytes, 57344u);
  ASSERT_EQ(launch.arguments.size(), 7u);
  EXPECT_EQ(launch.arguments[2], 1000u);
  EXPECT_EQ(launch.arguments[3], 3u);
  EXPECT_NE(launch.arguments[5], 0u) << "global scratch";
  EXPECT_EQ(launch.arguments[6], 0u) << "profile scratch";
}

TEST_F(PackageTargets, AskForTheCubinOfTheVariantOnce) {
  RecordingContext ctx(spec_, {{"R", 1}, {"N", 64}}, config(1));
  PackageTarget target(package_, settings(*package_), nullptr);
  target.run(ctx);
  target.run(ctx);
  ASSERT_EQ(ctx.variants.size(), 1u);
  EXPECT_EQ(ctx.variants[0].name, "add");
  EXPECT_EQ(ctx.variants[0].expression, "add");
  EXPECT_EQ(ctx.launches.size(), 2u);
}

// As from a list of configs: only two of the eight settings of three knobs exist.
TEST_F(PackageTargets, DrawOnlySettingsThatExist) {
  Package listed = *package_;
  const auto is_listed = [](const Config& c) {
    const bool first = c.at("BLOCK") == Value(std::int64_t{128});
    return c.at("num_ctas") == Value(std::int64_t{first ? 1 : 2}) &&
           c.at("grid") == Value(std::string(first ? "flat" : "persistent"));
  };
  std::erase_if(listed.by_key, [&](const auto& alike) {
    return !is_listed(listed.variants[alike.second.front()].knobs);
  });
  std::erase_if(listed.variants, [&](const Variant& v) { return !is_listed(v.knobs); });
  for (auto& [key, alike] : listed.by_key)  // the variants have new indices
    for (auto& index : alike) index = 0;
  const TargetSpec spec = spec_of(std::make_shared<const Package>(listed), settings(listed));
  ASSERT_EQ(spec.knobs.size(), 1u);
  EXPECT_EQ(spec.knobs[0].name, "config");
  const std::vector<Value> values{std::string("BLOCK=128 grid=flat num_ctas=1"),
                                  std::string("BLOCK=256 grid=persistent num_ctas=2")};
  EXPECT_EQ(spec.knobs[0].values, values);
  EXPECT_EQ(spec_problem(spec), std::nullopt);
  generators::PlanGenerator generator(spec, generators::none_budget(), 7);
  std::map<Value, int> calls;
  for (int i = 0; i < 200; ++i)
    for (const Plan plan = generator.next(); const auto* step : calls_of(plan))
      ++calls[step->call.config.at("config")];
  EXPECT_GT(calls[values[0]], 100);
  EXPECT_GT(calls[values[1]], 100);
}

TEST_F(PackageTargets, RefuseWhatNoVariantServes) {
  Package none = *package_;
  none.by_key.clear();
  RecordingContext ctx(spec_, {{"R", 1}, {"N", 64}}, config(1));
  PackageTarget target(std::make_shared<const Package>(std::move(none)), settings(*package_),
                       nullptr);
  target.run(ctx);
  EXPECT_TRUE(ctx.launches.empty());
  EXPECT_EQ(ctx.unsupported_reason.find("no variant was compiled for BLOCK = 128"), 0u)
      << ctx.unsupported_reason;
}

// For calls that its dims and constraints allow, and not only on a device with few multiprocessors.
TEST_F(PackageTargets, WhoseGridIsNegativeAreAMistake) {
  sample_.edit("target.toml", "\"R\", \"1\"]", "\"R - 2\", \"1\"]");
  const auto package = std::make_shared<const Package>(*read_package(sample_.folder()));
  const TargetSpec spec = spec_of(package, settings(*package));
  EXPECT_EQ(spec.geometry({{"R", 3}, {"N", 5}}, config(1)).launches.size(), 1u);
  const Dims dims{{"R", 1}, {"N", 5}};
  const std::string problem = "grid[1]: 'R - 2' is -1, which is negative";
  const auto text_of = [](auto use) -> std::string {
    try {
      use();
    } catch (const SpecError& e) {
      return e.what();
    }
    return "";
  };
  const std::string declared = text_of([&] { spec.geometry(dims, config(1)); });
  EXPECT_EQ(declared.find("target 'test.add': the grid is invalid: "), 0u) << declared;
  EXPECT_NE(declared.find(problem + " for N = 5, R = 1, BLOCK = 128"), std::string::npos)
      << declared;
  RecordingContext ctx(spec, dims, config(1));
  PackageTarget target(package, settings(*package), nullptr);
  const std::string launched = text_of([&] { target.run(ctx); });
  EXPECT_NE(launched.find(problem), std::string::npos) << launched;
}

TEST_F(PackageTargets, NameTheirReference) {
  Package package = *package_;
  EXPECT_EQ(*reference_of(package), nullptr);
  package.reference = "scael";
  EXPECT_NE(reference_of(package).error().message.find(
                "target.toml: reference: there is no reference 'scael', did you mean 'scale'?"),
            std::string::npos);
  package.reference = "scale";
  ASSERT_TRUE(reference_of(package)) << reference_of(package).error().message;
  EXPECT_EQ((*reference_of(package))->name, "scale");
  package.reference = "matmul";
  EXPECT_NE(reference_of(package).error().message.find("'matmul' needs the dim 'M'"),
            std::string::npos);
  package.reference = "scale";
  package.arguments[4].name = "alpha";
  EXPECT_NE(reference_of(package).error().message.find("'scale' needs the number 'factor'"),
            std::string::npos);
}

TEST_F(PackageTargets, AreTargetsOfTheRegistry) {
  Registry registry;
  const std::filesystem::path folders[] = {sample_.folder()};
  ASSERT_TRUE(add_packages(registry, folders));
  for (const auto device : {DeviceKind::cuda, DeviceKind::dry_run}) {
    const TargetEntry* entry = registry.find("test.add", device);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->device, device);
    EXPECT_TRUE(entry->is_package());
    EXPECT_FALSE(entry->is_lazy);
    EXPECT_EQ(entry->origin.path, sample_.folder());
    EXPECT_EQ(entry->code_hash, package_->code_hash);
    EXPECT_EQ(entry->compiled_by, "Triton 3.6.0");
    EXPECT_NE(entry->make(), nullptr);
    const TargetEntry* lazy = registry.find("test.add.lazy_launch", device);
    ASSERT_NE(lazy, nullptr);
    EXPECT_TRUE(lazy->is_lazy);
    EXPECT_EQ(lazy->spec.category, Category::kernel);
    EXPECT_EQ(registry.find("test.add", DeviceKind::host), nullptr);
  }
  const auto again = add_packages(registry, folders);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("duplicate target name 'test.add'"), std::string::npos);
}

// All except the mistake about tuning with accumulation: the sample accumulates into no tensor.
TEST_F(PackageTargets, ComeWithTheMistakesThatTheirLauncherCanMake) {
  Registry registry;
  const std::filesystem::path folders[] = {sample_.folder()};
  ASSERT_TRUE(add_packages(registry, folders));
  std::vector<std::string> puzzles;
  for (const auto* entry : registry.entries_for(DeviceKind::dry_run))
    if (entry->spec.category == Category::puzzle) puzzles.push_back(entry->spec.name);
  EXPECT_EQ(puzzles,
            (std::vector<std::string>{
                "puzzle.test.add.lazy_grid_frozen", "puzzle.test.add.lazy_key_without_dim",
                "puzzle.test.add.lazy_scratch_first_call", "puzzle.test.add.lazy_scratch_null",
                "puzzle.test.add.lazy_scratch_num_ctas", "puzzle.test.add.lazy_scratch_per_cta"}));
}

}  // namespace
}  // namespace redzone::package
