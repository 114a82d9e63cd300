// Looking after a store that lives for months: what is in it, is it sound, what can go.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace redzone::store {

struct Pruned {
  std::int64_t findings = 0;   // that never recurred and nobody marked
  std::int64_t campaigns = 0;  // with their nights
  std::int64_t entries = 0;    // of ledgers, which said what those beside them say
  std::int64_t bytes_before = 0, bytes_after = 0;  // of the file
};

// Removes what is older than so many days: campaigns and nights of which nothing is known but their
// figures, findings that did not recur in fresh workers and have no entry in the ledger, and
// repetitions in ledgers. Whatever was confirmed, or marked, stays with its plans and evidence.
// Gives the space back to the file system, which needs as much again while it runs.
Result<Pruned> prune(Store& store, std::int64_t keep_days);

// Everything that is wrong, one line each; empty: sound. Reads every plan.
Result<std::vector<std::string>> check(Store& store);

struct Contents {
  std::int64_t schema_version = 0;
  std::int64_t bytes = 0;                                  // in pages that are used
  std::int64_t free_bytes = 0;                             // that a prune would give back at least
  std::vector<std::pair<std::string, std::int64_t>> rows;  // by table
  std::vector<std::pair<std::string, std::int64_t>> findings_by_state;
  std::vector<std::pair<std::string, std::int64_t>> findings_by_standing;
  std::vector<std::pair<std::string, std::int64_t>> findings_by_target;  // most first
  std::string first_seen, last_seen;                                     // of all findings
};

Result<Contents> contents(Store& store);

}  // namespace redzone::store
