// The job of one shard: a night on the local disk whose snapshots are published. A job that Slurm
// restarts continues from the snapshot of the previous attempt.
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
  std::string uid = {};  // uid of its fleet; "": any fleet in the folder
  int shard = 1;
  std::filesystem::path local;             // a folder on the local disk
  std::string redzone;                     // the program that runs the night
  std::string host, job;                   // for its status
  std::function<bool()> interrupted = {};  // returns true: publish and end
  std::function<double()> now = monotonic_seconds;
};

// Exit code if another node may run the shard: its attempt failed, but fewer than kMostFailures
// have.
inline constexpr int kTryElsewhere = 75;  // as EX_TEMPFAIL of <sysexits.h>

// Returns the exit code of the night, or kTryElsewhere. A shard whose night has already ended, or
// has failed often enough, does nothing and returns its code again; a shard of a fleet that was
// stopped starts nothing. Findings since the latest snapshot are lost only with the machine: a
// snapshot is published when a finding is new or was reduced, at least every
// Fleet::snapshot_seconds, and at the end, even if the shared folder is unavailable for some time
// (Publisher::conclude()).
Result<int> run_shard(const ShardJob& job);

}  // namespace redzone::fleet
