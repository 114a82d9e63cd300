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
  std::string what;  // a description for people
  std::vector<Plan> plans;
  double generate_us = 0;  // average time to generate one plan
};

// The targets of packages, with small shapes; only if the registry has packages for the device.
inline constexpr std::string_view kPackages = "packages";
bool has_packages(const Registry& registry, DeviceKind device);

// "tiny", and "model" (the shapes of real models) or, if the host's cores run the kernels,
// "medium".
std::vector<std::string_view> workload_names(DeviceKind device);
// Another workload: ragged prefill.
inline constexpr std::string_view kRaggedWorkload = "ragged";

// Generates plans for the registry's targets for the device: the chunk family, packages, or ragged
// prefill. Deterministic in its arguments, in every process. `quick` gives fewer plans. A harness
// error if there is no such target, a usage error for an unknown name.
Result<Workload> make_workload(std::string_view name, DeviceKind device, const Registry& registry,
                               bool quick);

// Hash over the plans, in order, as 32 hexadecimal digits.
std::string hash_of(const Workload& workload);

// The plan with other data in each call: in a campaign, calls are new to a worker, so that it does
// not have their references yet. Calls with equal data keep equal data.
Plan with_other_data(Plan plan, std::uint64_t pass);

// Number of launches of the target in one trial.
std::uint64_t calls_in(const Plan& plan, const TrialSpec& trial);

}  // namespace redzone::bench
