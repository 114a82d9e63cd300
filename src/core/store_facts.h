// What a store contains, and what was removed from one. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redzone {

struct PruneResult {
  std::int64_t findings = 0;                       // never recurred and have no mark
  std::int64_t campaigns = 0;                      // including their nights
  std::int64_t entries = 0;                        // redundant ledger entries
  std::int64_t bytes_before = 0, bytes_after = 0;  // size of the file
};

struct StoreContents {
  std::int64_t schema_version = 0;
  std::int64_t bytes = 0;                                  // in used pages
  std::int64_t free_bytes = 0;                             // a prune returns at least this many
  std::vector<std::pair<std::string, std::int64_t>> rows;  // number of rows of each table
  std::vector<std::pair<std::string, std::int64_t>> findings_by_state;
  std::vector<std::pair<std::string, std::int64_t>> findings_by_standing;
  std::vector<std::pair<std::string, std::int64_t>> findings_by_target;  // largest number first
  std::string first_seen, last_seen;                                     // over all findings
};

}  // namespace redzone
