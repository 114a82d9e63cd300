// The job that examines the findings of a fleet on a GPU of one model, after all shards have ended.
// It may run on nodes that are not preempted. Findings are tied to a model: those of shards on this
// one are reduced, if that is still to be done, and bisected here; the plans of the others are run
// here, which shows what differs between the models (compare.h).
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
  std::string uid = {};                    // of its fleet; "": whichever is there
  int model = 1;                           // its number among the fleet's
  std::filesystem::path local;             // a folder on the local disk
  std::string redzone;                     // the program that examines one finding
  std::string host, job;                   // for its status
  std::function<bool()> interrupted = {};  // true: publish and end
  std::function<double()> now = monotonic_seconds;
};

// Takes as long as a shard's night at most. Returns an exit code: kOk, or kInterrupted for a job
// that is to go on. One that goes on has the runs of the attempt before. A fleet that was stopped
// is not examined.
Result<int> run_examination(const ExamineJob& job);

}  // namespace redzone::fleet
