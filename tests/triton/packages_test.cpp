// The shipped packages, as built by the test `triton.packages`, on the C++ side: read, fuzzed
// without a device, and dry-run through the real binary.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/validate.h"
#include "e2e/cli.h"
#include "generators/plan_generator.h"
#include "package/packages.h"
#include "targets/recording_context.h"

namespace redzone {
namespace {

std::vector<std::filesystem::path> folders() {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(PACKAGES)) found.insert(entry);
  return {found.begin(), found.end()};
}

Registry all_packages() {
  Registry registry;
  const auto added = package::add_packages(registry, folders());
  EXPECT_TRUE(added) << added.error().message;
  return registry;
}

TEST(BuiltPackages, AreRead) {
  const Registry registry = all_packages();
  std::size_t kernels = 0, lazy = 0, puzzles = 0;
  for (const auto* entry : registry.entries_for(DeviceKind::cuda)) {
    kernels += entry->spec.category == Category::kernel && !entry->is_lazy ? 1 : 0;
    lazy += entry->spec.category == Category::kernel && entry->is_lazy ? 1 : 0;
    puzzles += entry->spec.category == Category::puzzle ? 1 : 0;
  }
  EXPECT_EQ(kernels, folders().size());
  EXPECT_EQ(kernels, 7u);
  EXPECT_EQ(lazy, 7u);
  EXPECT_GE(puzzles, 7u * 2) << "each has a grid and a key to get wrong";
  for (const char* mistake : {"per_cta", "first_call", "num_ctas", "null"})
    EXPECT_NE(registry.find(std::string("puzzle.triton.scale_descriptor.lazy_scratch_") + mistake,
                            DeviceKind::cuda),
              nullptr)
        << mistake;
}

// For every drawn call, each launcher requests exactly what its kernel needs by the formula.
TEST(BuiltPackages, AreServedByTheirLaunchers) {
  const Registry registry = all_packages();
  for (const auto* entry : registry.entries_for(DeviceKind::cuda)) {
    if (entry->spec.category != Category::kernel) continue;
    SCOPED_TRACE(entry->spec.name);
    generators::PlanGenerator generator(entry->spec, generators::none_budget(), 5);
    std::size_t launches = 0;
    for (int i = 0; i < 20; ++i) {
      const Plan plan = generator.next();
      ASSERT_TRUE(validate(plan, entry->spec, "plan"));
      const auto target = entry->make();
      for (const auto* step : calls_of(plan)) {
        test::RecordingContext ctx(entry->spec, step->call.dims, step->call.config);
        target->run(ctx);
        ASSERT_EQ(ctx.unsupported_reason, "");
        launches += ctx.launches.size();
        for (const auto& scratch : ctx.scratches) {
          const auto& need = scratch.need;
          ASSERT_EQ(scratch.bytes,
                    need.bytes_per_cta * static_cast<std::size_t>(need.grid.x * need.grid.y *
                                                                  need.grid.z * need.num_ctas));
          ASSERT_GE(scratch.align, need.align);
        }
      }
    }
    EXPECT_GT(launches, 20u);
  }
}

TEST(BuiltPackages, AreCleanWithoutADevice) {
  const e2e::TempFolder folder;
  e2e::Arguments words{"run",    "--device", "dry-run", "--plans",    "100",
                       "--seed", "1",        "--json",  "--deadline", "60s"};
  for (const auto& package : folders()) words.insert(words.end(), {"--package", package.string()});
  for (const bool lazy : {false, true}) {
    if (lazy) words.emplace_back("--lazy");
    const auto ran = e2e::redzone(folder, words);
    EXPECT_EQ(ran.exit, 0) << ran;
    const e2e::Json campaign = ran.json();
    ASSERT_TRUE(campaign.is_object()) << ran;
    EXPECT_EQ(campaign["verdicts"]["pass"], 700) << ran;
  }
}

}  // namespace
}  // namespace redzone
