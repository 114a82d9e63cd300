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
struct Site {
  std::filesystem::path script;     // the batch script of every job
  std::vector<std::string> sbatch;  // options for every job
  std::vector<std::string> shards;  // and for those that need a GPU
  std::vector<std::string> hub;     // and for those that need none
  double snapshot_seconds = 120;
  double lease_seconds = 600;
};

// The site's file, or without one ("") the defaults with the script that ships with the program.
Result<Site> read_site(const std::filesystem::path& file);
// job.sbatch and an example of fleet.toml, beside the program's libraries.
std::filesystem::path shipped_folder();

// Words that start the batch script's job: sbatch and its arguments.
struct Commands {
  std::vector<std::string> shards, hub;
  // `after`: the job number of the array.
  std::vector<std::string> report(const std::string& after) const;

  std::vector<std::string> report_options, report_script;
};
Commands commands_of(const Fleet& fleet, const Layout& layout, const Site& site,
                     const std::string& redzone);

using RunProgram = std::function<Result<Output>(const std::vector<std::string>&)>;

// Submits all of them, or nothing: if one is refused, those before it are cancelled. Errors have
// Slurm's words. No Slurm is a harness error.
Result<Jobs> submit(const Commands& commands, const RunProgram& run);
// Cancels all of them, for a fleet that could not be begun.
void cancel_all(const Jobs& jobs, const RunProgram& run);
// Has the shards publish and end, and cancels those that wait.
Result<void> cancel(const Jobs& jobs, const RunProgram& run);
// Lines of squeue about the jobs; "" where it says nothing of them.
std::string queue_of(const Jobs& jobs, const RunProgram& run);

}  // namespace redzone::fleet
