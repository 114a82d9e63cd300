// The job of the hub, which needs no GPU.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "fleet/layout.h"

namespace redzone::fleet {

struct HubJob {
  Layout layout;
  std::string uid = {};         // of its fleet; "": whichever is there
  std::filesystem::path local;  // a folder on the local disk, for the hub's own store
  std::string host;
  std::function<bool()> interrupted = {};  // true: end; another attempt goes on
  bool finish = false;                     // merge what there is, and end
  // With `finish`: how long it waits for the end of the attempt before, which may have been killed.
  std::chrono::milliseconds earlier_end_within = std::chrono::minutes{1};
};

// Answers and merges until the nights of all shards have ended, or the fleet is stopped and its
// shards have, or `finish` was done before; an attempt that begins takes the place of an earlier
// one, which then ends. An error of a snapshot is told in the hub's status, and ends nothing; nor
// does one of the shared folder, except with `finish`, whose caller goes on with what was
// published.
Result<void> run_hub(const HubJob& job);

}  // namespace redzone::fleet
