// A fleet's jobs as Slurm gets them. Nothing here schedules: an array of shards, a hub, and a last
// job for the report are submitted, and Slurm starts them, again after a lost node.
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

// What a site writes once, in fleet.toml: how its cluster is to be asked for nodes.
struct SiteModel {
  std::string name;
  std::vector<std::string> options;  // of sbatch, for jobs on this model of GPU
};

struct Site {
  std::filesystem::path script;           // the batch script of every job
  std::vector<std::string> sbatch;        // options for every job
  std::vector<std::string> shards;        // and for those that need a GPU
  std::vector<std::string> hub;           // and for those that need none
  std::vector<std::string> report = {};   // and for the last job, besides those for the hub
  std::vector<std::string> examine = {};  // for examinations, besides those for shards
  std::vector<SiteModel> models = {};     // empty: the jobs are on whatever Slurm gives them
  bool shards_reduce = true;              // see Fleet
  double snapshot_seconds = 120;
  double lease_seconds = 600;
  double answer_seconds = 30;
};

// The site's file, or without one ("") the defaults with the script that ships with the program.
Result<Site> read_site(const std::filesystem::path& file);
// job.sbatch and an example of fleet.toml, beside the program's libraries.
std::filesystem::path shipped_folder();

// The models of a fleet of so many shards: the site's, which divide the shards among them. A usage
// error if there are more of them than shards.
Result<std::vector<Model>> models_of(const Site& site, int shards);

// Words that start the batch script's job: sbatch and its arguments.
struct Command {
  std::vector<std::string> options, script;

  // `after`: job numbers that it waits for, however they end.
  std::vector<std::string> words(const std::vector<std::string>& after = {}) const;
};
struct Commands {
  std::vector<Command> shards, examinations;  // by model; the latter follow all of the former
  Command hub, report;                        // the report follows them all
};
Commands commands_of(const Fleet& fleet, const Layout& layout, const Site& site,
                     const std::string& redzone);

using RunProgram = std::function<Result<Output>(const std::vector<std::string>&)>;

// Submits all of them, or nothing: if one is refused, those before it are cancelled. Errors have
// Slurm's words. No Slurm is a harness error.
Result<Jobs> submit(const Commands& commands, const RunProgram& run);
// Cancels all of them, for a fleet that could not be begun.
void cancel_all(const Jobs& jobs, const RunProgram& run);
// Has the shards publish and end, and cancels those that wait. Returns to how many jobs that was
// said; none: all have ended, or Slurm does not know them any more.
Result<int> cancel(const Jobs& jobs, const RunProgram& run);
// Lines of squeue about the jobs; "" where it says nothing of them.
std::string queue_of(const Jobs& jobs, const RunProgram& run);

}  // namespace redzone::fleet
