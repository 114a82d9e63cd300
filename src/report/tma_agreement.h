// The output of `redzone tma agree`.
//
//   {"device", "driver", "seed", "descriptors", "agreed", "open", "disagreed", "driver_accepted",
//    "checker_per_s", "driver_per_s", "stopped", "rules": [{"rule", "manual", "driver" (as known:
//    "forbids"|"allows"|"nothing"), "source": text or null, "broken", "alone_accepted",
//    "alone_rejected"}], "disagreements": [{"driver": "accepts"|"rejects", "rules": [text],
//    "descriptors", "smallest": DESCRIPTOR, "found": DESCRIPTOR}], "not_reduced"}
// with DESCRIPTOR as in report/tma.h.
#pragma once

#include <cstdint>
#include <string>

#include "tma/agreement.h"

namespace redzone::report {

struct AgreementRun {
  std::string device, driver;  // names
  std::uint64_t seed = 0;
  tma::Agreement agreement;
};

std::string agreement_text(const AgreementRun& run);
std::string agreement_json(const AgreementRun& run);

}  // namespace redzone::report
