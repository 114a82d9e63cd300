// The devices of this machine; those that need no GPU exist on every machine.
#include "device/devices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/device_traits.h"

namespace redzone::device {
namespace {

TEST(Devices, OfTheHostAreThereAndComeFirst) {
  const auto usable = usable_kinds();
  ASSERT_GE(usable.size(), 2u);
  EXPECT_EQ(usable[0], DeviceKind::host);
  EXPECT_EQ(usable[1], DeviceKind::dry_run);
}

TEST(Devices, AreUsableWhereNothingIsMissing) {
  const auto usable = usable_kinds();
  for (const auto& device : all_devices()) {
    SCOPED_TRACE(device.name);
    const Presence here = look_for(device.kind);
    EXPECT_EQ(here.problem.empty(), std::count(usable.begin(), usable.end(), device.kind) == 1);
    if (here.problem.empty() && device.targets.checks_compute_capability) {
      EXPECT_GT(here.compute_capability, 0);
    }
    if (!device.targets.needs_nvrtc) {
      EXPECT_EQ(here.nvrtc, "");
    }
  }
}

// Only devices without a GPU are opened here: a GPU context belongs in a worker.
TEST(Devices, OpenAsTheKindThatWasAskedFor) {
  for (const auto& device : all_devices()) {
    SCOPED_TRACE(device.name);
    if (!device.execution.on_host_cores) continue;
    const auto opened = open_device(device.kind);
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_EQ((*opened)->info().kind, device.kind);
    EXPECT_EQ(&traits_of_device((*opened)->info().name), &device);
  }
}

TEST(Devices, ThatAreMissingDoNotOpen) {
  for (const auto& device : all_devices()) {
    if (look_for(device.kind).problem.empty()) continue;
    const auto opened = open_device(device.kind);
    ASSERT_FALSE(opened) << device.name;
    EXPECT_EQ(opened.error().kind, Failure::Kind::harness);
  }
}

TEST(Devices, TheBestIsOneApartWhereThereIsOne) {
  const DeviceTraits& best = traits_of(best_kind());
  EXPECT_TRUE(best.automatic);
  const auto usable = usable_kinds();
  const bool apart = std::any_of(usable.begin(), usable.end(), [](DeviceKind kind) {
    return !traits_of(kind).execution.on_host_cores;
  });
  EXPECT_EQ(best.execution.on_host_cores, !apart);
}

}  // namespace
}  // namespace redzone::device
