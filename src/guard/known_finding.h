// The entry of the store for a finding of a run.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "core/ledger.h"

namespace redzone::guard {

struct KnownFinding {
  std::string signature;     // signature()
  std::int64_t id = 0;       // 0: not in the store
  bool is_new = false;       // stored for the first time, or again after a fix
  Ledger ledger = {};        // from the store
  std::string problem = {};  // why it could not be stored; "" if it was stored or need not be
  std::string key = {};      // DistinctFinding::key

  // True if a person has marked the finding, with a reason: then it does not make the command fail.
  bool is_suppressed() const { return id != 0 && is_waived(ledger.standing); }
};

// The keys of the suppressed findings.
inline std::set<std::string> suppressed(std::span<const KnownFinding> known) {
  std::set<std::string> out;
  for (const auto& finding : known)
    if (finding.is_suppressed()) out.insert(finding.key);
  return out;
}

}  // namespace redzone::guard
