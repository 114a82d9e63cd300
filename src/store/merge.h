// Several stores into one: campaigns by uid, findings by signature, ledgers by entry, nights.
//
// Of two repros of a signature the better one stays: the state that says more, then minimal,
// smaller, more reliable; what is equal in all of that is ordered by its content, so that the order
// in which stores are merged does not matter. The evidence of both stays: each trial has its plan,
// and the artifacts of the other repro say in their kind ("log of plan 0123456789ab") which it was.
// More than Store::kTrialsPerFinding trials stay until the next one is added. Merging a store again
// changes nothing.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace redzone::store {

struct Merged {
  std::int64_t campaigns = 0;  // that were not there
  std::int64_t findings = 0;   // that were not there
  std::int64_t improved = 0;   // findings that got a better repro
  std::int64_t entries = 0;    // of ledgers, that were not there

  bool operator==(const Merged&) const = default;
};

// Takes all of `from`, in one transaction: on an error `into` is as it was.
Result<Merged> merge(Store& from, Store& into);

}  // namespace redzone::store
