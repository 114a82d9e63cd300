#include "core/device_traits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace redzone {
namespace {

using std::chrono::milliseconds;

constexpr std::array kDevices{
    DeviceTraits{
        .kind = DeviceKind::host,
        .name = "host",
        .automatic = true,
        .execution = {.on_host_cores = true,
                      .in_host_memory = true,
                      .seed_decides = SeedDecides::interleaving,
                      .fault_names_call = true},
        .tools = {.checks = true},
        .workers = {.start = milliseconds(10),
                    .has_zygote = true,
                    .recycle_after_plans = 200,
                    .trial_deadline = milliseconds(2000),
                    .hang_deadline = milliseconds(400)},
    },
    DeviceTraits{
        .kind = DeviceKind::cuda,
        .name = "cuda",
        .has_product_name = true,
        .automatic = true,
        .targets = {.launches_cubins = true,
                    .checks_compute_capability = true,
                    .needs_nvrtc = true},
        .execution = {.seed_decides = SeedDecides::contention, .driver_encodes_descriptors = true},
        .tools = {.compute_sanitizer = true, .core_dumps = true},
        .workers = {.start = milliseconds(300),
                    .starts_sooner_with_one_queue = true,
                    .recycle_after_plans = 2000,
                    .trial_deadline = milliseconds(5000),
                    .hang_deadline = milliseconds(750)},
    },
    DeviceTraits{
        .kind = DeviceKind::dry_run,
        .name = "dry-run",
        .first_name = "none",
        .targets = {.runs_plugins_of = DeviceKind::host, .launches_cubins = true},
        .execution = {.runs_kernels = false, .on_host_cores = true},
        .workers = {.start = milliseconds(10),
                    .has_zygote = true,
                    .recycle_after_plans = 20000,
                    .trial_deadline = milliseconds(2000),
                    .hang_deadline = milliseconds(400)},
    },
};

}  // namespace

std::span<const DeviceTraits> all_devices() {
  return kDevices;
}

const DeviceTraits* find_traits(DeviceKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kDevices.size() ? &kDevices[index] : nullptr;
}

const DeviceTraits& traits_of(DeviceKind kind) {
  const DeviceTraits* traits = find_traits(kind);
  RZ_CHECK(traits != nullptr);
  return *traits;
}

const DeviceTraits& traits_of_device(std::string_view device) {
  const DeviceTraits* of_products = nullptr;
  for (const auto& traits : kDevices) {
    if (traits.has_product_name)
      of_products = &traits;
    else if (traits.is_named(device))
      return traits;
  }
  RZ_CHECK(of_products != nullptr);
  return *of_products;
}

std::string_view name_of(DeviceKind kind) {
  return traits_of(kind).name;
}

Result<DeviceKind> parse_device_kind(std::string_view name) {
  std::vector<std::string_view> names{"auto"};
  for (const auto& traits : kDevices) {
    if (traits.is_named(name)) return traits.kind;
    names.push_back(traits.name);
  }
  std::sort(names.begin(), names.end());
  return usage_error(fmt::format("unknown device '{}': {}", name, fmt::join(names, ", ")));
}

}  // namespace redzone
