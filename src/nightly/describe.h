// A night as the store has it, for the reports.
#pragma once

#include <string_view>

#include "report/night.h"
#include "store/night.h"
#include "target/registry.h"

namespace redzone::nightly {

struct NightView {
  std::string_view db = {};  // the store's file where replay lines have to name it
  // Tells what brings along the target of a plan file that has shown nothing. Null: only what is
  // known from findings is told. Borrowed.
  const Registry* registry = nullptr;
  // The night goes on in this process: all that the store holds is of its time, and it is told
  // without the other shards, of which it may hold parts.
  bool running = false;
};

// What the night saw stays what it saw, whatever was run on the store since: a finding of a later
// time is not in it. How findings stand is told as of the night's end; of the latest night as of
// now, since its page is made again after people have marked what they read there. Shards of one
// night whose stores were merged are one night (see parts.h), by the number of any of them.
//
// The exit code of a night that is not closed, as one that was cut off, is kInterrupted. An unknown
// night is a usage error.
Result<report::Night> describe_night(store::Store& store, std::int64_t campaign,
                                     const NightView& view);
// The one that ended last; a usage error where there is none.
Result<std::int64_t> latest_night(store::Store& store);

}  // namespace redzone::nightly
