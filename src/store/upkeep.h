// Maintenance of a long-lived store: its contents, its soundness, removal of old rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store_facts.h"
#include "store/store.h"

namespace redzone::store {

// Removes data older than `keep_days` days: campaigns and nights that no finding references,
// findings that did not recur in fresh workers and have no ledger entry, and redundant ledger
// entries. A campaign that has not ended is kept for at least a day, because it may still run or be
// resumed. Findings that were confirmed or marked are kept, with their plans and evidence. Returns
// the space to the file system; needs as much free space while it runs.
Result<PruneResult> prune(Store& store, std::int64_t keep_days);

// Returns all problems, one line each; empty if the store is sound. Rows that a command may refuse
// are read with the reader of that command, so that no command fails on a sound store.
Result<std::vector<std::string>> check(Store& store);
// Checks a file. A damaged file, or one that is not a store, is unsound; an error means that the
// contents are unknown (no such file, no permission, locked, out of memory, a newer schema).
Result<std::vector<std::string>> check(const std::filesystem::path& file);

// Replaces `to` by the contents of the sound store `from`, including the log of a writer that is
// running or was killed. `to` is replaced in one step, or stays unchanged. Returns the reasons for
// a refusal: problems of `from`, one line each; or, in one line, what `from` lacks of the store in
// `to`. Rows of an older copy of `from` that a prune, a merge or triage removed are not considered
// lacking. An error if `to` is not a store. Links are followed.
Result<std::vector<std::string>> copy_store(const std::filesystem::path& from,
                                            const std::filesystem::path& to);

Result<StoreContents> contents(Store& store);

}  // namespace redzone::store
