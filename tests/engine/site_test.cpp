// What a device can say about failures that were found elsewhere.
#include "engine/site.h"

#include <gtest/gtest.h>

#include "oracles/catalog.h"
#include "target/registry.h"

namespace redzone::engine {
namespace {

const char kGpu[] = "NVIDIA H200";

std::string cannot_judge(DeviceKind device, const char* oracle, std::string found_in) {
  const Registry registry;
  const oracles::Catalog catalog;
  const Site site(device, registry, catalog, {}, {});
  RecordedPlan recorded{.name = "finding 1", .oracle = oracle};
  recorded.found_in.device = std::move(found_in);
  return site.cannot_judge(recorded).value_or("");
}

// On a GPU the seed of a schedule decides whether it is kept busy, and on the host device how
// blocks and threads interleave.
TEST(Site, AsksAboutSchedulesOnlyWhereSeedsDecideTheSame) {
  EXPECT_EQ(cannot_judge(DeviceKind::cuda, "schedule", "host"),
            "the seeds of the oracle 'schedule' decide something else on cuda than on host, where "
            "it was found");
  EXPECT_NE(cannot_judge(DeviceKind::host, "schedule", kGpu), "");
  EXPECT_EQ(cannot_judge(DeviceKind::cuda, "schedule", kGpu), "");
  EXPECT_EQ(cannot_judge(DeviceKind::host, "schedule", "host"), "");
  EXPECT_EQ(cannot_judge(DeviceKind::host, "schedule", ""), "") << "a plan file, found anywhere";
  EXPECT_EQ(cannot_judge(DeviceKind::cuda, "async", "host"), "");
}

}  // namespace
}  // namespace redzone::engine
