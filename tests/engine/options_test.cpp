// The number of processes of a run, and the effort per suspect. Both follow from the traits of a
// device, so a made-up device is handled by its traits.
#include "engine/options.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace redzone::engine {
namespace {

using std::chrono::milliseconds;

TEST(Workers, AreThoseThatRunAtATime) {
  const Registry registry;
  EngineOptions options;
  options.workers = 3;
  options.workload = Workload::campaign;
  EXPECT_EQ(pool_options(options, registry).workers, 3u);
  options.workload = Workload::replay;
  EXPECT_EQ(pool_options(options, registry).workers, 0u);
  EXPECT_EQ(pool_options(options, registry).spares, 3u);
}

TEST(Workers, AreOneACoreWhereTheCoresDoTheWorkAndElseOne) {
  const Registry registry;
  for (const std::size_t cores : {1, 2, 6, 16, 64})
    for (const auto& device : all_devices()) {
      SCOPED_TRACE(device.name);
      EngineOptions options;
      options.device = device.kind;
      options.workload = Workload::campaign;
      const exec::PoolOptions pool = pool_options(options, registry, cores);
      const bool on_cores = device.execution.on_host_cores;
      EXPECT_EQ(pool.workers, on_cores ? cores : 1u);
      EXPECT_EQ(pool.spares, on_cores ? cores : std::clamp<std::size_t>(cores / 2, 1, 8));
      EXPECT_EQ(pool.most_used, device.kind == DeviceKind::cuda ? pool.spares : 0u);
      if (device.kind == DeviceKind::cuda) {
        EXPECT_EQ(pool.most_starting, 2u);
        EXPECT_EQ(pool.most_in_turn, 1u);
      } else {
        EXPECT_GT(pool.most_in_turn, pool.spares);
        EXPECT_GT(pool.most_starting, pool.workers + pool.spares);
      }
      EXPECT_EQ(pool.recycle_after_plans, device.workers.recycle_after_plans);
      EXPECT_EQ(pool.command.argv.back(), device.name);
    }
}

TEST(Deadline, IsThatOfTheDeviceUnlessOneIsGiven) {
  EngineOptions options;
  EXPECT_EQ(options.trial_deadline(), milliseconds(2000));
  options.device = DeviceKind::cuda;
  EXPECT_EQ(options.trial_deadline(), milliseconds(5000));
  options.deadline = milliseconds(7);
  EXPECT_EQ(options.trial_deadline(), milliseconds(7));
}

campaign::TriageOptions triage_on(const DeviceTraits& device) {
  return triage_options(device, milliseconds(2000), 4, false, {});
}

TEST(Triage, OfTheDevicesThatThereAre) {
  const auto host = triage_on(traits_of(DeviceKind::host));
  EXPECT_FALSE(host.reuse_workers);
  EXPECT_FALSE(host.seeds_decide_contention);
  EXPECT_EQ(host.hang_deadline, milliseconds(400));
  EXPECT_EQ(host.confirm_runs, campaign::TriageOptions{}.confirm_runs);
  EXPECT_EQ(host.attribution_runs, campaign::TriageOptions{}.attribution_runs);

  const auto cuda = triage_on(traits_of(DeviceKind::cuda));
  EXPECT_TRUE(cuda.reuse_workers);
  EXPECT_TRUE(cuda.seeds_decide_contention);
  EXPECT_EQ(cuda.hang_deadline, milliseconds(750));
  EXPECT_EQ(cuda.confirm_runs, 2);
  EXPECT_EQ(cuda.final_runs, 7);
  EXPECT_EQ(cuda.attribution_runs, 1);

  const auto none = triage_on(traits_of(DeviceKind::dry_run));
  EXPECT_FALSE(none.reuse_workers);
  EXPECT_EQ(none.attribution_runs, 0);
}

TEST(Triage, OfADeviceThatIsNotHereFollowsFromItsFacts) {
  DeviceTraits device = traits_of(DeviceKind::cuda);
  device.name = "hip";
  device.tools = {};
  device.workers.start = milliseconds(50);
  device.workers.hang_deadline = milliseconds(600);
  auto options = triage_on(device);
  EXPECT_FALSE(options.reuse_workers) << "a fresh worker is cheap there";
  EXPECT_EQ(options.hang_deadline, milliseconds(600));
  device.workers.start = milliseconds(900);
  options = triage_on(device);
  EXPECT_TRUE(options.reuse_workers);
  EXPECT_EQ(options.attribution_runs, 1);
}

}  // namespace
}  // namespace redzone::engine
