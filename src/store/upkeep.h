// Looking after a store that lives for months: what is in it, is it sound, what can go.
#pragma once

#include <cstdint>
#include <filesystem>
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

// Everything that is wrong, one line each; empty: sound. What a row may hold that a command refuses
// is read through the command's own reader, so that none fails on what is sound.
Result<std::vector<std::string>> check(Store& store);
// The same of a file. One that is damaged or holds no store is unsound, too; an error says nothing
// of it (no such file, no permission, locked, out of memory, a newer schema).
Result<std::vector<std::string>> check(const std::filesystem::path& file);

// Makes the sound store in `from` the contents of `to`, with what is only in the log of a writer
// that runs or was killed. `to` is replaced in one step, or stays as it is.
// Gives why not: what is unsound of `from`, one line each; or, in one line, what it lacks of the
// store in `to`. What a prune, a merge or triage removed of an older copy of `from` is not lacking.
// A `to` that is no store is an error. Links are followed.
Result<std::vector<std::string>> copy_store(const std::filesystem::path& from,
                                            const std::filesystem::path& to);

Result<Contents> contents(Store& store);

}  // namespace redzone::store
