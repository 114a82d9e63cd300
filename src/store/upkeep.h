// Looking after a store that lives for months: what is in it, is it sound, what can go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"
#include "store/upkeep_facts.h"

namespace redzone::store {

// Removes what is older than so many days: campaigns and nights of which nothing is known but their
// figures, findings that did not recur in fresh workers and have no entry in the ledger, and
// repetitions in ledgers. A campaign that has not ended stays for a day: it may run, or be gone on
// with. Whatever was confirmed, or marked, stays with its plans and evidence.
// Gives the space back to the file system, which needs as much again while it runs.
Result<Pruned> prune(Store& store, std::int64_t keep_days);

// Everything that is wrong, one line each; empty: sound. Reads every plan.
Result<std::vector<std::string>> check(Store& store);

Result<Contents> contents(Store& store);

}  // namespace redzone::store
