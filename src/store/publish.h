// Copies of a store for readers on other machines: each copy is a separate file, which is never
// opened for writing.
#pragma once

#include <filesystem>
#include <functional>

#include "store/store.h"

namespace redzone::store {

// Makes `file` a copy of all of `store`, through SQLite's backup. Either the copy is on the disk
// when this returns, or `file` is unchanged. The folder may be shared: readers see the old copy or
// the new one. `file` must have one owner, and no process may write to it through SQLite.
// `still_owner` is called after the copy is made and directly before it replaces `file`: if it
// returns false, `file` is left unchanged, which is not an error.
Result<void> publish(
    Store& store, const std::filesystem::path& file,
    const std::function<bool()>& still_owner = [] { return true; });

}  // namespace redzone::store
