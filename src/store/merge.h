// Merges stores: campaigns by uid, findings by signature, ledgers by entry, nights.
//
// Of two repros of a signature the better one stays: by state, then minimal, smaller, more
// reliable. Ties are broken by content, so that the order in which stores are merged does not
// matter. The evidence of both stays: each trial has its plan, and the kind of an artifact of the
// other repro names its plan ("log of plan 0123456789ab"). More than Store::kTrialsPerFinding
// trials may remain until the next one is added. Merging a store again changes nothing.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace redzone::store {

struct Merged {
  std::int64_t campaigns = 0;  // new ones
  std::int64_t findings = 0;   // new ones
  std::int64_t improved = 0;   // findings that got a better repro
  std::int64_t entries = 0;    // new ones, in ledgers

  bool operator==(const Merged&) const = default;
};

// Merges all of `from` in one transaction: on an error `into` is unchanged.
Result<Merged> merge(Store& from, Store& into);

}  // namespace redzone::store
