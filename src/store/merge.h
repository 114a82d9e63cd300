// Merges stores: campaigns by uid, findings by signature, ledgers by entry, nights.
//
// Of two repros of a signature the better one is kept: by worth_of() (core/repro_worth.h), then by
// the failure rate and the number of runs. Ties are broken by content, so that the order in which
// stores are merged does not matter. The evidence of both is kept: each trial has its plan, and the
// kind of an artifact of the other repro names its plan ("log of plan 0123456789ab"). More than
// Store::kTrialsPerFinding trials may remain until the next one is added. Merging a store again
// changes nothing.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace redzone::store {

struct Merged {
  std::int64_t campaigns = 0;  // new campaigns
  std::int64_t findings = 0;   // new findings
  std::int64_t improved = 0;   // findings that got a better repro
  std::int64_t entries = 0;    // new ledger entries

  bool operator==(const Merged&) const = default;
};

// Merges all of `from` in one transaction: on an error `into` is unchanged.
Result<Merged> merge(Store& from, Store& into);

}  // namespace redzone::store
