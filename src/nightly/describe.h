// Reads a night from the store for the reports.
#pragma once

#include <string_view>

#include "report/night.h"
#include "store/night.h"
#include "target/registry.h"

namespace redzone::nightly {

struct NightView {
  std::string_view db = {};  // path of the store, if replay lines must name it
  // Provides the flags that load the target of a plan file without findings. Null: only flags known
  // from findings are used. Borrowed.
  const Registry* registry = nullptr;
  // True if the night is running in this process: everything in the store belongs to its time. It
  // is described without the other shards, of which the store may contain parts.
  bool running = false;
};

// Describes a night. The results of a night do not change with later runs on the store: later
// findings are excluded, except findings of programs, which are included in the latest night
// although nights do not run programs. Ledgers have their state at the night's end, but for the
// latest night their current state, since its page is written again after people have marked its
// findings. Shards of one night whose stores were merged are one night (see parts.h); the number of
// any of them finds it.
//
// The exit code of a night that is not closed, for example because it was cut off, is kInterrupted.
// An unknown night is a usage error.
Result<report::Night> describe_night(store::Store& store, std::int64_t campaign,
                                     const NightView& view);
// Returns the night that ended last; a usage error if there is none.
Result<std::int64_t> latest_night(store::Store& store);

}  // namespace redzone::nightly
