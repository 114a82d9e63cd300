// Leases of a night that is a shard of a fleet: the fleet's hub decides which shard reduces a
// finding, unless the examinations reduce all findings.
#pragma once

#include <memory>
#include <optional>

#include "campaign/shard.h"
#include "cli/flags.h"
#include "fleet/lease_client.h"
#include "fleet/shared_folder.h"
#include "nightly/means.h"

namespace redzone::cli {

struct FleetLeases {
  FleetLeases(const fleet::Layout& layout, const fleet::Attempt& attempt, fleet::Fleet whose);

  fleet::Fleet fleet;
  fleet::SharedInquiries inquiries;
  fleet::KnownElsewhere elsewhere;
  fleet::LeaseClient client;
};

// --fleet; null if absent. A usage error if the folder has no fleet, or no attempt of this shard.
Result<std::unique_ptr<FleetLeases>> fleet_leases(const po::variables_map& flags,
                                                  const campaign::Shard& shard);

// Makes the night's campaigns request a lease before they reduce a finding. `leases` must outlive
// `means`.
void divide_reductions(nightly::Means& means, FleetLeases& leases);

}  // namespace redzone::cli
