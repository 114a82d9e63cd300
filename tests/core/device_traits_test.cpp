// The table of the kinds of devices, and their names.
#include "core/device_traits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace redzone {
namespace {

TEST(DeviceTraits, AreInTheOrderOfTheKinds) {
  std::size_t index = 0;
  for (const auto& device : all_devices()) {
    EXPECT_EQ(static_cast<std::size_t>(device.kind), index++);
    EXPECT_EQ(&traits_of(device.kind), &device);
    EXPECT_EQ(find_traits(device.kind), &device);
  }
  EXPECT_EQ(find_traits(static_cast<DeviceKind>(index)), nullptr);
  EXPECT_EQ(find_traits(static_cast<DeviceKind>(255)), nullptr);
}

TEST(DeviceTraits, AreFoundByName) {
  std::set<std::string_view> names;
  for (const auto& device : all_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_EQ(name_of(device.kind), device.name);
    const auto read = parse_device_kind(device.name);
    ASSERT_TRUE(read) << device.name;
    EXPECT_EQ(*read, device.kind);
  }
  EXPECT_EQ(parse_device_kind("none").value(), DeviceKind::dry_run) << "its first name";
  EXPECT_EQ(names, (std::set<std::string_view>{"host", "cuda", "dry-run"}));
  for (const char* text : {"", "auto", "Host", "cuda ", "hip"}) {
    const auto read = parse_device_kind(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::usage);
    EXPECT_EQ(read.error().message,
              "unknown device '" + std::string(text) + "': auto, cuda, dry-run, host");
  }
}

TEST(DeviceTraits, OfAStoredDeviceAreKnownByWhatItCalledItself) {
  EXPECT_EQ(traits_of_device("host").kind, DeviceKind::host);
  EXPECT_EQ(traits_of_device("dry-run").kind, DeviceKind::dry_run);
  EXPECT_EQ(traits_of_device("none").kind, DeviceKind::dry_run) << "in a store of an older build";
  for (const char* product : {"NVIDIA H100 80GB HBM3", "Tesla T4", "cuda", ""})
    EXPECT_EQ(traits_of_device(product).kind, DeviceKind::cuda) << product;
}

// Stores keep a device's product name but not its kind, so two kinds with product names could not
// be distinguished; a second one requires that stores keep the kind, too.
TEST(DeviceTraits, OneKindHasNamesOfProducts) {
  const auto all = all_devices();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const DeviceTraits& device) { return device.has_product_name; }),
            1);
}

TEST(DeviceTraits, FitTogether) {
  bool fallback = false;  // for --device auto, on every machine
  for (const auto& device : all_devices()) {
    SCOPED_TRACE(device.name);
    fallback = fallback || (device.automatic && device.execution.on_host_cores);
    if (const auto other = device.targets.runs_plugins_of) {
      EXPECT_NE(*other, device.kind);
      EXPECT_FALSE(traits_of(*other).targets.runs_plugins_of.has_value());
    }
    if (!device.execution.runs_kernels) {
      EXPECT_EQ(device.execution.seed_decides, SeedDecides::nothing);
      EXPECT_FALSE(device.execution.fault_names_call);
      EXPECT_FALSE(device.tools.compute_sanitizer);
      EXPECT_FALSE(device.tools.core_dumps);
      EXPECT_FALSE(device.automatic);
    }
    EXPECT_GT(device.workers.start.count(), 0);
    EXPECT_GT(device.workers.recycle_after_plans, 0u);
    EXPECT_LT(device.workers.hang_deadline, device.workers.trial_deadline);
  }
  EXPECT_TRUE(fallback);
}

}  // namespace
}  // namespace redzone
