#include "cli/fleet_leases.h"

#include <fmt/format.h>

#include <utility>

#include "fleet/clock.h"

namespace redzone::cli {

FleetLeases::FleetLeases(const fleet::Layout& layout, const fleet::Attempt& attempt,
                         fleet::Fleet whose)
    : fleet(std::move(whose)),
      inquiries(layout, attempt),
      elsewhere([layout] { return fleet::published_reductions(layout); }, fleet::monotonic_seconds,
                fleet.snapshot_seconds),
      client(inquiries, elsewhere, fleet::monotonic_seconds,
             {.lease = fleet.lease_seconds, .answer_timeout = fleet.answer_seconds}) {}

Result<std::unique_ptr<FleetLeases>> fleet_leases(const po::variables_map& flags,
                                                  const campaign::Shard& shard) {
  if (flags.count("fleet") == 0) return nullptr;
  const fleet::Layout layout{flags["fleet"].as<std::string>()};
  RZ_TRY_ASSIGN(auto fleet, fleet::read_fleet(layout));
  RZ_TRY_ASSIGN(const auto attempt, fleet::latest_attempt(layout, shard.index));
  if (!attempt)
    return usage_error(
        fmt::format("--fleet: {} has no attempt of shard {}: 'redzone fleet' runs it",
                    layout.root.string(), shard.index));
  return std::make_unique<FleetLeases>(layout, *attempt, std::move(fleet));
}

void divide_reductions(nightly::Means& means, FleetLeases& leases) {
  means.fuzzing = [&leases, inner = std::move(means.fuzzing)](std::chrono::milliseconds time,
                                                              std::uint64_t plans) {
    auto options = inner(time, plans);
    options.triage.reduces = [&leases](const Signature& signature) -> std::optional<bool> {
      if (!leases.fleet.shards_reduce) return false;
      return leases.client.reduces(signature.hash());
    };
    return options;
  };
}

}  // namespace redzone::cli
