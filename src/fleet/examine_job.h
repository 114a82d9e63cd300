// The job that examines the findings of a fleet on a GPU of one model, after all shards have ended.
// It may run on nodes that are not preempted. Findings are tied to a model: findings of shards on
// this model are bisected here, after a reduction if one is still missing; the plans of other
// findings are run here, which shows how the models differ (compare.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "fleet/clock.h"
#include "fleet/layout.h"

namespace redzone::fleet {

struct ExamineJob {
  Layout layout;
  std::string uid = {};                    // uid of its fleet; "": any fleet in the folder
  int model = 1;                           // number of the model among the fleet's models
  std::filesystem::path local;             // a folder on the local disk
  std::string redzone;                     // the program that examines one finding
  std::string host, job;                   // for its status
  std::function<bool()> interrupted = {};  // returns true: publish and end
  std::function<double()> now = monotonic_seconds;
};

// Starts no further finding once it has run as long as a shard's night. Returns an exit code: kOk,
// or kInterrupted for a job that is to be continued. A continued job starts with the runs of the
// previous attempt. A fleet that was stopped is not examined.
Result<int> run_examination(const ExamineJob& job);

}  // namespace redzone::fleet
