// Reads a night from the store, for the reports.
#pragma once

#include <string_view>

#include "report/night.h"
#include "store/night.h"
#include "target/registry.h"

namespace redzone::nightly {

struct NightView {
  std::string_view db = {};  // the store's file if replay lines have to name it
  // Gives the flags that load the target of a plan file without findings. Null: only flags known
  // from findings. Borrowed.
  const Registry* registry = nullptr;
  // The night is running in this process: everything in the store belongs to its time. It is
  // described without the other shards, of which the store may hold parts.
  bool running = false;
};

// What the night saw does not change with later runs on the store: later findings are not in it,
// but those of programs are in the latest night, which does not run them.
// Ledgers are as of the night's end; for the latest night as of now, since its page is remade after
// people have marked what they read there. Shards of one night whose stores were merged are one
// night (see parts.h), found by the number of any of them.
//
// The exit code of a night that is not closed, for example one that was cut off, is kInterrupted.
// An unknown night is a usage error.
Result<report::Night> describe_night(store::Store& store, std::int64_t campaign,
                                     const NightView& view);
// The night that ended last; a usage error if there is none.
Result<std::int64_t> latest_night(store::Store& store);

}  // namespace redzone::nightly
