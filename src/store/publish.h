// Copies of a store for readers on other machines: each is a file of its own, which is never opened
// for writing.
#pragma once

#include <filesystem>
#include <functional>

#include "store/store.h"

namespace redzone::store {

// Makes `file` a copy of all of `store`, through SQLite's backup: in one step and on the disk when
// this returns, or `file` stays as it was. The folder may be shared: readers see the old copy or
// the new one. `file` must have one owner, and no process may write to it through SQLite.
// `still_owner` is asked when the copy is made, directly before it takes its place: if not, `file`
// stays as it was, which is no error.
Result<void> publish(
    Store& store, const std::filesystem::path& file,
    const std::function<bool()>& still_owner = [] { return true; });

}  // namespace redzone::store
