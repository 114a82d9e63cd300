// The job of one shard: a night on the local disk, of which snapshots are published. A job that
// Slurm starts again goes on with the snapshot of the attempt before.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "fleet/clock.h"
#include "fleet/layout.h"

namespace redzone::fleet {

struct ShardJob {
  Layout layout;
  std::string uid = {};  // of its fleet; "": whichever is there
  int shard = 1;
  std::filesystem::path local;             // a folder on the local disk
  std::string redzone;                     // the program that runs the night
  std::string host, job;                   // for its status
  std::function<bool()> interrupted = {};  // true: publish and end
  std::function<double()> now = monotonic_seconds;
};

// Another node may run the shard: its attempt failed, and so have fewer than kMostFailures.
inline constexpr int kTryElsewhere = 75;  // as EX_TEMPFAIL of <sysexits.h>

// Returns the exit code of the night, or kTryElsewhere. A shard whose night has ended before, or
// failed often enough, does nothing and returns its code again; one of a fleet that was stopped
// begins nothing. What was found since the latest snapshot is lost only with the machine: one is
// published when a finding is new or was reduced, at least every Fleet::snapshot_seconds, and at
// the end, however long the shared folder is away then (Publisher::conclude()).
Result<int> run_shard(const ShardJob& job);

}  // namespace redzone::fleet
