// The job of the hub; it needs no GPU.
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
  std::string uid = {};         // uid of its fleet; "": any fleet in the folder
  std::filesystem::path local;  // a folder on the local disk, for the hub's own store
  std::string host;
  std::function<bool()> interrupted = {};  // returns true: end; another attempt continues
  bool finish = false;                     // merge the existing snapshots, and end
  // With `finish`: how long the job waits for the end of the previous attempt, which may have been
  // killed.
  std::chrono::milliseconds earlier_end_within = std::chrono::minutes{1};
};

// Answers requests and merges snapshots until the nights of all shards have ended, or the fleet was
// stopped and its shards have ended, or `finish` was done before. An attempt that begins replaces
// an earlier one, which then ends. An error of a snapshot is reported in the hub's status and does
// not end the job; nor does an error of the shared folder, except with `finish`, whose caller
// continues with the published store.
Result<void> run_hub(const HubJob& job);

}  // namespace redzone::fleet
