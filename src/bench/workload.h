// Fixed lists of plans that every column of the benchmark runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/oracle.h"
#include "target/registry.h"

namespace redzone::bench {

struct Workload {
  std::string name;
  std::string what;  // for people
  std::vector<Plan> plans;
  double generate_us = 0;  // average time to generate one plan
};

// The targets of packages, under small shapes; if the registry has any for the device.
inline constexpr std::string_view kPackages = "packages";
bool has_packages(const Registry& registry, DeviceKind device);

// "tiny", and "model" (the shapes of real models) or, if the host's cores run the kernels,
// "medium".
std::vector<std::string_view> workload_names(DeviceKind device);
// A further workload: ragged prefill.
inline constexpr std::string_view kRaggedWorkload = "ragged";

// Generated plans for the targets of the chunk family, of packages, or of ragged prefill that
// `registry` has for the device. Deterministic in its arguments, in every process. `quick` gives
// fewer. A harness error if there is no such target, a usage error for an unknown name.
Result<Workload> make_workload(std::string_view name, DeviceKind device, const Registry& registry,
                               bool quick);

// 32 hex digits over the plans, in order.
std::string hash_of(const Workload& workload);

// The plan with other data in each call: in a campaign no worker has seen a call before, and
// remembers its reference. Calls with equal data keep equal data.
Plan with_other_data(Plan plan, std::uint64_t pass);

// Launches of the target in one trial.
std::uint64_t calls_in(const Plan& plan, const TrialSpec& trial);

}  // namespace redzone::bench
