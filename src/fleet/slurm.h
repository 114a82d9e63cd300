// A fleet's jobs as submitted to Slurm. Nothing here schedules: an array of shards, a hub, and a
// last job for the report are submitted, and Slurm starts them, also again after a lost node.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "fleet/fleet.h"
#include "fleet/layout.h"
#include "fleet/process.h"

namespace redzone::fleet {

// The settings in a site's fleet.toml: how to request nodes of its cluster.
struct SiteModel {
  std::string name;
  std::vector<std::string> options;  // options of sbatch, for jobs on this model of GPU
};

struct Site {
  std::filesystem::path script;           // the batch script of every job
  std::vector<std::string> sbatch;        // options for every job
  std::vector<std::string> shards;        // additional options for jobs that need a GPU
  std::vector<std::string> hub;           // additional options for jobs that need no GPU
  std::vector<std::string> report = {};   // additional options for the last job, besides `hub`
  std::vector<std::string> examine = {};  // additional options for examinations, besides `shards`
  std::vector<SiteModel> models = {};     // empty: the jobs run on whatever GPU Slurm assigns
  bool shards_reduce = true;              // see Fleet
  double snapshot_seconds = 120;
  double lease_seconds = 600;
  double answer_seconds = 30;
};

// Reads the site's file; without a file (""), returns the defaults with the script that ships with
// the program.
Result<Site> read_site(const std::filesystem::path& file);
// The folder of job.sbatch and an example of fleet.toml, beside the program's libraries.
std::filesystem::path shipped_folder();

// The models of a fleet with this number of shards: the site's models, which divide the shards
// among them. Returns a usage error if there are more models than shards.
Result<std::vector<Model>> models_of(const Site& site, int shards);

// The command that submits a batch script: sbatch options, and the script with its arguments.
struct Command {
  std::vector<std::string> options, script;

  // `after`: job numbers that the job waits for, however they end.
  std::vector<std::string> words(const std::vector<std::string>& after = {}) const;
};
struct Commands {
  std::vector<Command> shards, examinations;  // by model; examinations run after all shards
  Command hub, report;                        // the report runs after all shards and examinations
};
Commands commands_of(const Fleet& fleet, const Layout& layout, const Site& site,
                     const std::string& redzone);

using RunProgram = std::function<Result<Output>(const std::vector<std::string>&)>;

// Submits all of them or none: if one is refused, those already submitted are cancelled. Errors
// contain Slurm's message. Missing Slurm commands are a harness error.
Result<Jobs> submit(const Commands& commands, const RunProgram& run);
// Cancels all jobs, for a fleet that could not be started.
void cancel_all(const Jobs& jobs, const RunProgram& run);
// Signals running shards and examinations to publish and end, and cancels pending ones. Returns the
// number of successful scancel calls, which may be two for an array; 0 if all jobs have ended or
// Slurm no longer knows them.
Result<int> cancel(const Jobs& jobs, const RunProgram& run);
// Lines of squeue about the jobs; "" if squeue reports none or fails.
std::string queue_of(const Jobs& jobs, const RunProgram& run);

}  // namespace redzone::fleet
